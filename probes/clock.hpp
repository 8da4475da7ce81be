#pragma once

#include <cstdint>

namespace cozy {

/// A moment on two clocks. Divide by the boot-time one (CLOCK_BOOTTIME, never stepped, counts
/// suspend); read the epoch one (CLOCK_REALTIME). Both in nanoseconds. See clock_gettime(2).
struct Stamp {
  std::int64_t boottime_ns = 0;
  std::int64_t epoch_ns = 0;
};

/// The moment now.
Stamp now();

/// CLOCK_BOOTTIME alone, for bounds.
std::int64_t boottime_ns();

/// Seconds and nanoseconds as nanoseconds, held within +-2^62: times that a file states can be anything, and
/// two of these may be added or subtracted.
std::int64_t bounded_ns(std::int64_t seconds, std::int64_t ns);

inline constexpr std::int64_t k_ns_per_second = 1'000'000'000;
inline constexpr std::int64_t k_ns_per_ms = 1'000'000;

}  // namespace cozy
