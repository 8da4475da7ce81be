#include <algorithm>
#include <optional>
#include <string>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/clock.hpp"

namespace cozy {

namespace {

std::optional<std::int64_t> begin_of_sample_2_ns(const Analysis& analysis) {
  std::optional<std::int64_t> begin_ns;
  for (const CaptureState& capture : analysis.captures) {
    if (capture.sample != 2 || !capture.begin || capture.begin->boottime_ns == 0) continue;
    begin_ns = std::min(begin_ns.value_or(INT64_MAX), capture.begin->boottime_ns);
  }
  return begin_ns;
}

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(k_ns_per_second); }

}  // namespace

Findings find_timeline_short(const Analysis& analysis) {
  const auto sample_2_ns = begin_of_sample_2_ns(analysis);
  if (!analysis.timeline || !sample_2_ns || *sample_2_ns <= analysis.timeline->end_ns) return {};
  const TimelineFacts& facts = *analysis.timeline;
  const double missing = seconds_of(*sample_2_ns - facts.end_ns);
  const double whole = seconds_of(*sample_2_ns - facts.begin_ns);
  if (!reaches(missing, Threshold::short_missing) || !share_reaches(missing / whole, Threshold::short_share)) return {};
  Finding finding;
  finding.level = Level::notice;
  finding.subject = "timeline";
  finding.says =
      "the timeline ends after " + seconds_text(facts.seconds()) + ", " + seconds_text(missing) +
      " before sample 2: " + (facts.end ? std::string(timeline_end_words(*facts.end)) : "its recorder was killed");
  finding.weight = std::clamp(missing / whole, 0.0, 1.0);
  return {finding};
}

}  // namespace cozy
