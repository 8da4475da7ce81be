#include "collector/render/node_kvm_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "collector/render/neutral.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_widest_bar = 30;
constexpr std::size_t k_first_edge = 10;  // 2^10 ns: what is shorter stands in one bar
constexpr std::size_t k_most_buckets = 63;

/// Buckets that share a bar: from `first` to below `end`.
struct Group {
  std::size_t first = 0;
  std::size_t end = 0;
  std::uint64_t count = 0;
};

/// 2^power nanoseconds: "1.0 us", "67 ms".
std::string length_text(std::size_t power) {
  double value = std::ldexp(1.0, static_cast<int>(power));
  constexpr std::array<std::string_view, 4> k_units{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < k_units.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.1f" : "%.0f", value);
  return std::string(text.data()) + " " + std::string(k_units[unit]);
}

/// Two buckets to a bar, a factor of four; the last bucket has no upper end and stands alone.
std::vector<Group> groups_of(const std::vector<std::uint64_t>& counts) {
  std::vector<Group> groups;
  const std::size_t last = counts.size() - 1;
  for (std::size_t first = 0; first < counts.size();) {
    std::size_t end = first == 0 ? k_first_edge + 1 : first + 2;
    end = first < last ? std::min(end, last) : counts.size();
    Group group{first, end, 0};
    for (std::size_t bucket = first; bucket < end; ++bucket) group.count += counts[bucket];
    groups.push_back(group);
    first = end;
  }
  const auto filled = [](const Group& group) { return group.count > 0; };
  groups.erase(std::find_if(groups.rbegin(), groups.rend(), filled).base(), groups.end());
  groups.erase(groups.begin(), std::find_if(groups.begin(), groups.end(), filled));
  return groups;
}

std::string range_text(const Group& group, std::size_t buckets) {
  if (group.first == 0) return "below " + length_text(group.end - 1);
  const std::string from = length_text(group.first - 1);
  return group.end == buckets ? from + " and longer" : from + " to " + length_text(group.end - 1);
}

}  // namespace

std::optional<BarChart> halt_chart(const NodeBudget& node) {
  if (!node.kvm) return std::nullopt;
  const std::vector<std::uint64_t>& counts = node.kvm->halts.counts;
  if (counts.size() < 2 || counts.size() > k_most_buckets || node.kvm->halts.ended() == 0) return std::nullopt;
  std::vector<Group> groups = groups_of(counts);
  std::uint64_t most = 0;
  for (const Group& group : groups) most = std::max(most, group.count);
  std::vector<std::vector<std::string>> cells;
  for (const Group& group : groups) {
    const double share = static_cast<double>(group.count) / static_cast<double>(most);
    auto bar = static_cast<std::size_t>(std::llround(share * static_cast<double>(k_widest_bar)));
    if (group.count > 0) bar = std::max<std::size_t>(bar, 1);
    cells.push_back({range_text(group, counts.size()), std::to_string(group.count), std::string(bar, '#')});
  }
  BarChart chart{neutral(node.name) + ": " + std::to_string(node.kvm->halts.ended()) +
                     " halts ended in the window, by their length",
                 {}};
  std::size_t widest = 0;
  std::size_t digits = 0;
  for (const auto& row : cells) {
    widest = std::max(widest, row[0].size());
    digits = std::max(digits, row[1].size());
  }
  for (const auto& row : cells) {
    std::string line = row[0] + std::string(widest - row[0].size() + 2 + digits - row[1].size(), ' ') + row[1];
    if (!row[2].empty()) line += "  " + row[2];
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

namespace {

std::string values_words(const std::vector<FieldValue>& values) {
  constexpr std::size_t k_most_values = 12;
  std::string text;
  std::size_t shown = 0;
  for (const FieldValue& value : values) {
    if (shown == k_most_values) break;
    if (shown++ > 0) text += ", ";
    const std::string before = value.before ? neutral(value_text(*value.before)) : "absent";
    const std::string after = value.after ? neutral(value_text(*value.after)) : "absent";
    text += neutral(value.field) + " " + before + (before == after ? "" : " -> " + after);
  }
  if (values.size() > shown) text += ", " + std::to_string(values.size() - shown) + " more";
  return text;
}

bool is_of_a_node(const Analysis& analysis, const std::string& vm) {
  return std::any_of(analysis.nodes.begin(), analysis.nodes.end(),
                     [&](const NodeBudget& node) { return node.kvm && node.kvm->vm == vm; });
}

}  // namespace

std::string vm_values_text(const NodeBudget& node) {
  if (!node.kvm || node.kvm->values.empty()) return {};
  std::string text = neutral(node.name);
  if (!node.kvm->vm.empty()) text += " (vm " + neutral(node.kvm->vm) + ")";
  return text + ": " + values_words(node.kvm->values);
}

std::vector<ScopeValues> kvm_gauges(const Analysis& analysis) {
  constexpr std::size_t k_most_scopes = 1024;
  std::vector<ScopeValues> scopes;
  for (const ComparedRow& row : analysis.kvm_gauges.rows()) {
    const bool gauge = row.kind == Kind::instant || row.kind == Kind::peak;
    if (!gauge || row.scope == "kernel" || row.field == "node" || row.field == "node-evidence") continue;
    if (scopes.empty() || scopes.back().scope != row.scope) {
      if (scopes.size() == k_most_scopes) break;
      scopes.push_back({row.scope, {}});
    }
    scopes.back().values.push_back({row.field, row.before, row.after});
  }
  return scopes;
}

std::vector<std::string> other_vm_values(const Analysis& analysis) {
  constexpr std::size_t k_most_lines = 8;
  std::vector<std::string> lines;
  if (analysis.kvm) {
    for (const VmRate& vm : analysis.kvm->vms) {
      if (vm.values.empty() || is_of_a_node(analysis, vm.vm)) continue;
      const std::string owner = vm.node.empty() ? "tied to no node" : "of " + neutral(vm.node);
      lines.push_back("vm " + neutral(vm.vm) + " (" + owner + "): " + values_words(vm.values));
    }
  }
  for (const ScopeValues& scope : kvm_gauges(analysis)) {
    const ComparedRow* node = analysis.kvm_gauges.find(scope.scope, "node");
    std::string owner;
    if (node != nullptr) owner = " (" + neutral(value_text(node->after ? *node->after : *node->before)) + ")";
    const std::string name = scope.scope == "global" ? "kernel-wide" : neutral(scope.scope);
    lines.push_back(name + owner + ", gauges alone: " + values_words(scope.values));
  }
  if (lines.size() <= k_most_lines) return lines;
  const std::size_t left_out = lines.size() - k_most_lines;
  lines.resize(k_most_lines);
  lines.push_back(std::to_string(left_out) + " more are in the JSON");
  return lines;
}

}  // namespace cozy
