#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "collector/analyse/timeline_words.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_findings = 20;

/// Steps of a node together: those whose share is known.
struct Part {
  double seconds = 0;
  double ran = 0;  ///< of one vCPU on average, seconds
  double waited = 0;

  void add(const NodeSteps& node, std::size_t step, double length) {
    if (!node.ran[step]) return;
    seconds += length;
    ran += *node.ran[step] * length;
    waited += node.waited[step].value_or(0) * length;
  }
  [[nodiscard]] double ran_share() const { return seconds > 0 ? ran / seconds : 0; }
};

/// The first step from which on the node ran for real: it did in the step, and in the mean of the window that begins
/// with it and lies in the timeline whole.
std::optional<std::size_t> first_run(const std::vector<double>& steps, const NodeSteps& node) {
  const auto runs = [](double share) { return share_reaches(share, Threshold::late_begun); };
  std::size_t end = 0;
  double length = 0;
  double ran = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (; end < steps.size() && !reaches(length, Threshold::late_window); ++end) {
      length += steps[end];
      ran += node.ran[end].value_or(0) * steps[end];
    }
    if (!reaches(length, Threshold::late_window)) return std::nullopt;
    if (runs(ran / length) && runs(node.ran[step].value_or(0))) return step;
    length -= steps[step];
    ran -= node.ran[step].value_or(0) * steps[step];
  }
  return std::nullopt;
}

/// Most of the time up to `until` its vCPUs stood still: that is no idleness, and told of by itself.
bool stood_still(const TimelineFacts& facts, const std::string& node, double until) {
  double seconds = 0;
  for (const Stall& stall : facts.stalls) {
    const std::int64_t end_ns =
        facts.begin_ns + static_cast<std::int64_t>(until * static_cast<double>(k_ns_per_second));
    const std::int64_t inside_ns = std::min(stall.to_ns, end_ns) - std::max(stall.from_ns, facts.begin_ns);
    if (stall.node == node && inside_ns > 0) seconds += static_cast<double>(inside_ns) / 1e9;
  }
  return seconds > until / 2;
}

/// How a node began that did next to nothing for long.
struct LateStart {
  double idle = 0;    ///< seconds from the timeline's begin
  double unseen = 0;  ///< of these, before its QEMU was seen
  Part before;
  Part after;
};

std::optional<LateStart> late_start(const TimelineFacts& facts, const NodeSteps& node) {
  const auto first = first_run(facts.steps, node);
  if (!first) return std::nullopt;
  LateStart start;
  for (std::size_t step = 0; step < facts.steps.size(); ++step) {
    if (step < *first) {
      start.idle += facts.steps[step];
      if (start.before.seconds <= 0 && !node.ran[step]) start.unseen = start.idle;
    }
    (step < *first ? start.before : start.after).add(node, step, facts.steps[step]);
  }
  const bool long_enough =
      reaches(start.idle, Threshold::late_idle) && share_reaches(start.idle / facts.seconds(), Threshold::late_part);
  const double did = start.before.seconds > 0 ? (start.before.ran + start.before.waited) / start.before.seconds : 0;
  if (!long_enough || 100 * did > threshold(Threshold::late_ran).value) return std::nullopt;
  return stood_still(facts, node.node, start.idle) ? std::nullopt : std::optional(start);
}

/// What was not read for a part of the idle time is neither idle nor absent.
bool is_known(const LateStart& start) {
  return start.before.seconds + start.unseen >= start.idle * (100 - threshold(Threshold::late_ran).value) / 100;
}

std::string words(const TimelineFacts& facts, const std::string& node, const LateStart& start) {
  std::string text = node;
  if (start.unseen > 0) text = "no QEMU of " + node + " was seen";
  if (start.before.seconds > 0) {
    if (start.unseen > 0) text += " for the first " + seconds_text(start.unseen) + ", and it";
    text += " ran " + percent_text(start.before.ran_share()) + " of its vCPUs' time";
  }
  text += " until " + timeline_moment(facts, start.idle) + ", then ";
  if (start.before.seconds <= 0) text += "it ran ";
  return text + percent_text(start.after.ran_share()) + " over the next " + seconds_text(start.after.seconds);
}

/// A process that is no node by any evidence is not waited for.
bool is_no_node(const std::string& name) { return name.starts_with("process "); }

}  // namespace

Findings find_late_start(const Analysis& analysis) {
  Findings findings;
  if (!analysis.timeline) return findings;
  const TimelineFacts& facts = *analysis.timeline;
  for (const NodeSteps& node : facts.nodes) {
    if (findings.size() == k_most_findings) break;
    const auto start = late_start(facts, node);
    if (!start || !is_known(*start) || (start->unseen > 0 && is_no_node(node.node))) continue;
    Finding finding;
    finding.level = Level::notice;
    finding.subject = node.node;
    finding.says = words(facts, finding.subject, *start);
    finding.weight = std::clamp(start->idle / facts.seconds(), 0.0, 1.0);
    finding.timeline_seconds = {0, start->idle};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cozy
