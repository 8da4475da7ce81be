#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "collector/report/output_file.hpp"

namespace cozy {

/// A process, whatever becomes of its number: (pid, start time), as our PID namespace sees it.
struct ProcessIdentity {
  pid_t pid = 0;  ///< 0 for none
  std::uint64_t start_ticks = 0;
  std::string name;  ///< raw bytes, 15 at most
  pid_t parent = 0;  ///< 0 where it is outside of our PID namespace

  [[nodiscard]] bool is_same(const ProcessIdentity& other) const {
    return pid == other.pid && start_ticks == other.start_ticks;
  }
};

/// The process that has this number now; none where there is none, or only what is left of one.
std::optional<ProcessIdentity> process_now(pid_t pid);

/// Becomes readable when the process ends. Not open where it has ended already.
Descriptor open_process(const ProcessIdentity& process);

/// True when a descriptor of a process says that it has ended.
bool has_ended(const Descriptor& process);

/// Of this boot; "" where it is not known.
std::string boot_id();

/// What a hook's recorder is to end with: the nearest process above our caller that is neither a shell nor a
/// program like sudo, which end with the hook. None where it is the first of the PID namespace, or outside of it.
std::optional<ProcessIdentity> find_starter();

}  // namespace cozy
