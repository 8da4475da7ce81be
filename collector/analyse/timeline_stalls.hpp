#pragma once

#include <vector>

#include "collector/analyse/timeline_facts.hpp"

namespace cozy {

/// The stalls of a timeline, those of a node that overlap as one; the longest first.
std::vector<Stall> find_stalls(const Timeline& timeline, double shortest_seconds);

/// The seconds between two ticks of one boot-time clock.
double step_seconds(const TimelineTick& before, const TimelineTick& after);

/// How far a counter came; absent where it is not known on both sides or went back.
Count delta(const Count& before, const Count& after);

}  // namespace cozy
