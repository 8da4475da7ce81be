#pragma once

#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// The nodes' cgroups: limits, throttling, and usage beside what the processes and their threads used; each cgroup
/// once, and what the difference can be where there is one. None where the capture has no pair.
std::vector<std::string> cgroup_sentences(const Analysis& analysis);

}  // namespace cozy
