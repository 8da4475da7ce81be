#pragma once

#include <vector>

#include "collector/policy/audit.hpp"

namespace cozy {

/// What the knobs of a node that was read take from the pod, or give it beyond what it asked for.
std::vector<Breach> breaches_of(const PodCpu& pod, const PodKnobs& asked, const NodeKnobs& node);

/// Weights compare siblings, and of nodes that ask for the same they have to be the same.
std::vector<Breach> breaches_among(const PodKnobs& asked, const std::vector<NodeKnobs>& nodes);

}  // namespace cozy
