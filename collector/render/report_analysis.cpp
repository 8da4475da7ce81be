#include "collector/render/report_analysis.hpp"

#include "collector/render/neutral.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::string arm_words(const CanaryArm& arm) {
  std::string words = neutral_escaped(arm.name);
  if (arm.rate_per_second) words += " " + std::to_string(*arm.rate_per_second) + " " + neutral_escaped(arm.unit) + "/s";
  if (arm.result != CanaryResult::rated) words += " " + std::string(canary_result_name(arm.result));
  std::string detail = neutral_escaped(arm.work);
  if (arm.elapsed_ms) detail += (detail.empty() ? "" : " in ") + std::to_string(*arm.elapsed_ms) + " ms";
  if (!detail.empty()) words += " (" + detail + ")";
  if (arm.below_floor && arm.floor_per_second)
    words += ", below its floor of " + std::to_string(*arm.floor_per_second) + "/s";
  return words;
}

/// What is kept under a name; nothing where there is none.
template <class Lists>
const typename Lists::mapped_type& list_of(const Lists& lists, const std::string& name) {
  static const typename Lists::mapped_type k_none;
  const auto found = lists.find(name);
  return found == lists.end() ? k_none : found->second;
}

}  // namespace

const std::vector<Canary>& ReportAnalysis::canaries_of(const Analysis& snapshot) const {
  return list_of(canaries, snapshot.snapshot);
}

const std::vector<std::string>& ReportAnalysis::markers_of(const Analysis& snapshot) const {
  return list_of(markers, snapshot.snapshot);
}

ReportAnalysis describe(const Report& report) {
  ReportAnalysis described;
  described.path = report.path;
  if (report.origin != Origin::unknown) described.origin = origin_name(report.origin);
  described.truncated = report.truncated;
  described.truncated_why = report.truncated_why;
  described.notes = report.notes;
  for (const RefusedEntry& entry : report.refused) described.refused.push_back(entry.name + ": " + entry.reason);
  for (const Snapshot& snapshot : report.snapshots) {
    if (!snapshot.canaries.empty()) described.canaries[snapshot.name] = snapshot.canaries;
    for (const Marker& marker : snapshot.markers) {
      if (marker.capture.empty()) described.markers[snapshot.name].push_back(marker.name);
    }
  }
  return described;
}

std::string truncated_sentence(const ReportAnalysis& report) {
  const std::string why = report.truncated_why.empty() ? "" : " (" + neutral_escaped(report.truncated_why) + ")";
  return "The report is truncated" + why + ": it was analysed as far as it goes.";
}

std::vector<std::string> canary_sentences(const std::vector<Canary>& canaries) {
  std::vector<std::string> sentences;
  for (const Canary& canary : canaries) {
    std::vector<std::string> arms;
    for (const CanaryArm& arm : canary.arms) arms.push_back(arm_words(arm));
    std::string sentence = "canary sample " + std::to_string(canary.sample) + ": ";
    sentence += arms.empty() ? "no reading" : join(arms, "; ");
    if (canary.unbounded) sentence += "; no ceiling was in force";
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace cozy
