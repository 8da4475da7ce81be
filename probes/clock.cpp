#include "clock.hpp"

#include <algorithm>
#include <ctime>

namespace cozy {

namespace {

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * k_ns_per_second + time.tv_nsec;
}

}  // namespace

Stamp now() { return Stamp{read_clock(CLOCK_BOOTTIME), read_clock(CLOCK_REALTIME)}; }

std::int64_t boottime_ns() { return read_clock(CLOCK_BOOTTIME); }

std::int64_t bounded_ns(std::int64_t seconds, std::int64_t ns) {
  constexpr std::int64_t k_limit = (std::int64_t{1} << 62) - 1;
  constexpr std::int64_t k_limit_seconds = k_limit / k_ns_per_second;
  if (seconds >= k_limit_seconds) return k_limit;
  if (seconds <= -k_limit_seconds) return -k_limit;
  const std::int64_t whole = seconds * k_ns_per_second;
  return whole + std::clamp(ns, -k_limit - whole, k_limit - whole);
}

}  // namespace cozy
