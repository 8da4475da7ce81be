#include "collector/render/node_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "collector/render/neutral.hpp"
#include "collector/render/sentences.hpp"
#include "collector/render/words.hpp"

namespace cozy {

namespace {

struct Column {
  std::string heading;
  std::function<std::optional<std::string>(const NodeBudget&)> cell;
  bool always = true;  ///< also when no node has it
  std::function<std::string(const NodeBudget&)> without = [](const NodeBudget&) { return "absent"; };
};

/// A node whose time can stand in a table.
bool has_parts(const NodeBudget& node) {
  return node.state == NodeState::present && !node.vcpus.empty() && node.sum.window_seconds > 0;
}

Column part_column(const std::string& heading, std::optional<double> TimeParts::*part, bool always) {
  return {heading,
          [part](const NodeBudget& node) -> std::optional<std::string> {
            const auto share = node.sum.share(node.sum.*part);
            return share ? std::optional(percent(*share)) : std::nullopt;
          },
          always};
}

/// The rest under the name that it has in most columns; a node that lacks other parts says so.
Column rest_column(const std::string& rest) {
  return {rest, [rest](const NodeBudget& node) -> std::optional<std::string> {
            const auto share = node.sum.share(node.sum.rest_seconds);
            if (!share) return std::nullopt;
            const std::string own = rest_name(node.sum);
            return percent(*share) + (own == rest ? "" : " (" + own + ")");
          }};
}

std::vector<Column> columns_of(const std::string& rest) {
  return {{"node", [](const NodeBudget& node) { return std::optional(neutral(node.name)); }},
          {"vcpus", [](const NodeBudget& node) { return std::optional(std::to_string(node.vcpus.size())); }},
          part_column("ran", &TimeParts::ran_seconds, true),
          part_column("guest", &TimeParts::guest_seconds, false),
          part_column("waited", &TimeParts::waited_seconds, true),
          {"throttled",
           [](const NodeBudget& node) -> std::optional<std::string> {
             const std::string text = throttled_text(node);
             return text.empty() ? std::nullopt : std::optional(text);
           },
           false, [](const NodeBudget& node) { return has_no_quota(node) ? "no quota" : "absent"; }},
          part_column("halted", &TimeParts::halted_seconds, false),
          rest_column(rest),
          {"exits", [](const NodeBudget& node) -> std::optional<std::string> {
             return node.exits_per_second ? std::optional(rate_text(*node.exits_per_second)) : std::nullopt;
           }}};
}

void fill_rows(NodeTable& table) {
  const std::vector<Column> columns = columns_of(table.rest);
  table.rows.resize(table.nodes.size() + 1);
  for (const Column& column : columns) {
    std::vector<std::optional<std::string>> cells;
    for (const NodeBudget* node : table.nodes) cells.push_back(column.cell(*node));
    const bool some = std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.has_value(); });
    if (!column.always && !some) continue;
    table.rows.front().push_back(column.heading);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      table.rows[i + 1].push_back(cells[i] ? *cells[i] : column.without(*table.nodes[i]));
    }
  }
}

}  // namespace

NodeTable node_table(const Analysis& analysis, std::size_t most) {
  NodeTable table;
  const std::size_t shown = std::min(analysis.nodes.size(), most);
  table.left_out = analysis.nodes.size() - shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const NodeBudget& node = analysis.nodes[i];
    if (!has_parts(node)) {
      table.remarks.push_back(node_sentence(node, false));
      continue;
    }
    table.nodes.push_back(&node);
    if (table.rest.empty()) table.rest = rest_name(node.sum);
    const std::string remarks = node_remarks(node, false);
    if (!remarks.empty()) table.remarks.push_back(neutral(node.name) + remarks);
  }
  const ComparedPair* pair = analysis.pair(k_capture_threads);
  if (pair != nullptr && pair->partial) {
    table.remarks.emplace_back("threads can be missing: a sample of " + std::string(k_capture_threads) + " is partial");
  }
  if (!table.nodes.empty()) fill_rows(table);
  return table;
}

}  // namespace cozy
