#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "collector/run/live_board.hpp"
#include "collector/run/process_identity.hpp"
#include "collector/run/sampler.hpp"
#include "collector/run/timeline_file.hpp"

namespace cozy {

/// How a recorder goes on, and what ends it.
struct RecorderOptions {
  std::string by = "run";  ///< the command that began it
  std::int64_t interval_ns = k_ns_per_second;
  std::int64_t longest_ns = 6 * 3600 * k_ns_per_second;
  std::size_t byte_budget = k_timeline_bytes;  ///< as it is used up, fewer readings are taken; the file says so
  ProcessIdentity starter;                     ///< it ends with that; 0 for none
  bool with_last_qemu = false;                 ///< it ends some seconds behind the sandbox's last QEMU
  int end_fd = -1;                             ///< when this becomes readable it is to end
  /// Called behind the first reading. False: nobody is there any more to be told, and it ends.
  std::function<bool()> begun;
  LiveBoard* board = nullptr;  ///< where each tick is told of as well
};

/// What came of it.
struct RecorderResult {
  TimelineEnd end = TimelineEnd::write_failed;
  std::string words;  ///< why it ended, or was not begun
  pid_t holder = -1;  ///< not begun, since this process (0: one that cannot be seen) writes the file already
};

/// <report-dir>/snapshots/<snapshot>/timeline/timeline.jsonl
std::string timeline_file(const SampleOptions& options);

/// Writes that file: a light reading every interval, until one of the ends. The last line of the file says which.
/// To be done in a process of its own.
RecorderResult record_timeline(const SampleOptions& options, const RecorderOptions& recorder);

}  // namespace cozy
