#include "collector/analyse/timeline_words.hpp"

#include <ctime>

#include "collector/analyse/rule_support.hpp"
#include "probes/clock.hpp"

namespace cozy {

std::string moment_text(std::int64_t epoch_ns) {
  const std::time_t seconds = epoch_ns / k_ns_per_second;
  std::tm utc{};
  char text[32];
  if (::gmtime_r(&seconds, &utc) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
    return "?";
  return text;
}

std::string timeline_moment(const TimelineFacts& facts, double seconds) {
  const auto after_ns = static_cast<std::int64_t>(seconds * static_cast<double>(k_ns_per_second));
  return seconds_text(seconds) + " of the timeline (" + moment_text(facts.epoch_begin_ns + after_ns) + ")";
}

}  // namespace cozy
