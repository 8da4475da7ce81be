#pragma once

#include "collector/cli.hpp"

namespace cozy {

/// Prints what a pod's request and limit come to; where an audit is asked for, what the live nodes have beside
/// it. 0, or 1 where some knob is not as asked, could not be read, or could not be printed.
int policy_command(const Invocation& invocation);

}  // namespace cozy
