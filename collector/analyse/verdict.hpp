#pragma once

#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// One sentence from the findings: the layer that took the time, with the number that says so, or what is open.
/// Empty before sample 2.
std::string verdict_of(const Analysis& analysis);

/// The finding that the verdict is made of: the heaviest warning that names a layer, else the heaviest such
/// notice. Null where none of the findings names a layer.
const Finding* deciding_finding(const Analysis& analysis);

/// Puts the snapshots of a report into the order in which they are shown: the worst first, equal ones as they were.
void sort_worst_first(std::vector<Analysis>& analyses);

}  // namespace cozy
