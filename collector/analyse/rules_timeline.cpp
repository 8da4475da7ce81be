#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "collector/analyse/timeline_words.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

/// Rules on the seconds between the samples. Where no timeline was written, nothing is claimed.
namespace cozy {

namespace {

constexpr std::size_t k_most_findings = 20;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(k_ns_per_second); }

std::string state_words(const std::string& states) {
  if (states.empty()) return "";
  if (states == "T" || states == "t") return "; its threads were stopped (state T)";
  std::vector<std::string> letters;
  for (const char state : states) letters.emplace_back(1, state);
  return "; its threads were in state " + join(letters, ", ");
}

/// A steal of zero is said only where it could have been seen.
std::string surroundings(const Stall& stall, bool steal_counts) {
  std::vector<std::string> words;
  if (stall.runner_idle) words.push_back("the runner was idle for " + percent_text(*stall.runner_idle));
  if (stall.runner_steal && steal_counts) words.push_back("steal was " + percent_text(*stall.runner_steal));
  if (stall.pressure_cpu) words.push_back("some task stalled for CPU in " + percent_text(*stall.pressure_cpu));
  if (stall.pressure_io) words.push_back("for I/O in " + percent_text(*stall.pressure_io));
  if (stall.throttled_seconds)
    words.push_back("its cgroup was throttled for " + seconds_text(*stall.throttled_seconds));
  return words.empty() ? "" : "; meanwhile " + join(words, ", ");
}

std::string vcpu_words(const Stall& stall) {
  constexpr std::size_t k_most = 8;
  std::string words = stall.vcpus.size() == 1 ? "vCPU" : "vCPUs";
  for (std::size_t i = 0; i < stall.vcpus.size() && i < k_most; ++i)
    words += (i == 0 ? " " : ", ") + std::to_string(stall.vcpus[i]);
  if (stall.vcpus.size() > k_most) words += " and " + std::to_string(stall.vcpus.size() - k_most) + " more";
  return words;
}

/// Most of a loss in few of the seconds.
struct Burst {
  double lost = 0;        ///< in all steps, seconds
  double burst = 0;       ///< in those of the burst
  double length = 0;      ///< of the burst's steps together, seconds
  double watched = 0;     ///< of all steps whose loss is known, seconds
  std::size_t first = 0;  ///< the earliest step of the burst
  std::size_t last = 0;   ///< the latest
};

/// The fewest steps that hold most of the loss; none where they are not few, or little was lost.
std::optional<Burst> burst_of(const std::vector<double>& steps, const LossSteps& loss) {
  constexpr std::size_t k_fewest_steps = 10;
  Burst burst;
  std::vector<std::pair<double, std::size_t>> lost;
  for (std::size_t i = 0; i < steps.size() && i < loss.seconds.size(); ++i) {
    if (!loss.seconds[i]) continue;
    lost.emplace_back(*loss.seconds[i], i);
    burst.lost += *loss.seconds[i];
    burst.watched += steps[i];
  }
  if (lost.size() < k_fewest_steps || !reaches(burst.lost, Threshold::burst_lost)) return std::nullopt;
  std::sort(lost.begin(), lost.end(), std::greater<>());
  burst.first = burst.last = lost.front().second;
  for (const auto& [seconds, step] : lost) {
    if (share_reaches(burst.burst / burst.lost, Threshold::burst_share)) break;
    burst.burst += seconds;
    burst.length += steps[step];
    burst.first = std::min(burst.first, step);
    burst.last = std::max(burst.last, step);
  }
  const bool few = burst.length / burst.watched * 100 <= threshold(Threshold::burst_seconds).value;
  return few ? std::optional(burst) : std::nullopt;
}

Finding burst_finding(const TimelineFacts& facts, const Burst& burst, const std::string& subject,
                      const std::string& lost) {
  double begins = 0;
  for (std::size_t i = 0; i < burst.first; ++i) begins += facts.steps[i];
  double ends = begins;
  for (std::size_t i = burst.first; i <= burst.last; ++i) ends += facts.steps[i];
  Finding finding;
  finding.level = Level::notice;
  finding.subject = subject;
  finding.says = seconds_text(burst.burst) + " of the " + seconds_text(burst.lost) + " that " + lost + " lie in " +
                 seconds_text(burst.length) + " of " + seconds_text(burst.watched) + ", the first at " +
                 timeline_moment(facts, begins);
  finding.weight = std::clamp(burst.burst / burst.watched, 0.0, 1.0);
  finding.timeline_seconds = {begins, ends};
  return finding;
}

}  // namespace

Findings find_vcpu_stalled(const Analysis& analysis) {
  Findings findings;
  if (!analysis.timeline) return findings;
  const TimelineFacts& facts = *analysis.timeline;
  const bool steal_counts = analysis.runner && (analysis.runner->steal == StealVerdict::proved ||
                                                analysis.runner->steal == StealVerdict::none_seen);
  for (const Stall& stall : facts.stalls) {
    if (findings.size() == k_most_findings) break;
    Finding finding;
    finding.level = Level::warning;
    finding.subject = stall.node;
    finding.says =
        vcpu_words(stall) + " of " + finding.subject + " neither ran nor halted for " + seconds_text(stall.seconds()) +
        ", from " + seconds_text(seconds_of(stall.from_ns - facts.begin_ns)) + " to " +
        seconds_text(seconds_of(stall.to_ns - facts.begin_ns)) + " of the timeline (" +
        moment_text(stall.epoch_from_ns) + ")" + state_words(stall.states) + surroundings(stall, steal_counts);
    finding.weight = std::clamp(stall.seconds() / facts.seconds(), 0.0, 1.0);
    finding.timeline_seconds = {seconds_of(stall.from_ns - facts.begin_ns), seconds_of(stall.to_ns - facts.begin_ns)};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_burst_steal(const Analysis& analysis) {
  const bool proved = analysis.runner && analysis.runner->steal == StealVerdict::proved;
  if (!analysis.timeline || !proved) return {};
  const auto burst = burst_of(analysis.timeline->steps, analysis.timeline->steal);
  if (!burst) return {};
  return {burst_finding(*analysis.timeline, *burst, "runner", "steal took")};
}

Findings find_burst_throttle(const Analysis& analysis) {
  Findings findings;
  if (!analysis.timeline) return findings;
  for (const LossSteps& node : analysis.timeline->throttled) {
    const auto burst = burst_of(analysis.timeline->steps, node);
    if (!burst || findings.size() == k_most_findings) continue;
    findings.push_back(
        burst_finding(*analysis.timeline, *burst, node.subject, "the quota of " + node.subject + " took"));
  }
  return findings;
}

Findings find_recorder_starved(const Analysis& analysis) {
  if (!analysis.timeline) return {};
  const TimelineFacts& facts = *analysis.timeline;
  const double due = static_cast<double>(facts.ticks) + static_cast<double>(facts.missed);
  const double bad = static_cast<double>(facts.late) + static_cast<double>(facts.missed);
  constexpr double k_fewest = 3;
  if (bad < k_fewest || !share_reaches(bad / due, Threshold::starved)) return {};
  Finding finding;
  finding.level = Level::notice;
  finding.subject = "runner";
  finding.says = "the recorder of the timeline was late or left ticks out " +
                 std::to_string(facts.late + facts.missed) + " times of " + std::to_string(facts.ticks + facts.missed) +
                 ": it did not get its CPU either";
  return {finding};
}

}  // namespace cozy
