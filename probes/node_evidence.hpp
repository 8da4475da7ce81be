#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading.hpp"
#include "result.hpp"

/// Which process is which node, by evidence. All of it is pure; the QEMU probe brings the facts.
namespace cozy {

/// The one number of a pid file: digits, leading zeros allowed (decimal all the same), line ends behind
/// it allowed. A sign, a second line, blanks, 0 and numbers beyond the kernel's limit of 2^22 are refused.
Result<std::uint64_t> parse_pid_text(std::string_view text);

/// The guest's name from QEMU's command line (/proc/PID/cmdline, NUL between arguments): the value of
/// guest= in `-name`, or its first bare word, with QEMU's ",," for a comma. Nothing else is taken from the line.
std::optional<std::string> guest_name(std::string_view command_line);

/// True for a name that may stand in a report as a node's: letters, digits and . _ : @ + -, up to 64.
bool is_node_name(std::string_view name);

/// What is known of a node's pid file.
struct PidFile {
  std::string node;
  std::optional<std::uint64_t> pid;
  std::int64_t written_epoch_ns = 0;  ///< its modification time
  std::string unusable;               ///< why it gives no pid: absent, a FIFO, not one number ...
};

/// What is known of a process that is a QEMU or that a pid file names.
struct ProcessFacts {
  std::uint64_t pid = 0;
  std::string comm;
  bool qemu = false;
  bool kernel_thread = false;
  std::optional<std::string> guest;  ///< its guest name
  std::optional<std::int64_t> start_epoch_ns;
  std::uint64_t start_ticks = 0;  ///< after boot; with the pid, its identity
  bool zombie = false;            ///< it ended and nobody has waited for it
};

/// Ties nodes to processes. A pid file is believed only for a live process that is a QEMU, that started
/// before the file was written, whose guest name does not say otherwise, and which no other node's file
/// names as well; where it is not, the guest name alone decides, if one process carries it. Whatever
/// disagrees becomes a note of the node.
std::vector<NodeEvidence> resolve_nodes(const std::vector<PidFile>& pid_files,
                                        const std::vector<ProcessFacts>& processes);

}  // namespace cozy
