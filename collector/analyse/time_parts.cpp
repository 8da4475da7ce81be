#include "collector/analyse/time_parts.hpp"

#include <algorithm>
#include <array>

namespace cozy {

namespace {

using Part = std::optional<double> TimeParts::*;

/// Those that add up to the window: guest is inside ran.
constexpr std::array<Part, 3> k_addends{&TimeParts::ran_seconds, &TimeParts::waited_seconds,
                                        &TimeParts::halted_seconds};
constexpr std::array<Part, 4> k_parts{&TimeParts::ran_seconds, &TimeParts::guest_seconds, &TimeParts::waited_seconds,
                                      &TimeParts::halted_seconds};

double known_seconds(const TimeParts& parts) {
  double known = 0;
  for (const Part part : k_addends) known += (parts.*part).value_or(0);
  return known;
}

}  // namespace

std::optional<double> TimeParts::share(const std::optional<double>& part_seconds) const {
  if (!part_seconds || base_seconds <= 0) return std::nullopt;
  return std::clamp(*part_seconds / base_seconds, 0.0, 1.0);
}

bool fit_to_window(TimeParts& parts, double slack_seconds) {
  const double known = known_seconds(parts);
  const bool possible = known - parts.window_seconds <= slack_seconds;
  if (!possible) {
    for (const Part part : k_parts) {
      if (parts.*part) *(parts.*part) *= parts.window_seconds / known;
    }
  }
  if (parts.guest_seconds) {
    if (parts.ran_seconds)
      parts.guest_seconds = std::min(*parts.guest_seconds, *parts.ran_seconds);
    else
      parts.guest_seconds.reset();
  }
  parts.base_seconds = possible ? std::max(parts.window_seconds, known) : parts.window_seconds;
  parts.rest_seconds = std::max(0.0, parts.window_seconds - known);
  return possible;
}

TimeParts sum_of(const std::vector<TimeParts>& parts) {
  TimeParts sum;
  for (const TimeParts& one : parts) {
    sum.window_seconds += one.window_seconds;
    sum.base_seconds += one.base_seconds;
  }
  for (const Part part : k_parts) {
    double seconds = 0;
    const bool all = std::all_of(parts.begin(), parts.end(), [&](const TimeParts& one) {
      seconds += (one.*part).value_or(0);
      return (one.*part).has_value();
    });
    if (all && !parts.empty()) sum.*part = seconds;
  }
  sum.rest_seconds = std::max(0.0, sum.base_seconds - known_seconds(sum));
  return sum;
}

double clock_slack_seconds(const Interval& window, std::uint64_t ticks_per_second) {
  return window.error_seconds() + window.seconds() / 1000 + 2.0 / static_cast<double>(ticks_per_second);
}

}  // namespace cozy
