#include "collector/render/cgroup_sentences.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "collector/analyse/node_cgroup.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_cgroups = 16;
constexpr double k_rounding_seconds = 0.05;  // ticks of a process beside the nanoseconds of its threads

std::string seconds_words(double seconds) {
  // "-0.00" says nothing that "0.00" does not.
  return fixed(std::abs(seconds) < 0.005 ? 0 : seconds, 2) + " s";
}

std::string quota_words(const CgroupLevel& level) {
  const std::string changed = level.quota_changed ? ", changed between the samples" : "";
  if (level.quota_usec) {
    std::string words = "quota " + std::to_string(*level.quota_usec) + " us";
    if (level.period_usec) words += " per " + std::to_string(*level.period_usec) + " us";
    if (const auto cpus = level.quota_cpus()) words += " (" + fixed(*cpus, 2) + " CPUs)";
    if (level.burst_usec.value_or(0) > 0) words += ", burst " + std::to_string(*level.burst_usec) + " us";
    return words + changed;
  }
  if (level.limited) return "no quota" + changed;
  return level.configured() ? "quota not known" : "no CPU controller";
}

std::string throttling_words(const CgroupLevel& level) {
  if (!level.configured()) return "";
  std::string words;
  if (level.periods && level.throttled_periods) {
    words += *level.periods == 0 ? ", no period elapsed"
                                 : ", throttled in " + std::to_string(*level.throttled_periods) + " of " +
                                       std::to_string(*level.periods) + " periods";
  }
  if (level.throttled_seconds) words += ", " + seconds_words(*level.throttled_seconds) + " throttled summed over CPUs";
  return words.empty() ? ", throttling absent" : words;
}

std::string weight_words(const NodeCgroup& cgroup) {
  std::string words;
  if (cgroup.weight) words += ", weight " + std::to_string(*cgroup.weight);
  if (cgroup.shares) words += ", shares " + std::to_string(*cgroup.shares);
  if (!cgroup.cpus.empty()) words += ", CPUs " + neutral(cgroup.cpus);
  return words;
}

std::string above_words(const NodeCgroup& cgroup) {
  std::string words;
  for (const CgroupLevel& level : cgroup.above) {
    if (!level.configured()) continue;
    words += "; above it " + neutral(level.path) + ": " + quota_words(level) + throttling_words(level);
    if (level.nodes > 1) words += ", of " + std::to_string(level.nodes) + " nodes together";
  }
  const auto tightest = tightest_of(cgroup);
  if (tightest && tightest->path != cgroup.path && cgroup.quota_usec) words += ", the tightest";
  return words;
}

/// Nodes of one cgroup. One whose cgroup is absent stands for itself.
struct Sharers {
  std::vector<const NodeBudget*> nodes;

  [[nodiscard]] const NodeCgroup& cgroup() const { return *nodes.front()->cgroup; }
  [[nodiscard]] std::string names() const {
    std::vector<std::string> names;
    for (const NodeBudget* node : nodes) names.push_back(node->name);
    return some_names(names);
  }
};

/// What the threads of both samples ran of what their processes used, in the interval of their own capture.
std::string threads_words(const Sharers& sharers) {
  double all = 0;
  double processes = 0;
  for (const NodeBudget* node : sharers.nodes) {
    const auto threads = threads_seconds(*node);
    if (!threads) return "";
    all += *threads;
    processes += *node->process.cpu_seconds;
  }
  const bool several = sharers.nodes.size() > 1;
  std::string words = std::string("; in the capture of the threads the process") + (several ? "es" : "");
  words += " used " + seconds_words(processes) + ", threads of both samples ";
  if (std::abs(processes - all) <= k_rounding_seconds * static_cast<double>(sharers.nodes.size()))
    return words + "all of it";
  return words + seconds_words(all) + " of it, threads that began or ended " + seconds_words(processes - all);
}

std::string usage_sentence(const Sharers& sharers) {
  const NodeCgroup& cgroup = sharers.cgroup();
  if (!cgroup.usage_seconds) return "";
  const bool several = cgroup.usage_nodes > 1 || sharers.nodes.size() > 1;
  std::string words = sharers.names() + " usage: " + seconds_words(*cgroup.usage_seconds) + " in ";
  words += cgroup.usage_path.empty() ? "cgroup " + neutral(cgroup.path) : "cpuacct " + neutral(cgroup.usage_path);
  if (cgroup.processes_seconds) {
    words += ", " + seconds_words(*cgroup.processes_seconds) + " of " +
             (several ? "the processes of " + std::to_string(cgroup.usage_nodes) + " nodes in it" : "the process");
  }
  if (cgroup.beyond_seconds) {
    const bool rounding = std::abs(*cgroup.beyond_seconds) <= cgroup.beyond_error_seconds;
    words += ", difference " + seconds_words(*cgroup.beyond_seconds) + (rounding ? " (within rounding)" : "");
  }
  return words + threads_words(sharers) + (several ? "; of all in it together, nobody's own" : "");
}

bool is_unexplained(const NodeCgroup& cgroup) {
  return cgroup.beyond_seconds && *cgroup.beyond_seconds > cgroup.beyond_error_seconds;
}

std::string limit_sentence(const Sharers& sharers) {
  const NodeCgroup& cgroup = sharers.cgroup();
  const std::string path = neutral(cgroup.path);
  std::string words = sharers.names() + " cgroup";
  if (cgroup.state != CgroupState::read) {
    return words + " " + path + ": absent (" + std::string(cgroup_state_name(cgroup.state)) + ": " +
           neutral_escaped(cgroup.why) + ")";
  }
  const CgroupLevel own = levels_of(cgroup).front();
  words += " " + path + " (v" + std::to_string(cgroup.version) + "): " + quota_words(own) + throttling_words(own) +
           weight_words(cgroup) + above_words(cgroup);
  if (cgroup.nodes > 1) words += "; of " + std::to_string(cgroup.nodes) + " nodes together, nobody's own";
  return words;
}

/// Nodes with the same key, in the order of the nodes.
template <class Key>
std::vector<Sharers> sharers_of(const Analysis& analysis, const Key& key_of) {
  std::vector<Sharers> list;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const NodeBudget& node : analysis.nodes) {
    if (!node.cgroup) continue;
    const auto [at, inserted] = known.emplace(key_of(*node.cgroup), list.size());
    if (inserted) list.emplace_back();
    list[at->second].nodes.push_back(&node);
  }
  return list;
}

std::pair<std::string, std::string> limit_key(const NodeCgroup& cgroup) { return {cgroup.path, cgroup.why}; }

std::pair<std::string, std::string> usage_key(const NodeCgroup& cgroup) {
  return {cgroup.usage_path.empty() ? cgroup.path : cgroup.usage_path, cgroup.why};
}

}  // namespace

std::vector<std::string> cgroup_sentences(const Analysis& analysis) {
  std::vector<std::string> sentences;
  const std::vector<Sharers> limits = sharers_of(analysis, limit_key);
  for (std::size_t i = 0; i < std::min(limits.size(), k_most_cgroups); ++i) {
    sentences.push_back(limit_sentence(limits[i]));
  }
  if (limits.size() > k_most_cgroups) {
    sentences.push_back(std::to_string(limits.size() - k_most_cgroups) + " more cgroups are in the JSON");
  }
  bool unexplained = false;
  const std::vector<Sharers> usages = sharers_of(analysis, usage_key);
  for (std::size_t i = 0; i < std::min(usages.size(), k_most_cgroups); ++i) {
    const std::string usage = usage_sentence(usages[i]);
    if (!usage.empty()) sentences.push_back(usage);
    unexplained = unexplained || is_unexplained(usages[i].cgroup());
  }
  if (unexplained) {
    sentences.emplace_back(
        "usage beyond the processes can be other processes of the cgroup, kernel workers outside the process (vhost "
        "before Linux 6.4) and CPU used by a process that came or went; it cannot be threads that ended, which the "
        "process keeps, nor kworker, ksoftirqd and kvm-pit threads, which are counted elsewhere");
  }
  return sentences;
}

}  // namespace cozy
