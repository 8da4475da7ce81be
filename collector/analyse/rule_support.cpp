#include "collector/analyse/rule_support.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_evidence = 32;
constexpr std::size_t k_most_names = 6;

/// "srv12" as "srv" and 12; none without a number that reads back the same.
std::optional<std::pair<std::string, std::uint64_t>> numbered(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const auto number = parse_u64(std::string_view(name).substr(digits));
  if (!number || std::to_string(*number).size() != name.size() - digits) return std::nullopt;
  return std::pair(name.substr(0, digits), *number);
}

bool follows(const std::string& before, const std::string& name) {
  const auto a = numbered(before);
  const auto b = numbered(name);
  return a && b && !a->first.empty() && a->first == b->first && a->second + 1 == b->second;
}

}  // namespace

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent >= 9.95 || percent < 0.005) return fixed(percent, 0) + " %";
  return fixed(percent, percent < 0.095 ? 2 : 1) + " %";
}

std::string number_text(double number) {
  if (number >= 999'950) return fixed(number / 1e6, 1) + " M";
  if (number >= 999.5) return fixed(number / 1e3, 1) + " k";
  return fixed(number, number < 99.95 ? 1 : 0);
}

std::string seconds_text(double seconds) { return fixed(seconds, 1) + " s"; }

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> runs;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t last = i;
    while (last + 1 < names.size() && follows(names[last], names[last + 1])) ++last;
    if (last < i + 2) last = i;  // two neighbours are shorter as they are
    if (runs.size() == k_most_names)
      left_out += last - i + 1;
    else
      runs.push_back(escape(names[i]) + (last > i ? ".." + escape(names[last]) : ""));
    i = last + 1;
  }
  if (left_out > 0) runs.push_back(std::to_string(left_out) + " more");
  return join(runs, ", ");
}

MedianOfOthers::MedianOfOthers(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
}

std::optional<double> MedianOfOthers::without(double value) const {
  if (sorted_.size() < 2) return std::nullopt;
  const auto left_out =
      static_cast<std::size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), value) - sorted_.begin());
  const auto other = [&](std::size_t i) { return sorted_[i < left_out ? i : i + 1]; };
  const std::size_t count = sorted_.size() - 1;
  return count % 2 == 1 ? other(count / 2) : (other(count / 2 - 1) + other(count / 2)) / 2;
}

double vcpu_window_seconds(const NodeBudget& node) {
  return node.sum.window_seconds / static_cast<double>(node.vcpus.size());
}

std::optional<Interval> window_of(const NodeBudget& node) {
  return node.vcpus.empty() ? node.process.window : node.vcpus.front().window;
}

bool has_judged_vcpus(const NodeBudget& node) {
  return node.state == NodeState::present && !node.vcpus.empty() && node.sum.window_seconds > 0 &&
         node.sum.base_seconds > 0 && can_be_judged(window_of(node)) && !passes_its_window(node);
}

bool passes_its_window(const NodeBudget& node) {
  return std::any_of(node.vcpus.begin(), node.vcpus.end(), [](const VcpuTime& vcpu) {
    const double over = vcpu.over_seconds.value_or(0);
    return over > 0 && over * 100 > threshold(Threshold::widest_excess).value * vcpu.parts.window_seconds;
  });
}

std::vector<const NodeBudget*> judged_nodes(const Analysis& analysis) {
  std::vector<const NodeBudget*> nodes;
  for (const NodeBudget& node : analysis.nodes) {
    if (has_judged_vcpus(node)) nodes.push_back(&node);
  }
  return nodes;
}

std::string caveat_of(const Analysis& analysis, const NodeBudget& node) {
  if (node.impossible) return " (its parts passed the window and were scaled to it)";
  const ComparedPair* pair = analysis.pair(k_threads_capture);
  const bool partial = node.vcpus_unpaired > 0 || (pair != nullptr && pair->partial);
  return partial ? " (of the vCPU threads that both samples hold)" : "";
}

EvidenceList::EvidenceList(const Analysis& analysis, std::string_view capture)
    : pair_(analysis.pair(capture)), capture_(capture) {}

bool EvidenceList::add(std::string_view scope, std::string_view field) {
  const ComparedRow* row = pair_ == nullptr ? nullptr : pair_->rows.find(scope, field);
  if (row != nullptr) add(Evidence{capture_, row->scope, row->field, row->before, row->after});
  return row != nullptr;
}

void EvidenceList::add(Evidence evidence) {
  if (list_.size() < k_most_evidence) list_.push_back(std::move(evidence));
}

std::string thread_scope(const NodeBudget& node, std::uint64_t tid) {
  const auto pid = node.pid_before ? node.pid_before : node.pid_after;
  return "thread " + std::to_string(pid.value_or(0)) + "/" + std::to_string(tid);
}

std::string process_scope(std::uint64_t pid) { return "process " + std::to_string(pid); }

void add_vcpu_evidence(const NodeBudget& node, std::string_view field, EvidenceList& list) {
  constexpr std::size_t k_most_vcpus = 8;  // of one node, so that others of a finding have room
  for (std::size_t i = 0; i < std::min(node.vcpus.size(), k_most_vcpus); ++i) {
    list.add(thread_scope(node, node.vcpus[i].tid), field);
  }
}

}  // namespace cozy
