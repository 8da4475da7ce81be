#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

/// Rules on vCPUs that could have run and did not. Each node's waiting is said once: as throttled, as that of one
/// node, or as that of all.
namespace cozy {

namespace {

/// The nodes of one cgroup, which can be one: its throttling is of all of them together.
struct CgroupNodes {
  std::vector<const NodeBudget*> nodes;
  const NodeCgroup* cgroup = nullptr;

  /// Over the vCPUs of its nodes; over the processes where a node has no vCPU's name.
  [[nodiscard]] double window_seconds() const {
    double seconds = 0;
    for (const NodeBudget* node : nodes) {
      seconds += has_judged_vcpus(*node) ? node->sum.base_seconds : node->process.window.value_or(Interval{}).seconds();
    }
    return seconds;
  }

  /// How much of the waiting of its threads is throttling, 0 to 1: run-queue delay contains it.
  [[nodiscard]] double explained_share() const {
    double waited = 0;
    for (const NodeBudget* node : nodes) {
      waited += node->process.waited_seconds ? *node->process.waited_seconds : node->sum.waited_seconds.value_or(0);
    }
    if (!cgroup->throttled_seconds || waited <= 0) return 0;
    return std::clamp(*cgroup->throttled_seconds / waited, 0.0, 1.0);
  }
};

std::vector<CgroupNodes> cgroups_of(const Analysis& analysis) {
  std::map<std::pair<int, std::string>, CgroupNodes> groups;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::present || !node.cgroup || !can_be_judged(window_of(node))) continue;
    CgroupNodes& group = groups[{node.cgroup->version, node.cgroup->path}];
    group.nodes.push_back(&node);
    group.cgroup = &*node.cgroup;
  }
  std::vector<CgroupNodes> list;
  for (auto& [path, group] : groups) list.push_back(std::move(group));
  return list;
}

/// A node whose waiting has another cause than a quota.
struct NodeWait {
  const NodeBudget* node = nullptr;
  double seconds = 0;  ///< without what throttling explains
  double share = 0;    ///< of its vCPUs' window
};

std::vector<NodeWait> waits_of(const Analysis& analysis) {
  std::map<const NodeBudget*, double> explained;
  for (const CgroupNodes& group : cgroups_of(analysis)) {
    for (const NodeBudget* node : group.nodes) explained[node] = group.explained_share();
  }
  std::vector<NodeWait> waits;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    if (!node->sum.waited_seconds) continue;
    const auto found = explained.find(node);
    const double throttled = found == explained.end() ? 0 : found->second;
    if (share_reaches(throttled, Threshold::throttled_explains)) continue;
    NodeWait wait{node, *node->sum.waited_seconds * (1 - throttled), 0};
    wait.share = node->sum.share(wait.seconds).value_or(0);
    waits.push_back(wait);
  }
  return waits;
}

MedianOfOthers medians_of(const std::vector<NodeWait>& waits) {
  std::vector<double> shares;
  for (const NodeWait& wait : waits) shares.push_back(wait.share);
  return MedianOfOthers(std::move(shares));
}

/// A node that waited for itself: much more than the others, or there is no other.
bool stands_out(const MedianOfOthers& medians, const NodeWait& one) {
  if (!share_reaches(one.share, Threshold::waited)) return false;
  const auto others = medians.without(one.share);
  return !others || one.share >= threshold(Threshold::waited_above_others).value * *others - 1e-9;
}

std::string spread_words(const std::vector<NodeWait>& waits) {
  const auto less = [](const NodeWait& a, const NodeWait& b) { return a.share < b.share; };
  const auto [least, most] = std::minmax_element(waits.begin(), waits.end(), less);
  const std::string from = percent_text(least->share);
  const std::string to = percent_text(most->share);
  return from == to ? "" : " (" + from + " to " + to + " each)";
}

std::string period_words(const NodeCgroup& cgroup) {
  std::string words;
  if (cgroup.throttled_periods && cgroup.periods) {
    words += " in " + std::to_string(*cgroup.throttled_periods) + " of " + std::to_string(*cgroup.periods) + " periods";
  }
  if (cgroup.quota_usec && cgroup.period_usec) {
    words +=
        " (quota " + std::to_string(*cgroup.quota_usec) + " us per " + std::to_string(*cgroup.period_usec) + " us)";
  }
  return words;
}

std::vector<Evidence> throttle_evidence(const Analysis& analysis, const CgroupNodes& group) {
  EvidenceList list(analysis, k_cgroup_capture);
  for (const NodeBudget* node : group.nodes) {
    for (const std::string& scope : {node->name, group.cgroup->path}) {
      for (const char* field : {"nr_periods", "nr_throttled", "throttled_usec", "throttled_time"})
        list.add(scope, field);
    }
  }
  return list.take();
}

Findings throttled(const Analysis& analysis, const CgroupNodes& group) {
  const NodeCgroup& cgroup = *group.cgroup;
  const double window = group.window_seconds();
  std::optional<double> of_window;
  if (cgroup.throttled_seconds && window > 0) of_window = std::clamp(*cgroup.throttled_seconds / window, 0.0, 1.0);
  std::optional<double> of_periods;
  if (cgroup.throttled_periods && cgroup.periods.value_or(0) > 0) {
    of_periods = static_cast<double>(*cgroup.throttled_periods) / static_cast<double>(*cgroup.periods);
  }
  const bool found = (of_window && share_reaches(*of_window, Threshold::throttled_window)) ||
                     (of_periods && share_reaches(std::min(*of_periods, 1.0), Threshold::throttled_periods));
  if (!found) return {};
  std::vector<std::string> names;
  for (const NodeBudget* node : group.nodes) names.push_back(node->name);
  Finding finding;
  finding.level = Level::warning;
  finding.subject = names_text(names);
  finding.says = finding.subject + (names.size() > 1 ? " share a cgroup that its CPU quota throttled"
                                                     : " was throttled by its CPU quota");
  finding.says += period_words(cgroup);
  if (of_window) {
    finding.says += ", " + seconds_text(*cgroup.throttled_seconds) + " summed over CPUs, which is " +
                    percent_text(*of_window) + " of the vCPUs' window";
  }
  finding.evidence = throttle_evidence(analysis, group);
  finding.weight = of_window ? *of_window : std::min(of_periods.value_or(0), 1.0);
  return {finding};
}

}  // namespace

Findings find_nodes_waited(const Analysis& analysis) {
  const std::vector<NodeWait> all = waits_of(analysis);
  const MedianOfOthers medians = medians_of(all);
  std::vector<NodeWait> waits;
  std::vector<std::string> names;
  double waited = 0;
  double base = 0;
  for (const NodeWait& wait : all) {
    if (stands_out(medians, wait)) continue;  // said by node-waited
    waits.push_back(wait);
    names.push_back(wait.node->name);
    waited += wait.seconds;
    base += wait.node->sum.base_seconds;
  }
  const double share = base > 0 ? std::min(waited / base, 1.0) : 0;
  if (waits.size() < 2 || !share_reaches(share, Threshold::waited)) return {};
  Finding finding;
  finding.level = Level::warning;
  finding.subject = names_text(names);
  finding.says = finding.subject + " were runnable and not running for " + percent_text(share) + " of " +
                 seconds_text(vcpu_window_seconds(*waits.front().node)) + spread_words(waits) +
                 caveat_of(analysis, *waits.front().node);
  EvidenceList list(analysis, k_threads_capture);
  for (const NodeWait& wait : waits) add_vcpu_evidence(*wait.node, "run_delay_ns", list);
  finding.evidence = list.take();
  finding.weight = share;
  return {finding};
}

Findings find_node_waited(const Analysis& analysis) {
  Findings findings;
  const std::vector<NodeWait> waits = waits_of(analysis);
  const MedianOfOthers medians = medians_of(waits);
  for (const NodeWait& wait : waits) {
    if (!stands_out(medians, wait)) continue;
    Finding finding;
    finding.level = Level::warning;
    finding.subject = names_text({wait.node->name});
    finding.says = finding.subject + " was runnable and not running for " + percent_text(wait.share) + " of " +
                   seconds_text(vcpu_window_seconds(*wait.node)) + caveat_of(analysis, *wait.node);
    const auto others = medians.without(wait.share);
    finding.says += others ? ", the other nodes for " + percent_text(*others) + " in the median"
                           : ", with no other node to compare it with";
    EvidenceList list(analysis, k_threads_capture);
    add_vcpu_evidence(*wait.node, "run_delay_ns", list);
    finding.evidence = list.take();
    finding.weight = wait.share;
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_throttled(const Analysis& analysis) {
  Findings findings;
  for (const CgroupNodes& group : cgroups_of(analysis)) {
    for (Finding& finding : throttled(analysis, group)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cozy
