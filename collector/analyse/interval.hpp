#pragma once

#include <cstdint>
#include <optional>

#include "probes/clock.hpp"

namespace cozy {

/// When a thing was read: before its first open, after its last read.
struct ReadSpan {
  std::optional<Stamp> begin;
  std::optional<Stamp> end;
};

/// The time between two reads of one thing. The kernel answered at some instant inside each read, so the
/// true length is within error_ns of length_ns.
struct Interval {
  std::int64_t length_ns = 0;  ///< above 0
  std::int64_t error_ns = 0;
  bool wall_clock = false;  ///< by the epoch clock, which can be stepped

  [[nodiscard]] double seconds() const;
  [[nodiscard]] double error_seconds() const;
};

/// By the boot-time clock where both sides have it, else by the epoch clock (stamps of whole seconds are
/// then taken as such). None where a stamp is missing, or where the reads do not follow each other.
std::optional<Interval> interval_between(const ReadSpan& before, const ReadSpan& after);

}  // namespace cozy
