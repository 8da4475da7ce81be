#include "collector/render/openmetrics.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/analyse/rule_support.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

struct Metric {
  std::string_view name;
  std::string_view help;
  std::string_view type = "counter";
};

constexpr Metric k_usage{"container_cpu_usage_seconds_total", "CPU time of the cgroup that a node's QEMU is in."};
constexpr Metric k_throttled{"container_cpu_cfs_throttled_seconds_total",
                             "Time in which run queues of the cgroup were throttled, summed over CPUs."};
constexpr Metric k_throttled_periods{"container_cpu_cfs_throttled_periods_total",
                                     "Periods of the quota at whose end the cgroup was throttled."};
constexpr Metric k_periods{"container_cpu_cfs_periods_total", "Periods of the quota in which the cgroup was active."};
constexpr Metric k_vcpu{"cozybracket_vcpu_seconds_total",
                        "Time of a vCPU: ran on a CPU, waited runnable for one, halted."};
constexpr Metric k_exits{"cozybracket_vcpu_exits_total", "How often a vCPU left guest mode."};
constexpr Metric k_runner{"cozybracket_runner_cpu_seconds_total",
                          "CPU time of the runner by mode; guest is inside user and guest_nice inside nice."};
constexpr Metric k_pressure{"cozybracket_runner_pressure_seconds_total",
                            "Time in which some task, or every task that was not idle, was stalled."};
constexpr Metric k_window{"cozybracket_window_seconds", "Time between the two samples by the boot-time clock.",
                          "gauge"};
constexpr Metric k_finding{"cozybracket_finding", "1 for each finding of the analysis.", "gauge"};

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// A label's value: bytes from outside made one harmless line, then what has a meaning between quotes escaped.
std::string quoted(std::string_view raw) {
  std::string text = "\"";
  for (const char c : neutral(raw)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;  // an empty label is no label
    text += (text.empty() ? "" : ",") + std::string(name) + "=" + quoted(value);
  }
  return "{" + text + "}";
}

/// A count of parts of a second as seconds, exactly: (1016506, 1000000) is "1.016506".
std::string seconds_text(std::uint64_t count, std::uint64_t per_second) {
  std::string fraction;
  std::uint64_t rest = count % per_second;
  for (int digit = 0; digit < 9 && rest > 0; ++digit) {
    rest *= 10;  // below 10^10
    fraction += static_cast<char>('0' + rest / per_second);
    rest %= per_second;
  }
  return std::to_string(count / per_second) + (fraction.empty() ? "" : "." + fraction);
}

/// All lines of a metric stand together, and no two of them are of the same labels and second.
class Exposition {
 public:
  void add(const Metric& metric, const Labels& labels, const std::string& value, std::int64_t second) {
    Family& family = families_[metric.name];
    family.metric = &metric;
    const std::string series = labels_text(labels);
    const auto [at, first] = family.last.try_emplace(series, second);
    if (!first && second <= at->second) return;
    at->second = second;
    std::string& lines = family.series[series];
    lines += std::string(metric.name) + series + " " + value + " " + std::to_string(second) + "\n";
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [name, family] : families_) {
      text += "# HELP " + std::string(name) + " " + std::string(family.metric->help) + "\n";
      text += "# TYPE " + std::string(name) + " " + std::string(family.metric->type) + "\n";
      for (const auto& [labels, lines] : family.series) text += lines;
    }
    return text + "# EOF\n";
  }

 private:
  struct Family {
    const Metric* metric = nullptr;
    std::map<std::string, std::string> series;  ///< lines by labels
    std::map<std::string, std::int64_t> last;   ///< second of the last line by labels
  };

  std::map<std::string_view, Family> families_;
};

class SnapshotMetrics {
 public:
  SnapshotMetrics(const Analysis& analysis, Exposition& exposition) : analysis_(analysis), exposition_(exposition) {}

  void add() {
    add_runner();
    add_pressure();
    for (const NodeBudget& node : analysis_.nodes) {
      if (node.state != NodeState::present) continue;
      add_vcpus(node);
      add_cgroup(node);
    }
    const auto second = last_second();
    if (!second) return;  // promtool loads no sample without its time
    if (analysis_.window) {
      exposition_.add(k_window, {{"snapshot", analysis_.snapshot}}, fixed(analysis_.window->seconds(), 6), *second);
    }
    for (const Finding& finding : analysis_.findings) {
      exposition_.add(k_finding,
                      {{"snapshot", analysis_.snapshot},
                       {"id", finding.id},
                       {"level", std::string(level_name(finding.level))},
                       {"subject", unescape(finding.subject)}},
                      "1", *second);
    }
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> second_of(std::string_view capture, int sample) const {
    const CaptureState* state = analysis_.capture(capture, sample);
    if (state == nullptr || !state->end || state->end->epoch_ns <= 0) return std::nullopt;
    const std::int64_t second = state->end->epoch_ns / k_ns_per_second;
    // `promtool check metrics` takes whole seconds alone, and a series has no second twice: of two samples within
    // one second the later is counted to its end.
    const bool same = sample == 2 && second_of(capture, 1) == std::optional(second);
    return same ? second + 1 : second;
  }

  /// When the last capture was read.
  [[nodiscard]] std::optional<std::int64_t> last_second() const {
    std::optional<std::int64_t> last;
    for (const CaptureState& state : analysis_.captures) {
      const auto second = second_of(state.name, state.sample);
      if (second && (!last || *second > *last)) last = second;
    }
    return last;
  }

  /// Both values of a row of a capture, where it is a counter. per_second 0: a count of things.
  void add_row(const Metric& metric, std::string_view capture, std::string_view scope, std::string_view field,
               std::uint64_t per_second, Labels labels) {
    const ComparedPair* pair = analysis_.pair(capture);
    const ComparedRow* row = pair == nullptr ? nullptr : pair->rows.find(scope, field);
    if (row == nullptr || row->kind != Kind::cumulative) return;
    labels.insert(labels.begin(), {"snapshot", analysis_.snapshot});
    for (const int sample : {1, 2}) {
      const auto& value = sample == 1 ? row->before : row->after;
      const auto count = value ? counter_value(*value) : std::nullopt;
      const auto second = second_of(capture, sample);
      if (!count || !second) continue;
      const std::string text = per_second == 0 ? std::to_string(*count) : seconds_text(*count, per_second);
      exposition_.add(metric, labels, text, *second);
    }
  }

  void add_runner() {
    if (!analysis_.runner || !analysis_.runner->container_view.empty()) return;
    for (const CpuRow& cpu : analysis_.runner->cpus) {
      for (std::size_t i = 0; i < k_cpu_columns; ++i) {
        const std::string mode(column_name(static_cast<CpuColumn>(i)));
        const std::string number(after_prefix(cpu.name, "cpu").value_or(cpu.name));
        add_row(k_runner, k_cpu_time_capture, cpu.name, mode, analysis_.ticks_per_second,
                {{"cpu", number}, {"mode", mode}});
      }
    }
  }

  void add_pressure() {
    for (const std::string resource : {"cpu", "io", "memory"}) {
      for (const std::string kind : {"some", "full"}) {
        add_row(k_pressure, k_pressure_capture, resource, kind + ".total_usec", k_usec,
                {{"resource", resource}, {"kind", kind}});
      }
    }
  }

  void add_vcpus(const NodeBudget& node) {
    for (const VcpuTime& vcpu : node.vcpus) {
      if (!node.pid_after) continue;
      const std::string index = std::to_string(vcpu.index);
      const std::string thread = "thread " + std::to_string(*node.pid_after) + "/" + std::to_string(vcpu.tid);
      const std::string of_kvm = node.name + "/vcpu" + index;
      const auto state = [&](const char* name) {
        return Labels{{"node", node.name}, {"vcpu", index}, {"state", name}};
      };
      add_row(k_vcpu, k_threads_capture, thread, "on_cpu_ns", k_nsec, state("ran"));
      add_row(k_vcpu, k_threads_capture, thread, "run_delay_ns", k_nsec, state("waited"));
      add_row(k_vcpu, k_kvm_capture, of_kvm, "halt_wait_ns", k_nsec, state("halted"));
      add_row(k_exits, k_kvm_capture, of_kvm, "exits", 0, {{"node", node.name}, {"vcpu", index}});
    }
  }

  /// Version 1 keeps usage in a cgroup that can be another one, and can hold more than the node.
  void add_accounting(const NodeBudget& node) {
    const NodeCgroup& cgroup = *node.cgroup;
    const std::string& path = cgroup.usage_path.empty() ? cgroup.path : cgroup.usage_path;
    const bool own = cgroup.nodes == 1 && cgroup.usage_nodes == 1 && path != "/";
    add_row(k_usage, k_cgroup_capture, "cpuacct " + path, "cpuacct.usage", k_nsec,
            {{"id", path}, {"name", own ? node.name : ""}});
  }

  /// Nodes that share a cgroup have one series: its numbers are of all of them together.
  void add_cgroup(const NodeBudget& node) {
    if (!node.cgroup || node.cgroup->path.empty()) return;
    const bool shared = node.cgroup->nodes > 1;
    const Labels labels{{"id", node.cgroup->path}, {"name", shared ? "" : node.name}};
    const std::string scope = "cgroup " + node.cgroup->path;
    const auto add = [&](const Metric& metric, const std::string& of, std::string_view field, std::uint64_t per) {
      add_row(metric, k_cgroup_capture, of, field, per, labels);
    };
    add(k_usage, scope, "usage_usec", k_usec);
    add_accounting(node);
    if (!node.cgroup->limited.value_or(false)) return;  // without a quota the kernel counts no periods
    add(k_throttled, scope, "throttled_usec", k_usec);
    add(k_throttled, scope, "throttled_time", k_nsec);
    add(k_throttled_periods, scope, "nr_throttled", 0);
    add(k_periods, scope, "nr_periods", 0);
  }

  static constexpr std::uint64_t k_usec = 1'000'000;
  static constexpr std::uint64_t k_nsec = 1'000'000'000;

  const Analysis& analysis_;
  Exposition& exposition_;
};

}  // namespace

std::string to_openmetrics(const ReportAnalysis& report) {
  Exposition exposition;
  for (const Analysis& analysis : report.snapshots) SnapshotMetrics(analysis, exposition).add();
  return exposition.text();
}

}  // namespace cozy
