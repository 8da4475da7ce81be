#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

/// Rules on the report itself: what is open because it was not read, and whether anything is left to say.
namespace cozy {

namespace {

struct Question {
  std::string_view capture;
  std::string_view open;
};

/// What nobody can say without a capture.
constexpr std::array<Question, 7> k_questions{{
    {k_cpu_time_capture, "whether the machine under the runner held it back, and what its CPUs did, is open"},
    {k_threads_capture, "whether the nodes waited for CPU is open"},
    {k_kvm_capture, "whether a vCPU off the CPU was halted or blocked, and what its exits cost, is open"},
    {k_cgroup_capture, "whether a CPU quota throttled the nodes is open"},
    {k_pressure_capture, "whether tasks of the runner stalled for CPU, I/O or memory is open"},
    {"runner-steal-clock", "whether this machine can show steal is open"},
    {"runner-shape", "what machine this is, and so whether another report is of the same kind, is open"},
}};

std::string question_of(std::string_view capture) {
  for (const Question& question : k_questions) {
    if (question.capture == capture) return std::string(question.open);
  }
  return "what it would have said is open";
}

Finding open_question(std::string subject, std::string says) {
  Finding finding;
  finding.level = Level::notice;
  finding.subject = std::move(subject);
  finding.says = std::move(says);
  return finding;
}

/// One finding for both samples of a capture that fell short in the same way.
Findings of_shortfalls(const Analysis& analysis) {
  Findings findings;
  const auto& all = analysis.shortfalls;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Shortfall& one = all[i];
    const auto same = [&](const Shortfall& other) {
      return other.capture == one.capture && other.outcome == one.outcome && other.reason == one.reason;
    };
    const auto here = all.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(all.begin(), here, same)) continue;
    const bool twice = std::any_of(here + 1, all.end(), same);
    const std::string subject = one.capture + (twice ? " samples 1 and 2" : " sample " + std::to_string(one.sample));
    std::string says = subject;
    // A whole reading falls short where it holds nothing to compare: then the reason is all there is to say.
    if (one.outcome == Outcome::complete) says += ": " + one.reason;
    if (one.outcome != Outcome::complete) says += (twice ? " are " : " is ") + std::string(outcome_name(one.outcome));
    if (one.outcome != Outcome::complete && !one.reason.empty()) says += " (" + one.reason + ")";
    findings.push_back(open_question(subject, says + ": " + question_of(one.capture)));
  }
  return findings;
}

/// One finding for all that a report of the shell collectors cannot hold.
void add_not_written(const Analysis& analysis, Findings& findings) {
  if (analysis.not_written.empty()) return;
  std::vector<std::string> questions;
  for (const std::string& capture : analysis.not_written) questions.push_back(question_of(capture));
  findings.push_back(open_question(
      "report", "the shell collectors write no " + join(analysis.not_written, ", ") + ": " + join(questions, "; ")));
}

bool falls_short(const Analysis& analysis, std::string_view capture) {
  return std::any_of(analysis.shortfalls.begin(), analysis.shortfalls.end(),
                     [&](const Shortfall& shortfall) { return shortfall.capture == capture; });
}

/// Steal alone never clears the runner, and the threads alone do not either: without one of these two there is
/// no good news, even where nobody asked for it.
void add_not_asked(const Analysis& analysis, Findings& findings) {
  for (const std::string_view capture : {k_cpu_time_capture, k_threads_capture}) {
    const bool compared = capture == k_cpu_time_capture ? analysis.runner.has_value()
                                                        : !analysis.nodes.empty() || analysis.pair(capture) != nullptr;
    if (compared || falls_short(analysis, capture)) continue;
    const std::string name(capture);
    findings.push_back(open_question(name, name + " was not asked for: " + question_of(capture)));
  }
}

void add_runner(const Analysis& analysis, Findings& findings) {
  if (!analysis.runner) return;
  const std::string name(k_cpu_time_capture);
  const std::vector<std::string>& beyond = analysis.runner->beyond_time;
  if (!beyond.empty()) {
    findings.push_back(open_question(name, name + " has rows that grew by far more than there was time (" +
                                               names_text(beyond) + "): what these CPUs did is open"));
  }
  if (!analysis.runner->container_view.empty()) {
    const std::string& why = analysis.runner->container_view.front();
    findings.push_back(open_question(name, name + " is a container's view (" + why + "): " + question_of(name)));
  } else if (beyond.empty() && !has_judged_runner(analysis)) {
    findings.push_back(
        open_question(name, name + " counts less CPU time than rates are made of: " + question_of(name)));
  }
}

std::string distance_words(const std::optional<Interval>& window) {
  if (!window) return "has no stamps to divide by";
  return "has readings that lie " + fixed(window->seconds(), 3) + " s apart, known to " +
         fixed(window->error_seconds(), 3) + " s, of which no rate is judged";
}

/// Why a node, or a part of it, has no numbers.
enum class Lack {
  none,
  process,
  first_sample,
  one_sample,
  window,
  excess,
  vcpus,
  fell,
  waiting,
  halts,
  moved,
  recreated,
  throttling,
};

Lack lack_of(const NodeBudget& node) {
  switch (node.state) {
    case NodeState::no_process:
      return Lack::process;
    case NodeState::appeared:
      return Lack::first_sample;
    case NodeState::unread:
      return Lack::one_sample;
    case NodeState::left:
    case NodeState::restarted:
      return Lack::none;  // findings of their own
    case NodeState::present:
      break;
  }
  if (!can_be_judged(window_of(node))) return Lack::window;
  if (passes_its_window(node)) return Lack::excess;
  return node.vcpus_unpaired == 0 ? Lack::none : Lack::vcpus;
}

/// Why nothing is known of a quota. A cgroup that could not be read is a shortfall of its capture.
Lack lack_of_cgroup(const NodeBudget& node) {
  if (node.state != NodeState::present || !node.cgroup) return Lack::none;
  if (node.cgroup->state == CgroupState::moved) return Lack::moved;
  if (node.cgroup->state == CgroupState::recreated) return Lack::recreated;
  const auto levels = levels_of(*node.cgroup);
  const bool uncounted = std::any_of(levels.begin(), levels.end(), [](const CgroupLevel& level) {
    return level.limited.value_or(false) && !level.throttled_periods && !level.throttled_seconds;
  });
  return uncounted ? Lack::throttling : Lack::none;
}

/// Of the first of the nodes that lack the same.
std::string lack_words(Lack lack, const NodeBudget& node) {
  switch (lack) {
    case Lack::none:
      break;
    case Lack::process:
      return "has no process in either sample";
    case Lack::first_sample:
      return "is in sample 2 only";
    case Lack::one_sample:
      return "was read in one sample only, and the other is less than whole";
    case Lack::window:
      return distance_words(window_of(node));
    case Lack::excess:
      return "has a vCPU that ran and waited for longer than there was time";
    case Lack::vcpus:
      return "has " + std::to_string(node.vcpus_unpaired) + " vCPU threads in one sample only";
    case Lack::fell:
      return "has counters that went back";
    case Lack::waiting:
      return "has no waiting time of its vCPU threads (no schedstat)";
    case Lack::halts:
      return "has no halts that KVM's statistics tie to it";
    case Lack::moved:
      return "has moved to another cgroup between the samples";
    case Lack::recreated:
      return "has a cgroup that was removed and made again between the samples";
    case Lack::throttling:
      return "has a CPU quota whose throttling was not read in both samples";
  }
  return "";
}

std::string lack_question(Lack lack) {
  if (lack == Lack::waiting) return question_of(k_threads_capture);
  if (lack == Lack::halts) return "whether its vCPUs off the CPU were halted or blocked is open";
  if (lack == Lack::moved || lack == Lack::recreated || lack == Lack::throttling) return question_of(k_cgroup_capture);
  return "where the time of its vCPUs went is open";
}

/// Nodes that lack the same share a finding: a report can hold a thousand.
class NodeLacks {
 public:
  void add(Lack lack, const NodeBudget& node) {
    Group& group = groups_[lack];
    if (group.names.empty()) group.words = lack_words(lack, node);
    group.names.push_back(node.name);
  }

  void take_into(Findings& findings) const {
    for (const auto& [lack, group] : groups_) {
      const bool several = group.names.size() > 1;
      const std::string subject = names_text(group.names);
      const std::string says = subject + (several ? " each " : " ") + group.words + ": " + lack_question(lack);
      findings.push_back(open_question(subject, says));
    }
  }

 private:
  struct Group {
    std::string words;
    std::vector<std::string> names;
  };

  std::map<Lack, Group> groups_;
};

void add_nodes(const Analysis& analysis, Findings& findings) {
  NodeLacks lacks;
  for (const NodeBudget& node : analysis.nodes) {
    const Lack lack = lack_of(node);
    if (lack != Lack::none) lacks.add(lack, node);
    const Lack of_cgroup = lack_of_cgroup(node);
    if (of_cgroup != Lack::none) lacks.add(of_cgroup, node);
    if (!has_judged_vcpus(node)) continue;
    const bool whole = node.sum.ran_seconds && node.sum.waited_seconds && node.sum.halted_seconds;
    const bool fell = !node.went_back.empty() && (!whole || !node.exits_per_second);
    if (fell) lacks.add(Lack::fell, node);
    if (!node.sum.waited_seconds && !fell) lacks.add(Lack::waiting, node);
    const bool matters = share_reaches(node.sum.share(node.sum.rest_seconds).value_or(0), Threshold::blocked);
    const bool said = falls_short(analysis, k_kvm_capture);
    if (!node.sum.halted_seconds && matters && !said && !fell) lacks.add(Lack::halts, node);
  }
  lacks.take_into(findings);
  if (analysis.nodes.empty() && analysis.pair(k_threads_capture) != nullptr) {
    const std::string name(k_threads_capture);
    findings.push_back(open_question(name, name + " names no QEMU process: " + question_of(name)));
  }
}

/// Of the runner and of the nodes both, or there is no good news.
bool every_layer_was_judged(const Analysis& analysis) {
  return has_judged_runner(analysis) && !judged_nodes(analysis).empty();
}

}  // namespace

Findings find_incomplete(const Analysis& analysis) {
  Findings findings;
  if (analysis.truncated) {
    findings.push_back(open_question("report", "the report is truncated: whether it held more is open"));
  }
  for (Finding& finding : of_shortfalls(analysis)) findings.push_back(std::move(finding));
  add_not_asked(analysis, findings);
  add_runner(analysis, findings);
  add_nodes(analysis, findings);
  const ComparedPair* kvm = analysis.pair(k_kvm_capture);
  if (kvm != nullptr && !can_be_judged(kvm->interval)) {
    const std::string name(k_kvm_capture);
    findings.push_back(open_question(name, name + " " + distance_words(kvm->interval) + ": what exits cost is open"));
  }
  add_not_written(analysis, findings);
  return findings;
}

Findings find_nothing_unusual(const Analysis& analysis) {
  if (!analysis.findings.empty() || !every_layer_was_judged(analysis)) return {};
  std::vector<std::string> captures;
  for (const ComparedPair& pair : analysis.pairs) captures.push_back(pair.capture);
  Finding finding;
  finding.subject = "report";
  finding.says = "every layer that was read was read whole, and no rule holds";
  if (!captures.empty()) finding.says += " (" + join(captures, ", ") + ")";
  return {finding};
}

}  // namespace cozy
