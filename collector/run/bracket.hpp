#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/child.hpp"

namespace cozy {

/// How the command stands when sample 2 is due.
struct CommandState {
  std::optional<std::int64_t> until_ns;  ///< the bracket was told to end: by then (boot-time clock) all is to be over
  std::optional<bool> passed;            ///< it ended with 0, or not; none while it runs
  bool begun = true;                     ///< false: there is no bracket, only what sample 1 has left
};

/// What a bracket does around its command, brought by the caller. Each is bounded by itself. The descriptor
/// becomes readable when the bracket is told to end.
struct BracketSteps {
  /// Sample 1.
  std::function<void(int interrupt_fd)> before;
  /// Sample 2, summary and pack.
  std::function<void(const CommandState&, int interrupt_fd)> after;
  std::function<void(const std::string&)> say;
  /// Once a second while the command runs and sample 2 is not due, and whenever the descriptor is readable. Optional;
  /// is not to wait.
  std::function<void(bool readable)> meanwhile;
  int meanwhile_fd = -1;
};

/// The status to end with: the command's own, or 128 + its signal; 126 or 127 where it could not be run,
/// as env(1) has it; 125 where it was never tried.
///
/// SIGINT, SIGTERM and SIGHUP reach the command, unless the terminal has sent them to it already; a SIGHUP
/// that our starter has made ignored (nohup) stays so. If the command has not ended 1.5 s later, `after` is
/// done while it still runs. The death of the process that started us counts as SIGTERM; then the command
/// is ended, too, once `after` is done.
int run_bracket(const std::vector<std::string>& command, const BracketSteps& steps);

}  // namespace cozy
