#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/difference.hpp"

/// Where the runner's CPU time went, from two readings of /proc/stat. proc_stat(5).
namespace cozy {

/// The columns of a cpu row. guest is inside user and guest_nice inside nice, so the total is of the first eight.
enum class CpuColumn : std::uint8_t { user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice };

inline constexpr std::size_t k_cpu_columns = 10;
inline constexpr std::size_t k_total_columns = 8;

std::string_view column_name(CpuColumn column);
std::optional<CpuColumn> column_of_name(std::string_view name);

struct ColumnTime {
  Change change = Change::absent;
  std::optional<std::uint64_t> before;  ///< the raw number of a row; a sum has none
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> delta_ticks;  ///< none where the column went back or is absent
  bool fell = false;                         ///< it, or a part of the sum that it is, went back: counted as 0 there
};

/// One row, or a sum of rows, between two readings.
struct CpuRow {
  std::string name;  ///< "cpu3", "cpu" for the kernel's first row, "runner"
  std::array<ColumnTime, k_cpu_columns> columns;
  std::optional<std::uint64_t> total_ticks;  ///< of the deltas that count; none where there is not one
  bool without_steal = false;                ///< the steal column is unusable and left out

  [[nodiscard]] const ColumnTime& at(CpuColumn column) const { return columns[static_cast<std::size_t>(column)]; }
  /// 0 to 1 of the total; none where the column has no delta, does not count, or no tick passed.
  [[nodiscard]] std::optional<double> share(CpuColumn column) const;
  /// user - guest and nice - guest_nice, not below 0: guest may be ahead by rounding.
  [[nodiscard]] std::optional<std::uint64_t> user_without_guest() const;
  [[nodiscard]] std::optional<std::uint64_t> nice_without_guest() const;
};

/// Whether this machine is able to show steal at all: a fact that /proc/stat does not hold.
enum class StealClock { unknown, offered, not_offered };

enum class StealVerdict {
  proved,          ///< it climbed: the machine under the runner ran somebody else
  none_seen,       ///< it did not, and it could have
  not_observable,  ///< it did not, and nothing says that it could
  unusable,        ///< it went back, or grew by more than the CPUs could lose
};

/// "proved", "none seen" ...
std::string_view verdict_name(StealVerdict verdict);

struct CpuTimeFacts {
  std::uint64_t ticks_per_second = 100;  ///< USER_HZ
  StealClock steal_clock = StealClock::unknown;
  std::vector<std::string> container_view;  ///< evidence beside the rows that they are made for a container
};

struct CpuTime {
  std::vector<CpuRow> cpus;           ///< of both readings, by number
  std::vector<std::string> gone;      ///< CPUs of the first reading alone
  std::vector<std::string> appeared;  ///< CPUs of the second reading alone
  std::vector<std::string> unread;    ///< CPUs of one reading, where the other was cut
  /// Rows of which a column other than steal grew by a thousand times the time there was: no share is made of them.
  std::vector<std::string> beyond_time = {};
  std::optional<CpuRow> aggregate;  ///< the kernel's first row; without a total where no share may be made of it
  /// The aggregate where both readings have the same CPUs, else the sum over those of both readings.
  /// None for a container's view and where there is neither.
  std::optional<CpuRow> runner;
  bool summed = false;  ///< `runner` is that sum
  StealVerdict steal = StealVerdict::not_observable;
  std::optional<double> available_ticks;    ///< what the CPUs of both readings could spend or lose
  std::vector<std::string> container_view;  ///< why the rows are a container's view; empty for the kernel's own
  std::optional<Interval> interval;
  bool partial = false;
};

CpuTime cpu_time(const Difference& difference, const CpuTimeFacts& facts);

}  // namespace cozy
