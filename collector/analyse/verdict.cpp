#include "collector/analyse/verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/rules.hpp"
#include "collector/analyse/timeline_words.hpp"
#include "probes/clock.hpp"

namespace cozy {

namespace {

bool names_layer(const Finding& finding) {
  const Rule* rule = find_rule(finding.id);
  return rule != nullptr && !rule->layer.empty() && finding.level != Level::info;
}

std::vector<const Finding*> findings_of(const Analysis& analysis, std::string_view id) {
  std::vector<const Finding*> found;
  for (const Finding& finding : analysis.findings) {
    if (finding.id == id) found.push_back(&finding);
  }
  return found;
}

std::string layer_sentence(const Analysis& analysis, const Finding& finding) {
  std::string sentence = std::string(find_rule(finding.id)->layer) + ": " + finding.says;
  std::set<std::string> said{finding.subject};
  std::vector<std::string> others;
  for (const Finding* same : findings_of(analysis, finding.id)) {
    if (said.insert(same->subject).second) others.push_back(same->subject);
  }
  if (!others.empty()) sentence += "; the same holds for " + names_text(others);
  return sentence;
}

/// A long window hides seconds in which a node stood still: what decides by averages does not speak without them.
std::string stall_words(const Analysis& analysis, const Finding& deciding) {
  const bool told = deciding.id == "vcpu-stalled" || deciding.id == "node-stopped";
  if (told || findings_of(analysis, "vcpu-stalled").empty() || !analysis.timeline || analysis.timeline->stalls.empty())
    return "";
  const TimelineFacts& facts = *analysis.timeline;
  const Stall& longest = facts.stalls.front();
  const double from = static_cast<double>(longest.from_ns - facts.begin_ns) / static_cast<double>(k_ns_per_second);
  return "; and vCPUs of " + longest.node + " stood still for " + seconds_text(longest.seconds()) + " at " +
         timeline_moment(facts, from);
}

std::string more_words(std::size_t more) {
  return more == 0 ? ""
                   : "; " + std::to_string(more) + " more " + (more == 1 ? "question is" : "questions are") + " open";
}

/// Findings that leave a question and name no layer: incomplete, and the like.
std::vector<const Finding*> open_questions(const Analysis& analysis) {
  std::vector<const Finding*> open = findings_of(analysis, "incomplete");
  for (const Finding& finding : analysis.findings) {
    const bool other = finding.id != "incomplete" && finding.id != "nothing-unusual" && !names_layer(finding);
    if (other) open.push_back(&finding);
  }
  return open;
}

/// How bad a snapshot is: what its verdict is made of, then what is open.
std::tuple<int, double, std::size_t> severity(const Analysis& analysis) {
  const std::size_t open = open_questions(analysis).size();
  const Finding* finding = deciding_finding(analysis);
  if (finding != nullptr) return {finding->level == Level::warning ? 3 : 2, finding->weight, open};
  return {open > 0 ? 1 : 0, 0, open};
}

}  // namespace

const Finding* deciding_finding(const Analysis& analysis) {
  const Finding* best = nullptr;
  for (const Finding& finding : analysis.findings) {
    if (!names_layer(finding)) continue;
    const auto key = [](const Finding& f) { return std::tuple(f.level, f.weight); };
    if (best == nullptr || key(*best) < key(finding)) best = &finding;
  }
  return best;
}

std::string verdict_of(const Analysis& analysis) {
  if (analysis.last_sample < 2) return {};
  const std::vector<const Finding*> open = open_questions(analysis);
  if (const Finding* finding = deciding_finding(analysis)) {
    const std::string sentence = layer_sentence(analysis, *finding) + stall_words(analysis, *finding);
    // A notice alone does not claim to be the whole answer.
    const bool whole = finding->level == Level::warning || open.empty();
    return whole ? sentence : sentence + "; open: " + open.front()->says + more_words(open.size() - 1);
  }
  if (!open.empty()) {
    const std::string known = open.front()->id == "incomplete" ? "what took the time is open: "
                                                               : "nothing that was read took the time; open: ";
    return known + open.front()->says + more_words(open.size() - 1);
  }
  const auto nothing = findings_of(analysis, "nothing-unusual");
  if (!nothing.empty()) return "nothing unusual: " + nothing.front()->says;
  return "what took the time is open: no layer was read";
}

void sort_worst_first(std::vector<Analysis>& analyses) {
  std::stable_sort(analyses.begin(), analyses.end(),
                   [](const Analysis& a, const Analysis& b) { return severity(b) < severity(a); });
}

}  // namespace cozy
