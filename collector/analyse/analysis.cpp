#include "collector/analyse/analysis.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collector/analyse/cpu_list.hpp"
#include "collector/analyse/kvm_nodes.hpp"
#include "collector/analyse/node_cgroup.hpp"
#include "collector/analyse/rules.hpp"
#include "collector/analyse/shortfall.hpp"
#include "collector/analyse/thresholds.hpp"
#include "collector/analyse/vcpu_kvm.hpp"
#include "collector/analyse/verdict.hpp"
#include "collector/analyse/vm_owners.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_cpu_time = "runner-kernel-cpu-time";
constexpr std::string_view k_threads = "sandbox-qemu-thread-cpu";
constexpr std::string_view k_kvm = "sandbox-kvm-exits";
constexpr std::string_view k_pressure = "runner-pressure";
constexpr std::string_view k_steal_clock = "runner-steal-clock";
constexpr std::string_view k_cgroup = "sandbox-vm-cgroup-cpu";
constexpr std::string_view k_shape = "runner-shape";

/// The two readings of a capture that can be compared.
struct Pair {
  ReadSide before;
  ReadSide after;
};

ReadSide side_of(const SampleCapture& file) {
  const bool whole = file.capture.judgement.outcome == Outcome::complete && file.reading.partial.empty();
  return {file.reading, {file.capture.begin_stamp, file.capture.end_stamp}, whole};
}

std::optional<Pair> pair_of(const Snapshot& snapshot, std::string_view capture) {
  const SampleCapture* before = snapshot.find(capture, 1);
  const SampleCapture* after = snapshot.find(capture, 2);
  if (before == nullptr || after == nullptr) return std::nullopt;
  const bool data = holds_data(before->capture.judgement.outcome) && holds_data(after->capture.judgement.outcome);
  return data ? std::optional(Pair{side_of(*before), side_of(*after)}) : std::nullopt;
}

const Legend* legend_of(std::string_view capture, const AnalysisOptions& options) {
  const auto found =
      std::find_if(options.known.begin(), options.known.end(), [&](const Legend& l) { return l.capture == capture; });
  return found == options.known.end() ? nullptr : &*found;
}

/// USER_HZ, from whichever capture states it; 100, what every common machine has, where none does.
std::uint64_t ticks_per_second(const Snapshot& snapshot) {
  constexpr std::uint64_t k_usual = 100;
  constexpr std::uint64_t k_most = 1'000'000;
  for (const std::string_view capture : {k_cpu_time, k_threads}) {
    for (const int sample : {1, 2}) {
      const SampleCapture* file = snapshot.find(capture, sample);
      const auto ticks = file == nullptr ? std::nullopt : file->reading.number("kernel", "clock_ticks_per_second");
      if (ticks && *ticks > 0 && *ticks <= k_most) return *ticks;
    }
  }
  return k_usual;
}

std::set<std::uint64_t> cpu_rows(const Reading& reading) {
  std::set<std::uint64_t> cpus;
  for (const Row& row : reading.rows) {
    const auto digits = after_prefix(row.scope, "cpu");
    const auto number = digits ? parse_u64(*digits) : std::nullopt;
    if (number) cpus.insert(*number);
  }
  return cpus;
}

/// Rows that disagree with the list of online CPUs are made for somebody else. Both were read in sample 1.
std::vector<std::string> container_view(const Snapshot& snapshot, const ReadSide& cpu_time) {
  const SampleCapture* shape = snapshot.find(k_shape, 1);
  if (shape == nullptr || !cpu_time.whole) return {};
  const std::string online = shape->reading.word("machine", "cpus-online");
  const auto list = parse_cpu_list(online);
  const std::set<std::uint64_t> rows = cpu_rows(cpu_time.reading);
  if (!list || rows.empty() || *list == rows) return {};
  return {"its rows are of " + std::to_string(rows.size()) + " CPUs and the online list is " + escape(online)};
}

/// What a capture that holds no counter shows of the moment, from either sample.
ComparedRows gauges_of(const Snapshot& snapshot, std::string_view capture, const PairRules& rules) {
  const Reading none;
  const auto side = [&](int sample) {
    const SampleCapture* file = snapshot.find(capture, sample);
    const bool gauges = file != nullptr && file->capture.judgement.gauges_only;
    return gauges ? ReadSide{file->reading, {file->capture.begin_stamp, file->capture.end_stamp}, false}
                  : ReadSide{none, {}, false};
  };
  const ReadSide before = side(1);
  const ReadSide after = side(2);
  std::vector<ComparedRow> rows = ComparedRows(difference(before, after, rules)).rows();
  std::erase_if(rows, [](const ComparedRow& row) { return row.kind == Kind::cumulative; });
  return ComparedRows(std::move(rows));
}

/// The captures that the shell collectors do not write, of a snapshot that holds theirs alone.
std::vector<std::string> not_written(const Snapshot& snapshot, const AnalysisOptions& options) {
  const auto by_shell = [](const SampleCapture& file) { return file.origin == Origin::shell; };
  const bool shell =
      !snapshot.captures.empty() && std::all_of(snapshot.captures.begin(), snapshot.captures.end(), by_shell);
  std::vector<std::string> captures;
  for (const Legend& legend : options.known) {
    const bool known = legend.capture == k_cpu_time || legend.capture == k_threads || legend.capture == k_kvm;
    if (shell && !known) captures.push_back(legend.capture);
  }
  return captures;
}

class Analyser {
 public:
  Analyser(const Snapshot& snapshot, const AnalysisOptions& options) : snapshot_(snapshot), options_(options) {
    analysis_.not_written = not_written(snapshot, options);
    options_.not_asked.insert(analysis_.not_written.begin(), analysis_.not_written.end());
  }

  Analysis run() {
    analysis_.snapshot = snapshot_.name;
    analysis_.last_sample = options_.last_sample;
    analysis_.captures = capture_states(snapshot_, options_);
    analysis_.shortfalls = find_shortfalls(snapshot_, analysis_.captures, options_);
    analysis_.truncated = options_.truncated;
    analysis_.ticks_per_second = ticks_per_second(snapshot_);
    if (const SampleCapture* shape = snapshot_.find(k_shape, 1)) analysis_.shape = shape->reading.rows;
    const SampleCapture* clock = snapshot_.find(k_steal_clock, 1);
    analysis_.steal_clock =
        steal_clock_of(clock == nullptr ? Reading() : clock->reading, analysis_.shape_fact("hypervisor"));
    if (options_.last_sample < 2) return std::move(analysis_);

    compare_cpu_time();
    compare_kvm();
    compare_threads();
    compare_cgroups();
    compare_others();
    if (snapshot_.timeline) {
      analysis_.timeline = timeline_facts(*snapshot_.timeline, threshold(Threshold::stalled).value);
      if (options_.series) analysis_.series = timeline_series(*snapshot_.timeline);
    }
    find_findings(analysis_);
    analysis_.verdict = verdict_of(analysis_);
    return std::move(analysis_);
  }

 private:
  void compare_cpu_time() {
    const auto pair = take_pair(k_cpu_time);
    if (!pair) return;
    CpuTimeFacts facts{analysis_.ticks_per_second, analysis_.steal_clock.clock,
                       container_view(snapshot_, pair->before)};
    analysis_.runner = cpu_time(compare(*pair, k_cpu_time), facts);
  }

  void compare_threads() {
    if (const auto pair = take_pair(k_threads)) {
      BudgetFacts facts{analysis_.ticks_per_second, {}, {}};
      for (const auto& [vcpu, statistics] : vcpu_kvm_) {
        if (statistics.halted_ns) facts.halted_ns[vcpu] = *statistics.halted_ns;
      }
      facts.vcpu_threads = vcpu_threads_;
      analysis_.nodes = vcpu_budget(compare(*pair, k_threads), facts);
    }
    if (analysis_.kvm) tie_vms_to_nodes(*analysis_.kvm, analysis_.nodes);
    take_vcpu_kvm(vcpu_kvm_, analysis_.nodes);
  }

  void compare_kvm() {
    const auto pair = take_pair(k_kvm);
    const Legend* legend = legend_of(k_kvm, options_);
    if (!pair) {
      PairRules rules;
      rules.legend = legend;
      analysis_.kvm_gauges = gauges_of(snapshot_, k_kvm, rules);
      return;
    }
    PairRules rules = kvm_pair_rules(pair->before.reading, pair->after.reading, legend);
    if (const auto threads = pair_of(snapshot_, k_threads)) {
      add_replaced_vms(pair->after.reading, replaced_owners(threads->before.reading, threads->after.reading), rules);
    }
    const Difference rows = difference(pair->before, pair->after, rules);
    analysis_.pairs.back().rows = ComparedRows(rows);
    analysis_.kvm = kvm_rates(rows);
    vcpu_kvm_ = vcpu_kvm(rows);
    vcpu_threads_ = vcpu_threads(rows);
  }

  void compare_cgroups() {
    const auto pair = take_pair(k_cgroup);
    if (!pair) return;
    const PairRules rules = cgroup_pair_rules(pair->before.reading, pair->after.reading, legend_of(k_cgroup, options_));
    const Difference rows = difference(pair->before, pair->after, rules);
    analysis_.pairs.back().rows = ComparedRows(rows);
    tie_cgroups_to_nodes(rows, analysis_.ticks_per_second, analysis_.nodes);
  }

  /// Captures that no rule reads: their rows are for whoever shows them.
  void compare_others() {
    for (const Legend& legend : options_.known) {
      constexpr std::array k_compared{k_cpu_time, k_threads, k_kvm, k_cgroup};
      const bool known = std::find(k_compared.begin(), k_compared.end(), legend.capture) != k_compared.end();
      if (known || legend.samples.size() < 2) continue;
      const auto pair = take_pair(legend.capture);
      if (!pair) continue;
      const Difference rows = compare(*pair, legend.capture);
      if (legend.capture == k_pressure) analysis_.pressure = pressure_of(rows);
    }
  }

  /// The pair, noted as compared; it narrows the window.
  std::optional<Pair> take_pair(std::string_view capture) {
    const auto pair = pair_of(snapshot_, capture);
    if (!pair) return std::nullopt;
    const auto interval = interval_between(pair->before.read, pair->after.read);
    const bool partial = !pair->before.whole || !pair->after.whole;
    analysis_.pairs.push_back({std::string(capture), interval, partial});
    const bool narrower = interval && (!analysis_.window || interval->error_ns < analysis_.window->error_ns);
    if (narrower) analysis_.window = interval;
    return pair;
  }

  /// Of the pair that was taken last; keeps copies of its rows.
  Difference compare(const Pair& pair, std::string_view capture) {
    PairRules rules;
    rules.legend = legend_of(capture, options_);
    Difference rows = difference(pair.before, pair.after, rules);
    analysis_.pairs.back().rows = ComparedRows(rows);
    return rows;
  }

  const Snapshot& snapshot_;
  AnalysisOptions options_;
  Analysis analysis_;
  VcpuThreads vcpu_threads_;
  VcpuKvmMap vcpu_kvm_;  ///< KVM's statistics of each vCPU, before the nodes are known
};

}  // namespace

const CaptureState* Analysis::capture(std::string_view name, int sample) const {
  const auto found = std::find_if(captures.begin(), captures.end(),
                                  [&](const CaptureState& c) { return c.sample == sample && c.name == name; });
  return found == captures.end() ? nullptr : &*found;
}

const ComparedPair* Analysis::pair(std::string_view name) const {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const ComparedPair& p) { return p.capture == name; });
  return found == pairs.end() ? nullptr : &*found;
}

std::string Analysis::shape_fact(std::string_view name) const {
  for (const Row& row : shape) {
    if (row.field == name) return value_text(row.value);
  }
  return {};
}

std::optional<double> Analysis::cpu_seconds(CpuColumn column) const {
  if (!runner || !runner->runner || ticks_per_second == 0) return std::nullopt;
  const auto& ticks = runner->runner->at(column).delta_ticks;
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(ticks_per_second);
}

Analysis analyse(const Snapshot& snapshot, const AnalysisOptions& options) { return Analyser(snapshot, options).run(); }

}  // namespace cozy
