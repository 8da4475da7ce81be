#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/analysis.hpp"
#include "collector/analyse/rules.hpp"
#include "collector/analyse/verdict.hpp"

/// Analyses with just the facts that a rule looks at.
namespace cozy::hand_made {

inline Interval window(double seconds = 100, double error_seconds = 0.001) {
  return {static_cast<std::int64_t>(seconds * 1e9), static_cast<std::int64_t>(error_seconds * 1e9), false};
}

/// Shares of the window of each vCPU, 0 to 1.
struct Shares {
  double ran = 0;
  std::optional<double> waited = 0;
  std::optional<double> halted = std::nullopt;
  std::optional<double> guest = std::nullopt;
};

inline VcpuTime vcpu(std::uint64_t index, const Shares& shares, const Interval& of = window()) {
  const auto seconds = [&](const std::optional<double>& share) {
    return share ? std::optional(*share * of.seconds()) : std::nullopt;
  };
  VcpuTime vcpu;
  vcpu.index = index;
  vcpu.tid = 900 + index;
  vcpu.window = of;
  vcpu.parts.window_seconds = of.seconds();
  vcpu.parts.ran_seconds = seconds(shares.ran);
  vcpu.parts.waited_seconds = seconds(shares.waited);
  vcpu.parts.halted_seconds = seconds(shares.halted);
  vcpu.parts.guest_seconds = seconds(shares.guest);
  fit_to_window(vcpu.parts, 0.2);
  if (shares.halted) vcpu.halt_in_progress = false;
  return vcpu;
}

/// Makes the sum anew, after the vCPUs were changed.
inline void sum_up(NodeBudget& node) {
  std::vector<TimeParts> parts;
  for (const VcpuTime& one : node.vcpus) parts.push_back(one.parts);
  node.sum = sum_of(parts);
  node.process.window = node.vcpus.empty() ? window() : *node.vcpus.front().window;
}

/// A cgroup of one's own.
inline NodeCgroup cgroup_at(const std::string& path) {
  NodeCgroup cgroup;
  cgroup.path = path;
  return cgroup;
}

/// With a quota of 20 ms in 100 ms, throttled in 5 of 50 periods for so long.
inline NodeCgroup throttled_at(const std::string& path, double usage_seconds, double throttled_seconds) {
  NodeCgroup cgroup = cgroup_at(path);
  cgroup.usage_seconds = usage_seconds;
  cgroup.throttled_seconds = throttled_seconds;
  cgroup.throttled_periods = 5;
  cgroup.periods = 50;
  cgroup.quota_usec = 20000;
  cgroup.period_usec = 100000;
  return cgroup;
}

/// Two vCPUs that are alike.
inline NodeBudget node(const std::string& name, const Shares& shares, const Interval& of = window()) {
  NodeBudget node;
  node.name = name;
  node.state = NodeState::present;
  node.pid_before = node.pid_after = 899;
  node.process_state_before = node.process_state_after = "S";
  node.vcpus = {vcpu(0, shares, of), vcpu(1, shares, of)};
  sum_up(node);
  return node;
}

/// Ticks of two CPUs over 100 s; what is neither user nor steal is idle.
inline CpuTime runner(std::uint64_t user, std::uint64_t steal, StealVerdict verdict) {
  const auto column = [](std::uint64_t delta) {
    ColumnTime time;
    time.change = Change::rate;
    time.before = 1000;
    time.after = 1000 + delta;
    time.delta_ticks = delta;
    return time;
  };
  constexpr std::uint64_t k_total = 20'000;
  CpuTime time;
  CpuRow row;
  row.name = "cpu";
  row.columns[static_cast<std::size_t>(CpuColumn::user)] = column(user);
  row.columns[static_cast<std::size_t>(CpuColumn::idle)] = column(k_total - user - steal);
  row.columns[static_cast<std::size_t>(CpuColumn::steal)] = column(steal);
  row.total_ticks = k_total;
  time.aggregate = time.runner = row;
  for (const char* name : {"cpu0", "cpu1"}) time.cpus.emplace_back().name = name;
  time.steal = verdict;
  time.interval = window();
  time.available_ticks = k_total;
  return time;
}

/// The CPU time of a healthy runner, and nodes: everything that nothing-unusual needs.
inline Analysis analysis_of(std::vector<NodeBudget> nodes) {
  Analysis analysis;
  analysis.snapshot = "kubernetes";
  analysis.window = window();
  analysis.runner = runner(4000, 0, StealVerdict::none_seen);
  analysis.nodes = std::move(nodes);
  analysis.pairs = {{"runner-kernel-cpu-time", window()}, {"sandbox-qemu-thread-cpu", window()}};
  return analysis;
}

inline Analysis judged(Analysis analysis) {
  find_findings(analysis);
  analysis.verdict = verdict_of(analysis);
  return analysis;
}

inline std::set<std::string> ids(const Analysis& analysis) {
  std::set<std::string> found;
  for (const Finding& finding : analysis.findings) found.insert(finding.id);
  return found;
}

inline std::set<std::string> ids_of(Analysis analysis) { return ids(judged(std::move(analysis))); }

inline std::vector<Finding> all(const Analysis& analysis, const std::string& id) {
  std::vector<Finding> found;
  for (const Finding& finding : analysis.findings) {
    if (finding.id == id) found.push_back(finding);
  }
  return found;
}

/// The words and subjects of the findings of an id, to be searched.
inline std::string said(const Analysis& analysis, const std::string& id) {
  std::string text;
  for (const Finding& finding : all(analysis, id)) text += finding.subject + " | " + finding.says + "\n";
  return text;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace cozy::hand_made
