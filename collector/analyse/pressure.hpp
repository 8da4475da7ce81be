#pragma once

#include <optional>
#include <string>

#include "collector/analyse/difference.hpp"

namespace cozy {

/// Pressure stall information of one resource.
struct ResourcePressure {
  std::optional<double> some;  ///< share of the window in which some task was stalled, 0 to 1
  std::optional<double> full;  ///< the same for every task that was not idle
  std::string avg10;  ///< the kernel's own average of "some" at the second sample, as it wrote it; not of the window
};

/// By the growth of "total" over the window. A resource whose counters were not read has neither share.
struct Pressure {
  ResourcePressure cpu;
  ResourcePressure io;
  ResourcePressure memory;
};

/// None where no share is known. Documentation/accounting/psi.rst: the kernel brings the totals up to date every
/// two seconds, so one that passes the window by no more is the whole of it; one that passes it by more is no time
/// of this window, and absent.
std::optional<Pressure> pressure_of(const Difference& rows);

}  // namespace cozy
