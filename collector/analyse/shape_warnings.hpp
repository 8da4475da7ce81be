#pragma once

#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// Where two machines differ in CPUs, CPU model, kernel, nodes or vCPUs, or are not known to agree; one sentence
/// each, escaped. Empty for two machines that are known to be of the same shape.
std::vector<std::string> shape_warnings(const Analysis& green, const Analysis& red);

}  // namespace cozy
