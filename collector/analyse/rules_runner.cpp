#include <algorithm>
#include <string>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

/// Rules on the runner: its own CPU time and its pressure.
namespace cozy {

namespace {

constexpr std::string_view k_runner = "runner";

Evidence steal_evidence(const CpuRow& row) {
  const ColumnTime& steal = row.at(CpuColumn::steal);
  Evidence evidence{std::string(k_cpu_time_capture), row.name, "steal", std::nullopt, std::nullopt};
  if (steal.before) evidence.before = *steal.before;
  if (steal.after) evidence.after = *steal.after;
  return evidence;
}

/// The kernel's first row where it counts, and the CPUs on which the column is what the finding is about.
std::vector<Evidence> steal_rows(const Analysis& analysis, bool (*about)(const ColumnTime&)) {
  EvidenceList list(analysis, k_cpu_time_capture);
  const CpuTime& time = *analysis.runner;
  if (time.aggregate) list.add(steal_evidence(*time.aggregate));
  for (const CpuRow& cpu : time.cpus) {
    if (about(cpu.at(CpuColumn::steal))) list.add(steal_evidence(cpu));
  }
  return list.take();
}

std::string window_words(const Analysis& analysis) {
  const auto& interval = analysis.runner->interval;
  return interval ? " in " + seconds_text(interval->seconds()) : "";
}

/// One of the three resources of /proc/pressure.
struct Resource {
  ResourcePressure Pressure::*of;
  std::string_view scope;
  std::string name;
  Threshold from;
};

/// The counters of "some": its averages are instant values, and no evidence.
std::vector<Evidence> pressure_rows(const ComparedPair& pair, std::string_view scope) {
  std::vector<Evidence> list;
  for (const ComparedRow& row : pair.rows.rows()) {
    if (row.scope != scope || !row.field.starts_with("some") || row.change != Change::rate) continue;
    list.push_back({pair.capture, row.scope, row.field, row.before, row.after});
  }
  return list;
}

Findings pressure(const Analysis& analysis, const Resource& resource) {
  const auto some = analysis.pressure ? (*analysis.pressure.*resource.of).some : std::nullopt;
  if (!some) return {};
  const double share = *some;
  const ComparedPair* pair = analysis.pair(k_pressure_capture);
  const bool judged = pair == nullptr || can_be_judged(pair->interval);
  if (!judged || !share_reaches(share, resource.from)) return {};
  Finding finding;
  finding.level = Level::notice;
  finding.subject = k_runner;
  finding.says =
      "some task of the runner was stalled for " + resource.name + " in " + percent_text(share) + " of the window";
  if (pair != nullptr && pair->interval) finding.says += " of " + seconds_text(pair->interval->seconds());
  if (pair != nullptr) finding.evidence = pressure_rows(*pair, resource.scope);
  finding.weight = std::clamp(share, 0.0, 1.0);
  return {finding};
}

}  // namespace

bool has_judged_runner(const Analysis& analysis) {
  if (!analysis.runner || !analysis.runner->runner || analysis.ticks_per_second == 0) return false;
  const CpuTime& time = *analysis.runner;
  const auto& ticks = time.runner->total_ticks;
  if (!ticks || *ticks == 0) return false;
  if (time.cpus.empty()) return can_be_judged(time.interval);  // how many CPUs counted them is not known
  const double cpu_ticks = static_cast<double>(*ticks) / static_cast<double>(time.cpus.size());
  return reaches(cpu_ticks / static_cast<double>(analysis.ticks_per_second), Threshold::shortest_window);
}

Findings find_runner_preempted(const Analysis& analysis) {
  if (!has_judged_runner(analysis) || analysis.runner->steal != StealVerdict::proved) return {};
  const CpuTime& time = *analysis.runner;
  const auto share = time.runner->share(CpuColumn::steal);
  if (!share || !share_reaches(*share, Threshold::steal_notice)) return {};
  Finding finding;
  finding.level = share_reaches(*share, Threshold::steal_warning) ? Level::warning : Level::notice;
  finding.subject = k_runner;
  finding.says = "steal took " + percent_text(*share) + " of the CPU time of " + std::to_string(time.cpus.size()) +
                 (time.cpus.size() == 1 ? " CPU" : " CPUs") + window_words(analysis);
  finding.evidence = steal_rows(analysis, [](const ColumnTime& steal) { return steal.delta_ticks.value_or(0) > 0; });
  finding.weight = *share;
  return {finding};
}

Findings find_steal_not_observable(const Analysis& analysis) {
  const auto& time = analysis.runner;
  // A container's view says nothing of the runner at all: that is `incomplete`. Without a hypervisor there is
  // nobody to steal.
  const bool asked = time && time->container_view.empty() && time->steal == StealVerdict::not_observable;
  if (!asked || analysis.steal_clock.nobody_to_steal) return {};
  Finding finding;
  finding.subject = k_runner;
  const bool read = time->runner && time->runner->at(CpuColumn::steal).delta_ticks;
  finding.says = std::string(read ? "steal did not climb" : "no steal column was read in both samples") +
                 ", and nothing says that this machine could show it";
  if (!analysis.steal_clock.why.empty()) finding.says += ": " + analysis.steal_clock.why;
  finding.evidence = steal_rows(analysis, [](const ColumnTime&) { return false; });
  return {finding};
}

Findings find_steal_unusable(const Analysis& analysis) {
  const auto& time = analysis.runner;
  if (!time || !time->container_view.empty() || time->steal != StealVerdict::unusable) return {};
  const auto fell = [](const ColumnTime& steal) { return steal.fell; };
  const bool went_back = (time->aggregate && fell(time->aggregate->at(CpuColumn::steal))) ||
                         std::any_of(time->cpus.begin(), time->cpus.end(),
                                     [&](const CpuRow& row) { return fell(row.at(CpuColumn::steal)); });
  Finding finding;
  finding.level = Level::notice;
  finding.subject = k_runner;
  finding.says = went_back ? "the steal column went back" : "the steal column grew by more than the CPUs could lose";
  if (!went_back && time->available_ticks) {
    finding.says += " (" + fixed(*time->available_ticks, 0) + " ticks" + window_words(analysis) + ")";
  }
  finding.says += ": the shares are of the other seven columns";
  finding.evidence =
      went_back ? steal_rows(analysis, fell)
                : steal_rows(analysis, [](const ColumnTime& steal) { return steal.delta_ticks.value_or(0) > 0; });
  return {finding};
}

Findings find_pressure_cpu(const Analysis& analysis) {
  return pressure(analysis, {&Pressure::cpu, "cpu", "CPU", Threshold::pressure_cpu});
}

Findings find_pressure_io(const Analysis& analysis) {
  return pressure(analysis, {&Pressure::io, "io", "I/O", Threshold::pressure_io});
}

Findings find_pressure_memory(const Analysis& analysis) {
  return pressure(analysis, {&Pressure::memory, "memory", "memory", Threshold::pressure_memory});
}

}  // namespace cozy
