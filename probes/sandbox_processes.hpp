#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node_evidence.hpp"
#include "probe.hpp"

namespace cozy {

/// The QEMU processes that can be seen, and which node each of them is.
struct SandboxProcesses {
  std::vector<ProcessFacts> processes;  ///< by pid; those that a pid file names are among them, QEMU or not
  std::vector<NodeEvidence> nodes;
  std::size_t readable = 0;  ///< processes whose name was read
  std::size_t unread = 0;    ///< processes that are there and could not be read
};

/// Looks at every process and every pid file. What could not be read goes into the sink.
SandboxProcesses find_sandbox_processes(const ProbeContext& context, Sink& sink);

/// "ROOT/proc/412/FILE"
std::string proc_path(const ProbeContext& context, std::uint64_t pid, std::string_view file);

/// The names in a directory that are numbers, in numeric order.
std::vector<std::uint64_t> numbers(const std::vector<DirectoryEntry>& entries);

}  // namespace cozy
