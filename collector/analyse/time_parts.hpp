#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analyse/interval.hpp"

namespace cozy {

/// The parts of a window. What was not measured is absent, and lies in `rest_seconds`.
struct TimeParts {
  double window_seconds = 0;
  double base_seconds = 0;  ///< of the shares: the window, or the sum of the parts where clocks let it pass the window
  std::optional<double> ran_seconds;     ///< on a CPU, guest time inside
  std::optional<double> guest_seconds;   ///< a part of ran
  std::optional<double> waited_seconds;  ///< runnable and not running
  std::optional<double> halted_seconds;  ///< the guest had nothing to do
  double rest_seconds = 0;               ///< the window without the parts above that are there; not below 0

  /// 0 to 1; those of one thread add up to 1. None for a part that is absent.
  [[nodiscard]] std::optional<double> share(const std::optional<double>& part_seconds) const;
};

/// Makes the rest and the base of the shares. Where the parts pass the window by more than `slack_seconds`,
/// which no difference of clocks explains, they are scaled down to it and the answer is false.
bool fit_to_window(TimeParts& parts, double slack_seconds);

/// The sum over several windows. A part that one of them lacks is absent in the sum, and in its rest.
TimeParts sum_of(const std::vector<TimeParts>& parts);

/// How far the parts of a thread may pass its window without being wrong: the width of the stamps; the
/// scheduler's clock beside the boot-time clock; two ticks, since both are brought up to date by the tick.
double clock_slack_seconds(const Interval& window, std::uint64_t ticks_per_second);

}  // namespace cozy
