#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "collector/analyse/interval.hpp"

/// Every number that a rule compares with. They stand in one table and nowhere else.
namespace cozy {

enum class Threshold {
  steal_notice,
  steal_warning,
  waited,
  waited_above_others,
  throttled_periods,
  throttled_window,
  throttled_explains,
  throttled_bound,
  throttled_most,
  blocked,
  halted,
  busy_ran,
  busy_exits,
  storm_exits,
  storm_above_others,
  storm_floor,
  emulator_ran,
  pressure_cpu,
  pressure_io,
  pressure_memory,
  stalled,
  burst_lost,
  burst_share,
  burst_seconds,
  late_idle,
  late_part,
  late_ran,
  late_begun,
  late_window,
  starved,
  short_missing,
  short_share,
  shortest_window,
  widest_error,
  widest_excess,
};

struct ThresholdEntry {
  Threshold id;
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view means;
};

/// The table, in the order of the enumeration.
std::span<const ThresholdEntry> thresholds();

const ThresholdEntry& threshold(Threshold id);

/// "At or above": what rounding of a binary fraction takes off a value is given back. The value is in the unit of
/// the table.
bool reaches(double value, Threshold id);

/// The same for a share of 0 to 1 and a threshold in percent.
bool share_reaches(double share, Threshold id);

/// True for a window that is long enough for rates, and known well enough.
bool can_be_judged(const std::optional<Interval>& window);

}  // namespace cozy
