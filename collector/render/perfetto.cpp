#include "collector/render/perfetto.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/render/trace_events.hpp"
#include "collector/render/trace_lanes.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_bytes = 64UL * 1024 * 1024;
constexpr std::int64_t k_latest_ns = std::int64_t{1} << 62U;
constexpr std::string_view k_not_read = "-1";
constexpr double k_percent = 100;
constexpr double k_kib_per_mib = 1024;

bool is_moment(std::int64_t ns) { return ns > 0 && ns <= k_latest_ns; }

/// The earliest moment of a report on both clocks; 0 where one is not known.
Stamp origin_of(const ReportAnalysis& report) {
  Stamp origin;
  const auto take = [&](const Stamp& stamp) {
    const bool earlier =
        is_moment(stamp.boottime_ns) && (origin.boottime_ns == 0 || stamp.boottime_ns < origin.boottime_ns);
    if (earlier) origin = {stamp.boottime_ns, is_moment(stamp.epoch_ns) ? stamp.epoch_ns : 0};
  };
  std::int64_t epoch_ns = 0;
  for (const Analysis& analysis : report.snapshots) {
    if (analysis.timeline) take({analysis.timeline->begin_ns, analysis.timeline->epoch_begin_ns});
    for (const CaptureState& state : analysis.captures) {
      if (!state.begin) continue;
      take(*state.begin);
      const bool earlier = epoch_ns == 0 || state.begin->epoch_ns < epoch_ns;
      if (is_moment(state.begin->epoch_ns) && earlier) epoch_ns = state.begin->epoch_ns;
    }
  }
  if (origin.epoch_ns == 0) origin.epoch_ns = epoch_ns;
  return origin;
}

/// One track of counters, and what it shows at the moment.
struct Track {
  std::string_view key;
  const Series* series;
  double factor = 1;
  int digits = 1;
  std::string shown = {};
};

std::string number_text(double number, int digits) {
  std::string text = fixed(number, digits);
  if (digits > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

/// The mean over a node's vCPUs, of the steps in which it is known of each.
Series mean_of(const std::vector<VcpuSeries>& vcpus, Series VcpuSeries::*part, std::size_t steps) {
  Series mean(steps);
  for (std::size_t step = 0; step < steps; ++step) {
    double sum = 0;
    bool known = !vcpus.empty();
    for (const VcpuSeries& vcpu : vcpus) {
      const Series& series = vcpu.*part;
      known = known && !series.empty() && series[step];
      if (known) sum += *series[step];
    }
    if (known) mean[step] = sum / static_cast<double>(vcpus.size());
  }
  return mean;
}

class SnapshotTrace {
 public:
  SnapshotTrace(const Analysis& analysis, std::string prefix, const Stamp& origin, TraceEvents& events)
      : analysis_(analysis), prefix_(std::move(prefix)), origin_(origin), events_(events) {}

  void add() {
    add_samples();
    if (analysis_.series) add_series(*analysis_.series);
    if (analysis_.timeline) add_stalls(analysis_.timeline->stalls);
    for (const Finding& finding : analysis_.findings) add_finding(finding);
  }

  [[nodiscard]] std::size_t nodes_left_out() const { return nodes_left_out_; }

 private:
  /// A moment of the trace; none of a stamp that has no clock in common with it.
  [[nodiscard]] std::optional<std::int64_t> moment(const std::optional<Stamp>& stamp) const {
    if (!stamp) return std::nullopt;
    if (is_moment(stamp->boottime_ns) && is_moment(origin_.boottime_ns)) return stamp->boottime_ns;
    if (!is_moment(stamp->epoch_ns) || !is_moment(origin_.epoch_ns) || stamp->epoch_ns < origin_.epoch_ns)
      return std::nullopt;
    return origin_.boottime_ns + (stamp->epoch_ns - origin_.epoch_ns);
  }

  void add_samples() {
    samples_ = events_.process(prefix_ + "samples");
    std::map<std::string, Lanes> lanes;  // captures are read at the same time
    for (const CaptureState& state : analysis_.captures) {
      const auto from = moment(state.begin);
      const auto to = moment(state.end);
      if (!from || !to || *to < *from) continue;
      last_ns_ = std::max(last_ns_.value_or(*from), *from);
      Lanes& own = lanes.try_emplace(state.name, samples_, escape(state.name)).first->second;
      TraceEvents::Args args{{"outcome", trace_text(outcome_name(state.outcome))}};
      if (!state.reason.empty()) args.emplace_back("reason", trace_text(state.reason));
      if (!state.file.empty()) args.emplace_back("file", trace_text(escape(state.file)));
      events_.slice(samples_, own.thread(events_, *from, *to), "sample " + std::to_string(state.sample), *from, *to,
                    args);
    }
  }

  void add_series(const TimelineSeries& series) {
    const TraceEvents::Process runner = events_.process(prefix_ + "runner");
    const auto percent = [](std::string_view key, const Series& of) { return Track{key, &of, k_percent}; };
    add_tracks(series, runner, "cpu",
               {percent("user %", series.runner.user), percent("system %", series.runner.system),
                percent("interrupts %", series.runner.interrupts), percent("iowait %", series.runner.iowait),
                percent("steal %", series.runner.steal), percent("idle %", series.runner.idle)});
    add_tracks(series, runner, "pressure",
               {percent("cpu some %", series.pressure.cpu_some), percent("io some %", series.pressure.io_some),
                percent("io full %", series.pressure.io_full), percent("memory some %", series.pressure.memory_some),
                percent("memory full %", series.pressure.memory_full)});
    add_tracks(series, runner, "memory", {{"available MiB", &series.memory_available_kb, 1 / k_kib_per_mib, 0}});
    add_gaps(series, runner);
    for (const NodeSeries& node : series.nodes) {
      if (events_.size() > k_most_bytes)
        ++nodes_left_out_;
      else
        add_node(series, node);
    }
    nodes_left_out_ += series.nodes_left_out;
  }

  void add_gaps(const TimelineSeries& series, TraceEvents::Process runner) {
    std::optional<TraceEvents::Thread> thread;
    for (std::size_t step = 0; step < series.gap.size(); ++step) {
      if (!series.gap[step]) continue;
      if (!thread) thread = events_.thread(runner, "recorder");
      events_.slice(runner, *thread, "ticks missing", begin_of(series, step), begin_of(series, step + 1),
                    {{"note", trace_text("the counters hold the mean of this time")}});
    }
  }

  void add_node(const TimelineSeries& series, const NodeSeries& node) {
    const TraceEvents::Process process = process_of(node.node);
    const std::array parts{&VcpuSeries::ran, &VcpuSeries::waited, &VcpuSeries::halted, &VcpuSeries::other,
                           &VcpuSeries::halted_or_other};
    constexpr std::array<std::string_view, 5> k_keys{"ran %", "waited %", "halted %", "other %", "halted or other %"};
    std::vector<Series> means;
    for (const auto part : parts) means.push_back(mean_of(node.vcpus, part, series.starts.size()));
    std::vector<Track> tracks;
    for (std::size_t i = 0; i < parts.size(); ++i) tracks.push_back({k_keys[i], &means[i], k_percent});
    add_tracks(series, process, "vCPUs", tracks);
    add_tracks(series, process, "QEMU", {{"other threads, CPUs", &node.others_cpus, 1, 3}});
    add_tracks(series, process, "cgroup",
               {{"CPUs", &node.cgroup_cpus, 1, 3}, {"throttled %", &node.throttled, k_percent}});
    for (const VcpuSeries& vcpu : node.vcpus) {
      tracks.clear();
      for (std::size_t i = 0; i < parts.size(); ++i) tracks.push_back({k_keys[i], &(vcpu.*parts[i]), k_percent});
      tracks.push_back({"exits/s", &vcpu.exits_per_second, 1, 0});
      add_tracks(series, process, "vCPU " + std::to_string(vcpu.vcpu), tracks);
    }
  }

  static std::int64_t begin_of(const TimelineSeries& series, std::size_t step) {
    const bool inside = step < series.starts.size();
    const double seconds = inside ? series.starts[step] : series.starts.back() + series.seconds.back();
    return series.begin_ns + std::llround(seconds * static_cast<double>(k_ns_per_second));
  }

  /// What a track shows already is not said again: it is held.
  void add_tracks(const TimelineSeries& series, TraceEvents::Process process, std::string_view name,
                  std::vector<Track> tracks) {
    for (std::size_t step = 0; step <= series.starts.size(); ++step) {
      TraceEvents::Args args;
      for (Track& track : tracks) {
        const bool known = step < track.series->size() && (*track.series)[step];
        std::string text(track.shown.empty() ? "" : k_not_read);
        if (known) text = number_text(*(*track.series)[step] * track.factor, track.digits);
        if (text == track.shown) continue;
        track.shown = text;
        args.emplace_back(track.key, std::move(text));
      }
      if (!args.empty()) events_.counters(process, name, begin_of(series, step), args);
    }
  }

  TraceEvents::Process process_of(const std::string& node) {
    const auto [process, added] = processes_.try_emplace(node, 0);
    if (added) process->second = events_.process(prefix_ + node);
    return process->second;
  }

  void add_stalls(const std::vector<Stall>& stalls) {
    std::map<std::string, Lanes> lanes;
    for (const Stall& stall : stalls) {
      const TraceEvents::Process process = process_of(stall.node);
      Lanes& own = lanes.try_emplace(stall.node, process, "stalls").first->second;
      std::vector<std::string> vcpus;
      for (const std::uint64_t vcpu : stall.vcpus) vcpus.push_back(std::to_string(vcpu));
      TraceEvents::Args args{{"vcpus", trace_text(join(vcpus, ", "))}};
      if (!stall.states.empty()) args.emplace_back("states", trace_text(stall.states));
      events_.slice(process, own.thread(events_, stall.from_ns, stall.to_ns), "stood still", stall.from_ns, stall.to_ns,
                    args);
    }
  }

  /// A finding without a place on the timeline is of the whole window: it stands where the window ends.
  void add_finding(const Finding& finding) {
    std::optional<std::int64_t> at_ns = last_ns_;
    TraceEvents::Args args{{"level", trace_text(level_name(finding.level))},
                           {"subject", trace_text(finding.subject)},
                           {"says", trace_text(finding.says)},
                           {"does_not_prove", trace_text(finding.does_not_prove)}};
    if (finding.timeline_seconds && analysis_.timeline) {
      const auto place = [&](double seconds) {
        return analysis_.timeline->begin_ns + std::llround(seconds * static_cast<double>(k_ns_per_second));
      };
      at_ns = place(finding.timeline_seconds->from_seconds);
      args.emplace_back("seconds",
                        number_text(finding.timeline_seconds->to_seconds - finding.timeline_seconds->from_seconds, 3));
    } else {
      args.emplace_back("of", trace_text("the whole window"));
    }
    events_.instant(is_node(finding.subject) ? std::optional(process_of(finding.subject)) : std::nullopt, finding.id,
                    at_ns.value_or(origin_.boottime_ns), args);
  }

  [[nodiscard]] bool is_node(const std::string& subject) const {
    return processes_.contains(subject) ||
           std::any_of(analysis_.nodes.begin(), analysis_.nodes.end(),
                       [&](const NodeBudget& node) { return escape(node.name) == subject; });
  }

  const Analysis& analysis_;
  std::string prefix_;
  Stamp origin_;
  TraceEvents& events_;
  TraceEvents::Process samples_ = 0;
  std::map<std::string, TraceEvents::Process> processes_;  ///< of nodes, by escaped names
  std::optional<std::int64_t> last_ns_;                    ///< when the last capture was begun
  std::size_t nodes_left_out_ = 0;
};

}  // namespace

std::string to_perfetto(const ReportAnalysis& report) {
  const Stamp origin = origin_of(report);
  TraceEvents events(origin.boottime_ns);
  TraceEvents::Args other{{"schema", trace_text("cozybracket.perfetto/1")}};
  if (!report.path.empty()) other.emplace_back("report", trace_text(escape(report.path)));
  if (origin.boottime_ns > 0) other.emplace_back("origin_boottime_ns", std::to_string(origin.boottime_ns));
  if (origin.epoch_ns > 0) other.emplace_back("origin_epoch_ns", std::to_string(origin.epoch_ns));
  other.emplace_back("counters", trace_text("-1 is no value: from there on it was not read"));
  std::size_t left_out = 0;
  for (const Analysis& analysis : report.snapshots) {
    const std::string name = escape(analysis.snapshot);
    SnapshotTrace trace(analysis, report.snapshots.size() > 1 ? name + ": " : "", origin, events);
    trace.add();
    left_out += trace.nodes_left_out();
  }
  if (left_out > 0) other.emplace_back("nodes_left_out", std::to_string(left_out));
  std::vector<std::string> verdicts;
  for (const Analysis& analysis : report.snapshots)
    verdicts.push_back(escape(analysis.snapshot) + ": " + analysis.verdict);
  other.emplace_back("verdicts", trace_text(join(verdicts, "; ")));
  return events.text(other);
}

}  // namespace cozy
