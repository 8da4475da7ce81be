#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "probes/result.hpp"

/// Processes begun. The only user of Boost.Process. Whoever begins one has to take its end.
namespace cozy {

/// What execvp(3) would run: the name itself when it has a slash, else the first executable on PATH.
Result<std::string> find_program(const std::string& name);

/// A program whose standard descriptors are those given and that holds no other of ours. It leads a process
/// group of its own and dies with this thread. The name is a path, and the first argument at once.
Result<pid_t> spawn_apart(const std::vector<std::string>& command, int input, int output, int messages);

/// A program that inherits everything, found as execvp(3) finds it. `error.code` is ENOENT where there is
/// none, else why it could not be run. Waits until execve(2) has answered; `child`, in memory that a child
/// shares, holds the number of the process that is waiting there; with it the program gets SIGTERM when this
/// thread ends.
Result<pid_t> spawn_inheriting(const std::vector<std::string>& command, std::atomic<pid_t>* child = nullptr);

}  // namespace cozy
