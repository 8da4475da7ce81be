#pragma once

#include "collector/cli.hpp"

namespace cozy {

/// Begins a recorder that goes on, and says what ends it. Bounded. Returns the status to end with.
int watch_start_command(const Invocation& invocation);

/// Ends it, and says what it has read and why it had ended where it had. Bounded. Returns the status to end with.
int watch_stop_command(const Invocation& invocation);

}  // namespace cozy
