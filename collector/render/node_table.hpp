#pragma once

#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// The nodes whose time has parts, as cells: a row of headings, then one row a node. A column that no node has
/// is left out; a part that one of them lacks is "absent". Neutral text.
struct NodeTable {
  std::vector<std::vector<std::string>> rows;
  std::vector<const NodeBudget*> nodes;  ///< of the rows behind the first
  std::vector<std::string> remarks;      ///< what no table shows: nodes that are gone, stopped, without vCPUs
  std::string rest;                      ///< what the last part is called, "halted-or-other"
  std::size_t left_out = 0;
};

/// Of the first `most` nodes.
NodeTable node_table(const Analysis& analysis, std::size_t most);

}  // namespace cozy
