#pragma once

#include "collector/cli.hpp"

namespace cozy {

/// Does what the command line asks. Returns the status to end with.
int perform(const Invocation& invocation);

/// True when a file system did not answer and a thread of ours may still wait for it: then this process
/// ends without its destructors.
bool threads_left_behind();

}  // namespace cozy
