#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "result.hpp"

namespace cozy {

/// One line of /proc/PID/stat or /proc/PID/task/TID/stat. proc_pid_stat(5), fs/proc/array.c:
///   419 (CPU 0/KVM) R 1 412 412 0 -1 4194368 912 0 0 0 51234 8811 0 0 20 0 75 0 88123 ...
/// The name is all between the first "(" and the last ")": it may hold blanks, parentheses, newlines,
/// bytes that are no text. Fields are counted behind it. Times are in ticks of USER_HZ.
struct ThreadStat {
  std::uint64_t tid = 0;                          // field 1
  std::string comm;                               // field 2, raw bytes
  char state = '?';                               // field 3
  std::uint64_t ppid = 0;                         // field 4
  std::uint64_t flags = 0;                        // field 9: PF_* of include/linux/sched.h
  std::uint64_t utime_ticks = 0;                  // field 14, guest time inside
  std::uint64_t stime_ticks = 0;                  // field 15
  std::uint64_t start_ticks = 0;                  // field 22, after boot
  std::optional<std::int64_t> last_cpu;           // field 39
  std::optional<std::uint64_t> guest_time_ticks;  // field 43, inside utime; since Linux 2.6.24

  /// Made by the kernel inside this process: vhost, kvm-nx-lpage-recovery, io_uring workers.
  [[nodiscard]] bool kernel_made() const;
  /// A thread of the kernel itself (PF_KTHREAD).
  [[nodiscard]] bool kernel_thread() const;
};

/// Parses the whole text of one file, with its newline; without it the last field may be cut short and is
/// not taken. Needs the fields up to the start time, and integers throughout: a shorter text, or a line with
/// other words glued to it, is refused rather than filled up with zeros.
Result<ThreadStat> parse_thread_stat(std::string_view text);

/// The stat text as one line of a capture: verbatim, but for the bytes of the name that escape() turns, and
/// without a last number that may be cut short.
std::string thread_stat_line(std::string_view text);

/// The number of a KVM vCPU by QEMU's name for its thread, "CPU 10/KVM" (debug-threads=on); the whole
/// name has to match.
std::optional<std::uint64_t> vcpu_of_name(std::string_view comm);

}  // namespace cozy
