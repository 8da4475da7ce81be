#pragma once

#include <string>

#include "collector/policy/audit.hpp"

namespace cozy {

/// A line per fact, the node's name in front: its cgroup, a row per knob, what breaks, what else is to be known.
/// The last line is the answer.
std::string audit_to_text(const Audit& audit);

/// The policy's own object with the audit in it.
std::string audit_to_json(const PodCpu& pod, const PodKnobs& knobs, const Audit& audit);

}  // namespace cozy
