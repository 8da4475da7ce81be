#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/report/output_file.hpp"

/// Files of the kernel that are kept open and read again and again.
namespace cozy {

class HeldFile {
 public:
  HeldFile() = default;
  /// Not open where the file cannot be had: it then reads as absent.
  explicit HeldFile(const std::string& path);
  explicit HeldFile(Descriptor file) : file_(std::move(file)) {}

  [[nodiscard]] bool open() const { return file_.open(); }
  /// The text as it is now, of 64 KiB at most; stays until the next read of any. None where there is none.
  [[nodiscard]] std::optional<std::string_view> read() const;

 private:
  Descriptor file_;
};

/// Of /proc/PID/task/TID/schedstat.
struct SchedTimes {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
};

std::optional<SchedTimes> read_sched_times(const HeldFile& file);

/// The state of a thread by its stat file: 'R', 'S', 'T'.
std::optional<char> read_thread_state(const HeldFile& file);

}  // namespace cozy
