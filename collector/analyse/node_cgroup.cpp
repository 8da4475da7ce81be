#include "collector/analyse/node_cgroup.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "collector/analyse/row_index.hpp"
#include "probes/cgroup_knobs.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_levels = 64;
constexpr std::size_t k_most_names = 16;
constexpr double k_ns = static_cast<double>(k_ns_per_second);
constexpr double k_usec = 1e6;
constexpr double k_rounding_seconds = 0.05;  // ticks of a process beside the nanoseconds of its threads

/// What no cgroup counts back: lower, it is of another one.
constexpr std::array<std::string_view, 6> k_falls_with_it{"usage_usec",   "cpuacct.usage",  "nr_periods",
                                                          "nr_throttled", "throttled_usec", "throttled_time"};

/// "/a/b" -> "/a" -> "/"; empty above that.
std::string path_above(const std::string& path) {
  if (path.size() < 2) return {};
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// A process of the readings and what it used between them.
struct Member {
  std::string name;  ///< of its node, else "process 412"
  std::optional<double> used_seconds;
};

/// The processes in one cgroup or below it.
struct Inside {
  std::set<std::string> names;
  double used_seconds = 0;
  std::size_t processes = 0;
  bool whole = true;  ///< what each of them used is known
};

class CgroupTie {
 public:
  CgroupTie(const Difference& rows, std::uint64_t ticks_per_second, const std::vector<NodeBudget>& nodes)
      : rows_(rows),
        hz_(static_cast<double>(ticks_per_second)),
        subjects_before_(rows.before().subjects),
        subjects_after_(rows.after().subjects) {
    name_processes(nodes);
    take_members();
  }

  void fill(NodeBudget& node) const {
    if (node.state != NodeState::present) return;
    const std::string scope = "process " + std::to_string(*node.pid_before);
    const RowChange* state = rows_.find(scope, "cgroup_state");
    if (state == nullptr) return;
    NodeCgroup cgroup;
    const RowChange* path = rows_.find(scope, "cgroup");
    if (path != nullptr) cgroup.path = value_text((path->after != nullptr ? path->after : path->before)->value);
    judge(scope, path, *state, cgroup);
    if (cgroup.state == CgroupState::read) fill_values(scope, cgroup);
    if (cgroup.state == CgroupState::read) fill_sharing(node.name, cgroup);
    node.cgroup = std::move(cgroup);
  }

 private:
  void name_processes(const std::vector<NodeBudget>& nodes) {
    for (const NodeBudget& node : nodes) {
      for (const auto& pid : {node.pid_before, node.pid_after}) {
        if (pid) names_.emplace("process " + std::to_string(*pid), node.name);
      }
    }
  }

  /// Of the process's own totals, which keep what ended threads used.
  [[nodiscard]] std::optional<double> process_seconds(const std::string& scope) const {
    const auto user = rows_.delta(scope, "utime");
    const auto system = rows_.delta(scope, "stime");
    if (!user || !system) return std::nullopt;
    return (static_cast<double>(*user) + static_cast<double>(*system)) / hz_;
  }

  void take_members() {
    for (const RowChange& row : rows_.rows()) {
      if ((row.field() != "cgroup" && row.field() != "cpuacct") || !row.scope().starts_with("process ")) continue;
      const auto named = names_.find(row.scope());
      const Member member{named == names_.end() ? row.scope() : named->second, process_seconds(row.scope())};
      std::set<std::string> paths;
      for (const Row* side : {row.before, row.after}) {
        if (side != nullptr) add_inside(row.field(), value_text(side->value), member, paths);
      }
    }
  }

  /// Adds to a path and to all above it, each once: a process that moved is in two.
  void add_inside(const std::string& controller, std::string path, const Member& member, std::set<std::string>& paths) {
    for (std::size_t level = 0; !path.empty() && level < k_most_levels; ++level, path = path_above(path)) {
      if (!paths.insert(path).second) continue;
      Inside& inside = inside_[controller + " " + path];
      inside.names.insert(member.name);
      ++inside.processes;
      inside.used_seconds += member.used_seconds.value_or(0);
      inside.whole = inside.whole && member.used_seconds;
    }
  }

  [[nodiscard]] const Inside& inside(const std::string& scope) const {
    static const Inside k_none;
    const auto found = inside_.find(scope);
    return found == inside_.end() ? k_none : found->second;
  }

  void judge(const std::string& scope, const RowChange* path, const RowChange& state, NodeCgroup& cgroup) const {
    const std::string found(place_state_name(PlaceState::found));
    const auto side = [&](const Row* row) { return row == nullptr ? std::string() : value_text(row->value); };
    cgroup.state = CgroupState::unread;
    for (const auto& [row, sample] : {std::pair(state.before, "1"), std::pair(state.after, "2")}) {
      if (side(row) == found) continue;
      cgroup.why = "sample " + std::string(sample) + ": ";
      cgroup.why += row == nullptr ? "the process was not read" : escape(side(row));
      return;
    }
    if (path == nullptr || path->before == nullptr || path->after == nullptr) return;
    const RowChange* start = rows_.find(scope, "start");
    if (start != nullptr && start->before != nullptr && start->after != nullptr &&
        start->before->value != start->after->value) {
      cgroup.why = "another process has its number in sample 2";
      return;
    }
    if (path->before->value != path->after->value) {
      cgroup.state = CgroupState::moved;
      cgroup.why = "from " + escape(side(path->before)) + " to " + escape(side(path->after));
      return;
    }
    const std::string own = "cgroup " + cgroup.path;
    cgroup.state = replaced(own) ? CgroupState::recreated : CgroupState::read;
    if (cgroup.state == CgroupState::recreated) cgroup.why = "it was removed and made again";
    const RowChange* version = rows_.find(own, "version");
    const bool both = version != nullptr && version->before != nullptr && version->after != nullptr;
    if (!both) cgroup.state = CgroupState::unread;
    if (!both) cgroup.why = "its files were not read in both samples";
    if (both) cgroup.version = value_text(version->after->value) == "1" ? 1 : 2;
  }

  [[nodiscard]] bool replaced(const std::string& scope) const {
    const Subject* before = subjects_before_.find(scope);
    const Subject* after = subjects_after_.find(scope);
    if (before != nullptr && after != nullptr && before->identity != after->identity) return true;
    return std::any_of(k_falls_with_it.begin(), k_falls_with_it.end(), [&](std::string_view field) {
      const RowChange* row = rows_.find(scope, field);
      return row != nullptr && row->change == Change::reset;
    });
  }

  /// None where it is more than every CPU of the largest machine could have counted.
  [[nodiscard]] std::optional<double> seconds(const std::string& scope, const std::string& key,
                                              double per_second) const {
    constexpr double k_most_cpus = 8192;
    const RowChange* row = rows_.find(scope, key);
    if (row == nullptr || !row->delta) return std::nullopt;
    const double seconds = static_cast<double>(*row->delta) / per_second;
    // What was throttled before the first sample can be booked after it.
    const bool possible = !row->interval || seconds <= k_most_cpus * (row->interval->seconds() + 1);
    return possible ? std::optional(seconds) : std::nullopt;
  }

  /// The unit is in the name of the key, whatever the version is.
  [[nodiscard]] std::optional<double> seconds(const std::string& scope, const std::string& usec_key,
                                              const std::string& ns_key) const {
    const auto of_usec = seconds(scope, usec_key, k_usec);
    return of_usec ? of_usec : seconds(scope, ns_key, k_ns);
  }

  /// As one sample read them; what it could not read is as in the other.
  [[nodiscard]] CpuKnobs knobs_of(const std::string& scope, const Row* RowChange::*sample = &RowChange::after) const {
    CpuKnobs knobs;
    for (const int version : {1, 2}) {
      for (const std::string& file : knob_files(version)) {
        const RowChange* row = rows_.find(scope, file);
        if (row == nullptr) continue;
        const Row* other = row->before != nullptr ? row->before : row->after;
        (void)take_knob(file, value_text((row->*sample != nullptr ? row->*sample : other)->value), knobs);
      }
    }
    return knobs;
  }

  /// The kernel can double quota and period together, which is no change.
  [[nodiscard]] bool quota_changed(const std::string& scope) const {
    const auto before = knobs_of(scope, &RowChange::before).cpus_of_quota();
    const auto after = knobs_of(scope).cpus_of_quota();
    if (!before || !after) return before.has_value() != after.has_value();
    return std::abs(*before - *after) > 0.001 * *after;
  }

  [[nodiscard]] double window_of(const std::string& scope) const {
    for (const char* field : {"usage_usec", "nr_periods", "cpuacct.usage"}) {
      const RowChange* row = rows_.find(scope, field);
      if (row != nullptr && row->interval) return row->interval->seconds();
    }
    return 0;
  }

  /// The usage of exactly this cgroup: of version 1 it stands under a heading of its own.
  [[nodiscard]] std::optional<double> usage_of(const std::string& path) const {
    if (const auto usage = seconds("cgroup " + path, "usage_usec", "")) return usage;
    return seconds("cpuacct " + path, "", "cpuacct.usage");
  }

  [[nodiscard]] CgroupLevel level_of(const std::string& path) const {
    const std::string scope = "cgroup " + path;
    const CpuKnobs knobs = knobs_of(scope);
    CgroupLevel level;
    level.path = path;
    level.limited = knobs.limited;
    level.quota_usec = knobs.quota_usec;
    level.period_usec = knobs.period_usec;
    level.burst_usec = knobs.burst_usec;
    level.window_seconds = window_of(scope);
    level.quota_changed = quota_changed(scope);
    level.periods = rows_.delta(scope, "nr_periods");
    level.throttled_periods = rows_.delta(scope, "nr_throttled");
    level.throttled_seconds = seconds(scope, "throttled_usec", "throttled_time");
    const Inside& members = inside(scope);
    level.nodes = std::max<std::size_t>(members.names.size(), 1);
    level.used_seconds = usage_of(path);
    if (!level.used_seconds && members.whole) level.used_seconds = members.used_seconds;
    return level;
  }

  void fill_values(const std::string& process, NodeCgroup& cgroup) const {
    const std::string scope = "cgroup " + cgroup.path;
    const CpuKnobs knobs = knobs_of(scope);
    static_cast<CgroupLevel&>(cgroup) = level_of(cgroup.path);
    cgroup.weight = knobs.weight;
    cgroup.shares = knobs.shares;
    cgroup.cpus = knobs.cpus.value_or("");
    cgroup.local_throttled_seconds = seconds(scope, "local.throttled_usec", "local.throttled_time");
    std::string above = path_above(cgroup.path);
    for (std::size_t i = 0; i < k_most_levels && rows_.find("cgroup " + above, "version") != nullptr; ++i) {
      cgroup.above.push_back(level_of(above));
      above = path_above(above);
    }
    fill_usage(process, cgroup);
  }

  void fill_usage(const std::string& process, NodeCgroup& cgroup) const {
    std::string path = cgroup.path;
    std::string scope = "cgroup " + path;
    std::string field = "usage_usec";
    double per_second = k_usec;
    const RowChange* accounting = rows_.find(process, "cpuacct");
    if (accounting != nullptr) {
      if (accounting->before == nullptr || accounting->after == nullptr) return;
      if (accounting->before->value != accounting->after->value) return;
      path = value_text(accounting->after->value);
      scope = "cpuacct " + path;
      field = "cpuacct.usage";
      per_second = k_ns;
      if (path != cgroup.path) cgroup.usage_path = path;
    }
    cgroup.usage_seconds = seconds(scope, field, per_second);
    const Inside& members = inside(scope);
    cgroup.usage_nodes = std::max<std::size_t>(members.names.size(), 1);
    if (!members.whole || members.processes == 0) return;
    cgroup.processes_seconds = members.used_seconds;
    if (!cgroup.usage_seconds) return;
    cgroup.beyond_seconds = *cgroup.usage_seconds - members.used_seconds;
    // Two counters of each process, cut to whole ticks.
    cgroup.beyond_error_seconds = 2 * static_cast<double>(members.processes) / hz_;
    const RowChange* row = rows_.find(scope, field);
    if (row != nullptr && row->interval) cgroup.beyond_error_seconds += row->interval->error_seconds();
  }

  void fill_sharing(const std::string& own, NodeCgroup& cgroup) const {
    const Inside& members = inside("cgroup " + cgroup.path);
    cgroup.nodes = std::max<std::size_t>(members.names.size(), 1);
    for (const std::string& name : members.names) {
      if (name != own && cgroup.shared_with.size() < k_most_names) cgroup.shared_with.push_back(name);
    }
  }

  const Difference& rows_;
  double hz_;
  SubjectIndex subjects_before_;
  SubjectIndex subjects_after_;
  std::map<std::string, std::string> names_;  ///< of nodes, by the scopes of their processes
  std::map<std::string, Inside> inside_;      ///< by "cgroup PATH" and "cpuacct PATH"
};

/// The values of those counters, by scope and field.
std::map<std::pair<std::string, std::string>, std::uint64_t> falling_counters(const Reading& reading) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> values;
  for (const Row& row : reading.rows) {
    const auto known = std::find(k_falls_with_it.begin(), k_falls_with_it.end(), row.field);
    const auto value = known == k_falls_with_it.end() ? std::nullopt : counter_value(row.value);
    if (value) values.emplace(std::pair(row.scope, row.field), *value);
  }
  return values;
}

/// Usage of version 1 stands apart, and can be of the same directory.
std::string sibling_of(const std::string& scope, const Reading& reading) {
  const auto path = after_prefix(scope, "cpuacct ");
  const std::string cgroup = path ? "cgroup " + std::string(*path) : "cpuacct " + scope.substr(scope.find(' ') + 1);
  return reading.word(cgroup, "directory") == reading.word(scope, "directory") ? cgroup : scope;
}

}  // namespace

PairRules cgroup_pair_rules(const Reading& before, const Reading& after, const Legend* legend) {
  PairRules rules;
  rules.legend = legend;
  const auto later = falling_counters(after);
  for (const auto& [counter, value] : falling_counters(before)) {
    const auto found = later.find(counter);
    if (found == later.end() || found->second >= value) continue;
    rules.replaced.insert(counter.first);
    rules.replaced.insert(sibling_of(counter.first, after));
  }
  return rules;
}

void tie_cgroups_to_nodes(const Difference& cgroups, std::uint64_t ticks_per_second, std::vector<NodeBudget>& nodes) {
  const CgroupTie tie(cgroups, std::max<std::uint64_t>(ticks_per_second, 1), nodes);
  for (NodeBudget& node : nodes) tie.fill(node);
}

std::optional<double> threads_seconds(const NodeBudget& node) {
  if (node.process.summed || !node.process.cpu_seconds || node.impossible) return std::nullopt;
  double total = 0;
  for (const VcpuTime& vcpu : node.vcpus) {
    if (!vcpu.parts.ran_seconds) return std::nullopt;
    total += *vcpu.parts.ran_seconds;
  }
  for (const ThreadTime& thread : node.others) {
    if (!thread.ran_seconds) return std::nullopt;
    total += *thread.ran_seconds;
  }
  // More than the process has is no part of it: the two clocks disagree.
  const bool inside = total <= *node.process.cpu_seconds + k_rounding_seconds;
  return (node.vcpus.empty() && node.others.empty()) || !inside ? std::nullopt : std::optional(total);
}

}  // namespace cozy
