#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// One rule. Its function makes findings from what the analysis holds; id and does_not_prove are filled in from
/// here. What is absent yields no finding: no rule blames by a number that nobody read.
struct Rule {
  std::string_view id;
  std::string_view when;            ///< in words
  std::string_view does_not_prove;  ///< a sentence
  std::string_view layer;           ///< begins the verdict; empty for a rule that names no layer
  std::vector<Finding> (*find)(const Analysis& analysis);
};

/// The table, in the order in which the rules are asked. A rule may look at what those above it found.
std::span<const Rule> rules();

/// Null for an id that is not in the table.
const Rule* find_rule(std::string_view id);

/// Fills analysis.findings: warnings first, then notices, then information, each the heaviest first.
void find_findings(Analysis& analysis);

/// The thresholds, then the rules, in lines for `analyze --explain`.
std::vector<std::string> explain();

}  // namespace cozy
