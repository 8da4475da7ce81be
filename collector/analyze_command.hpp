#pragma once

#include "collector/cli.hpp"

namespace cozy {

/// Reads a report, analyses every snapshot of it and prints the answer. 0 whatever was found; 1 where the report
/// could not be read, which is said on stderr.
int analyze_command(const Invocation& invocation);

/// Two reports side by side, with the same statuses.
int compare_command(const Invocation& invocation);

}  // namespace cozy
