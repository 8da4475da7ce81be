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

/// The nodes in or below one cgroup, which can be one: its throttling is of all of them together.
struct CgroupNodes {
  std::vector<const NodeBudget*> nodes;
  CgroupLevel level;
  bool above = false;   ///< it is above the own cgroup of one of them
  std::size_t all = 0;  ///< nodes in it, those that cannot be judged included

  /// Over the vCPUs of its nodes; over the processes where a node has no vCPU's name.
  [[nodiscard]] double window_seconds() const {
    double seconds = 0;
    for (const NodeBudget* node : nodes) {
      seconds += has_judged_vcpus(*node) ? node->sum.base_seconds : node->process.window.value_or(Interval{}).seconds();
    }
    return seconds;
  }

  /// How much of the waiting of its threads is throttling, 0 to 1: run-queue delay contains it. A run queue is
  /// throttled once for all threads that wait in it, so the times alone say too little where threads are many.
  [[nodiscard]] double explained_share() const {
    const auto used = level.used_of_quota();
    const auto periods = level.periods_share();
    const bool most = periods && share_reaches(*periods, Threshold::throttled_most);
    if (most && used && share_reaches(*used, Threshold::throttled_bound)) return 1;
    double waited = 0;
    for (const NodeBudget* node : nodes) {
      waited += node->process.waited_seconds ? *node->process.waited_seconds : node->sum.waited_seconds.value_or(0);
    }
    if (!level.throttled_seconds || waited <= 0) return 0;
    return std::clamp(*level.throttled_seconds / waited, 0.0, 1.0);
  }
};

/// By every cgroup that can throttle a node: its own and those above it.
std::vector<CgroupNodes> cgroups_of(const Analysis& analysis) {
  std::map<std::pair<int, std::string>, CgroupNodes> groups;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::present || !node.cgroup || !can_be_judged(window_of(node))) continue;
    for (CgroupLevel& level : levels_of(*node.cgroup)) {
      CgroupNodes& group = groups[{node.cgroup->version, level.path}];
      group.nodes.push_back(&node);
      group.above = group.above || level.path != node.cgroup->path;
      group.all = std::max(group.all, level.nodes);
      group.level = std::move(level);
    }
  }
  std::vector<CgroupNodes> list;
  for (auto& [path, group] : groups) {
    if (group.level.configured()) list.push_back(std::move(group));
  }
  return list;
}

/// Throttled time of a node's own run queues that no quota explains which could be read: a cgroup above those that
/// can be seen throttled it. By cpu.stat.local, which has the causes further up as well.
std::optional<double> unseen_throttled_seconds(const NodeBudget& node) {
  if (node.state != NodeState::present || !node.cgroup || !can_be_judged(window_of(node))) return std::nullopt;
  const auto local = node.cgroup->state == CgroupState::read ? node.cgroup->local_throttled_seconds : std::nullopt;
  if (!local) return std::nullopt;
  double seen = 0;
  for (const CgroupLevel& level : levels_of(*node.cgroup)) seen = std::max(seen, level.throttled_seconds.value_or(0));
  return *local > 2 * seen ? std::optional(*local - seen) : std::nullopt;
}

double unseen_explained_share(const NodeBudget& node) {
  const double waited =
      node.process.waited_seconds ? *node.process.waited_seconds : node.sum.waited_seconds.value_or(0);
  return waited > 0 ? std::clamp(unseen_throttled_seconds(node).value_or(0) / waited, 0.0, 1.0) : 0;
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
    for (const NodeBudget* node : group.nodes) explained[node] = std::max(explained[node], group.explained_share());
  }
  std::vector<NodeWait> waits;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    if (!node->sum.waited_seconds) continue;
    const auto found = explained.find(node);
    const double seen = found == explained.end() ? 0 : found->second;
    const double throttled = std::max(seen, unseen_explained_share(*node));
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

std::string period_words(const CgroupLevel& level) {
  std::string words;
  if (level.throttled_periods && level.periods) {
    words += " in " + std::to_string(*level.throttled_periods) + " of " + std::to_string(*level.periods) + " periods";
  }
  if (level.quota_usec && level.period_usec) {
    words += " (quota " + std::to_string(*level.quota_usec) + " us per " + std::to_string(*level.period_usec) + " us)";
  }
  return words;
}

std::vector<Evidence> throttle_evidence(const Analysis& analysis, const CgroupNodes& group) {
  EvidenceList list(analysis, k_cgroup_capture);
  const std::string scope = "cgroup " + group.level.path;
  for (const char* field : {"nr_throttled", "nr_periods", "throttled_usec", "throttled_time", "cpu.max",
                            "cpu.cfs_quota_us", "cpu.cfs_period_us"}) {
    list.add(scope, field);
  }
  return list.take();
}

/// Whose quota it is: of one node, of one node through a cgroup above its own, or of several together.
std::string whose_words(const CgroupNodes& group, const std::string& subject) {
  const std::string path = escape(group.level.path);
  if (group.nodes.size() > 1) return subject + " share the cgroup " + path + ", which its CPU quota throttled";
  if (group.all > 1) {
    return subject + " shares the cgroup " + path + " with " + std::to_string(group.all - 1) +
           " more, which its CPU quota throttled";
  }
  if (group.above) return subject + " was throttled by the CPU quota of " + path + ", above its own cgroup,";
  return subject + " was throttled by its CPU quota";
}

Findings throttled(const Analysis& analysis, const CgroupNodes& group) {
  const CgroupLevel& level = group.level;
  const double window = group.window_seconds();
  std::optional<double> of_window;
  if (level.throttled_seconds && window > 0) of_window = std::clamp(*level.throttled_seconds / window, 0.0, 1.0);
  const std::optional<double> of_periods = level.periods_share();
  const bool found = (of_window && share_reaches(*of_window, Threshold::throttled_window)) ||
                     (of_periods && share_reaches(*of_periods, Threshold::throttled_periods));
  if (!found) return {};
  std::vector<std::string> names;
  for (const NodeBudget* node : group.nodes) names.push_back(node->name);
  Finding finding;
  finding.level = Level::warning;
  finding.subject = names_text(names);
  finding.says = whose_words(group, finding.subject) + period_words(level);
  if (of_window) {
    finding.says += ", " + seconds_text(*level.throttled_seconds) + " summed over CPUs, which is " +
                    percent_text(*of_window) + " of the vCPUs' window";
  }
  const auto used = level.used_of_quota();
  if (used) finding.says += "; what was used is " + percent_text(*used) + " of what the quota allows";
  if (std::max(group.all, names.size()) > 1) finding.says += "; that is of all of them together, and of nobody alone";
  finding.evidence = throttle_evidence(analysis, group);
  finding.weight = of_window ? *of_window : of_periods.value_or(0);
  return {finding};
}

Findings throttled_unseen(const Analysis& analysis, const NodeBudget& node) {
  const auto seconds = unseen_throttled_seconds(node);
  if (!seconds || !has_judged_vcpus(node)) return {};
  const double share = std::clamp(*seconds / node.sum.base_seconds, 0.0, 1.0);
  if (!share_reaches(share, Threshold::throttled_window)) return {};
  Finding finding;
  finding.level = Level::warning;
  finding.subject = names_text({node.name});
  finding.says = finding.subject + " was throttled by the CPU quota of a cgroup above " + escape(node.cgroup->path) +
                 " that cannot be read, " + seconds_text(*seconds) + " summed over CPUs, which is " +
                 percent_text(share) + " of the vCPUs' window";
  EvidenceList list(analysis, k_cgroup_capture);
  for (const char* field : {"local.throttled_usec", "local.throttled_time", "throttled_usec", "throttled_time"}) {
    list.add("cgroup " + node.cgroup->path, field);
  }
  finding.evidence = list.take();
  finding.weight = share;
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
  for (const NodeBudget& node : analysis.nodes) {
    for (Finding& finding : throttled_unseen(analysis, node)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cozy
