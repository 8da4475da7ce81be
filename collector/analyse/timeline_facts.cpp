#include "collector/analyse/timeline_facts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "collector/analyse/timeline_stalls.hpp"
#include "probes/clock.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_steal = 7;  // of the first line of /proc/stat

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / static_cast<double>(k_ns_per_second);
}

std::optional<double> steal_seconds(const Timeline& timeline, const TimelineTick& before, const TimelineTick& after) {
  if (timeline.ticks_per_second == 0 || before.cpu.size() <= k_steal || after.cpu.size() <= k_steal)
    return std::nullopt;
  const Count ticks = delta(before.cpu[k_steal], after.cpu[k_steal]);
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(timeline.ticks_per_second);
}

/// A row for each node, a column for each step.
using Rows = std::map<std::string, std::vector<std::optional<double>>>;

/// A report can hold as many names as ticks: what a table of both may hold.
bool has_room(const Timeline& timeline, std::size_t rows) {
  constexpr std::size_t k_most_cells = 2'000'000;
  return (rows + 1) * timeline.ticks.size() <= k_most_cells;
}

void raise(std::optional<double>& place, double value) { place = std::max(place.value_or(0), value); }

void take_throttled(const Timeline& timeline, std::size_t step, Rows& rows) {
  std::map<std::uint64_t, const CgroupTick*> before;
  for (const CgroupTick& cgroup : timeline.ticks[step].cgroups) before.emplace(cgroup.subject, &cgroup);
  for (const CgroupTick& cgroup : timeline.ticks[step + 1].cgroups) {
    const auto known = before.find(cgroup.subject);
    const auto subject = timeline.subjects.find(cgroup.subject);
    if (known == before.end() || subject == timeline.subjects.end()) continue;
    const Count throttled = delta(known->second->throttled_ns, cgroup.throttled_ns);
    if (!throttled || cgroup.periods.value_or(0) == 0) continue;
    if (!rows.contains(subject->second.node) && !has_room(timeline, rows.size())) continue;
    auto& row = rows[subject->second.node];
    row.resize(timeline.ticks.size() - 1);
    raise(row[step], static_cast<double>(*throttled) / 1e9);
  }
}

struct VcpuSums {
  double ran = 0;
  double waited = 0;
  std::size_t vcpus = 0;
  bool waits = true;  ///< what every one of them waited is known
};

void take_vcpus(const Timeline& timeline, std::size_t step, std::map<std::string, NodeSteps>& nodes) {
  std::map<std::uint64_t, const VcpuTick*> before;
  for (const VcpuTick& vcpu : timeline.ticks[step].vcpus) before.emplace(vcpu.subject, &vcpu);
  std::map<std::string, VcpuSums> sums;
  for (const VcpuTick& vcpu : timeline.ticks[step + 1].vcpus) {
    const auto known = before.find(vcpu.subject);
    const auto subject = timeline.subjects.find(vcpu.subject);
    if (known == before.end() || subject == timeline.subjects.end()) continue;
    const Count ran = delta(known->second->ran_ns, vcpu.ran_ns);
    if (!ran) continue;
    const Count waited = delta(known->second->waited_ns, vcpu.waited_ns);
    VcpuSums& sum = sums[subject->second.node];
    sum.ran += static_cast<double>(*ran) / 1e9;
    sum.waited += static_cast<double>(waited.value_or(0)) / 1e9;
    sum.waits = sum.waits && waited;
    ++sum.vcpus;
  }
  const double length = step_seconds(timeline.ticks[step], timeline.ticks[step + 1]);
  for (const auto& [name, sum] : sums) {
    if (!nodes.contains(name) && !has_room(timeline, 2 * nodes.size())) continue;
    NodeSteps& node = nodes[name];
    node.ran.resize(timeline.ticks.size() - 1);
    node.waited.resize(timeline.ticks.size() - 1);
    node.vcpus = std::max(node.vcpus, sum.vcpus);
    const double all = length * static_cast<double>(sum.vcpus);
    node.ran[step] = std::clamp(sum.ran / all, 0.0, 1.0);
    if (sum.waits) node.waited[step] = std::clamp(sum.waited / all, 0.0, 1.0);
  }
}

}  // namespace

double Stall::seconds() const { return seconds_between(from_ns, to_ns); }

double TimelineFacts::seconds() const { return seconds_between(begin_ns, end_ns); }

std::optional<TimelineFacts> timeline_facts(const Timeline& timeline, double shortest_stall_seconds) {
  if (timeline.ticks.size() < 2) return std::nullopt;
  TimelineFacts facts;
  const TimelineTick& first = timeline.ticks.front();
  const TimelineTick& last = timeline.ticks.back();
  facts.begin_ns = first.begin_ns;
  facts.epoch_begin_ns = first.epoch_ns;
  facts.end_ns = last.begin_ns;
  facts.interval_seconds = seconds_between(0, timeline.interval_ns);
  facts.slowed = timeline.slowed;
  facts.ticks = timeline.ticks.size();
  for (const TimelineTick& tick : timeline.ticks) {
    facts.missed += std::min<std::uint64_t>(tick.missed, 1'000'000);
    if (tick.missed > 0 || tick.begin_ns - tick.due_ns >= timeline.interval_ns / 2) ++facts.late;
  }
  facts.steal.subject = "runner";
  Rows throttled;
  std::map<std::string, NodeSteps> nodes;
  for (std::size_t step = 0; step + 1 < timeline.ticks.size(); ++step) {
    facts.steps.push_back(step_seconds(timeline.ticks[step], timeline.ticks[step + 1]));
    facts.steal.seconds.push_back(steal_seconds(timeline, timeline.ticks[step], timeline.ticks[step + 1]));
    take_throttled(timeline, step, throttled);
    take_vcpus(timeline, step, nodes);
  }
  for (auto& [node, seconds] : throttled) facts.throttled.push_back({node, std::move(seconds)});
  for (auto& [name, node] : nodes) {
    node.node = name;
    facts.nodes.push_back(std::move(node));
  }
  facts.stalls = find_stalls(timeline, shortest_stall_seconds);
  facts.end = timeline.end;
  if (last.self_ns) facts.recorder_seconds = static_cast<double>(*last.self_ns) / 1e9;
  return facts;
}

}  // namespace cozy
