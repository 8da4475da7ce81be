#pragma once

#include <sys/types.h>

#include <optional>

#include "collector/report/output_file.hpp"
#include "probes/result.hpp"

/// Record locks, fcntl(2) F_SETLK: they end with their process, whatever ends it, and the kernel says whose they are.
namespace cozy {

/// Locks a file that is open for writing until this process ends, or closes any descriptor of the file. EAGAIN where
/// another process has it.
Result<Done> lock_file(const Descriptor& file);

/// The process that has the file locked for writing: only one that may write the file can. 0 where it is not of our
/// PID namespace; none where nobody has.
std::optional<pid_t> lock_holder(const Descriptor& file);

}  // namespace cozy
