#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/report/report.hpp"

namespace cozy {

/// The sample that is about to be taken.
struct PlacementAsked {
  std::string snapshot;
  std::vector<std::string> only;  ///< its captures; empty for every one
  int sample = 1;
  bool once = false;  ///< a sample 2 that its bracket has already is to be kept
};

/// How a sample stands to what its report holds already. Nothing of it is fatal, all of it is told.
struct Placement {
  bool kept = false;               ///< asked for once, and all that it would take stands there behind a sample 1
  std::vector<std::string> notes;  ///< what makes it no pair, or has it take the place of another
};

/// Looks at the captures that the sample would take, and at no others.
Placement placement_of(const Report& report, const PlacementAsked& asked);

/// The brackets of a report that were never closed or never opened, or whose samples are of two brackets.
std::vector<std::string> open_brackets(const Report& report);

/// The same two of a report directory, within a bound. Where it does not answer there is nothing to tell: what
/// is written there next will say so.
Placement look_at_placement(const std::string& report_dir, const PlacementAsked& asked, std::int64_t bound_ns);
std::vector<std::string> look_at_brackets(const std::string& report_dir, std::int64_t bound_ns);

}  // namespace cozy
