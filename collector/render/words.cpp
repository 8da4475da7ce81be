#include "collector/render/words.hpp"

#include <algorithm>
#include <cmath>

#include "collector/render/neutral.hpp"
#include "probes/text.hpp"

namespace cozy {

std::string percent(double share) { return fixed(100 * share, 1) + "%"; }

std::string rate_text(double per_second) {
  if (per_second >= 999'950) return fixed(per_second / 1e6, 1) + "M/s";
  if (per_second >= 999.5) return fixed(per_second / 1e3, 1) + "k/s";
  return fixed(per_second, per_second < 99.95 ? 1 : 0) + "/s";
}

std::string seconds_text(const Interval& interval) {
  std::string text = fixed(interval.seconds(), 3) + " s (+- " + fixed(interval.error_seconds(), 3) + " s)";
  if (interval.wall_clock) text += " by the wall clock";
  return text;
}

std::string time_of_day(const Stamp& stamp) {
  const auto two = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  const std::int64_t second = (stamp.epoch_ns / k_ns_per_second) % 86400;
  return two(second / 3600) + ":" + two(second / 60 % 60) + ":" + two(second % 60) + " UTC";
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t k_shown = 4;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), k_shown); ++i) shown.push_back(neutral(names[i]));
  std::string text = join(shown, ", ");
  if (names.size() > k_shown) text += " and " + std::to_string(names.size() - k_shown) + " more";
  return text;
}

std::string why_no_pair(const Analysis& analysis, std::string_view capture) {
  for (const int sample : {1, 2}) {
    const CaptureState* state = analysis.capture(capture, sample);
    if (state == nullptr || holds_data(state->outcome)) continue;
    return std::string(capture) + " sample " + std::to_string(sample) + " is " +
           std::string(outcome_name(state->outcome));
  }
  return std::string(capture) + " was not asked for";
}

std::string window_text(const Analysis& analysis) {
  return analysis.window ? seconds_text(*analysis.window) : "absent (no two readings with stamps)";
}

std::string column_cell(const CpuRow& row, CpuColumn column) {
  const auto share = row.share(column);
  if (!share) return row.at(column).fell ? "went back" : "absent";
  return percent(*share) + (row.at(column).fell ? " (went back on a CPU)" : "");
}

std::string rest_name(const TimeParts& parts) {
  std::string name;
  if (!parts.ran_seconds) name += "ran-or-";
  if (!parts.waited_seconds) name += "waited-or-";
  if (!parts.halted_seconds) name += "halted-or-";
  return name + "other";
}

std::string part_text(const TimeParts& parts, std::string_view name, const std::optional<double>& seconds,
                      std::string_view why) {
  const auto share = parts.share(seconds);
  return " " + std::string(name) + " " + (share ? percent(*share) : "absent (" + std::string(why) + ")");
}

std::optional<double> throttled_share(const NodeBudget& node) {
  const auto seconds = node.cgroup ? own_throttled_seconds(*node.cgroup) : std::nullopt;
  if (!seconds || node.sum.window_seconds <= 0) return std::nullopt;
  return std::clamp(*seconds / node.sum.window_seconds, 0.0, 1.0);
}

std::string throttled_text(const NodeBudget& node) {
  if (const auto share = throttled_share(node)) return percent(*share);
  const bool together = node.cgroup && throttled_together(*node.cgroup);
  return together ? "absent (a cgroup of several nodes)" : "";
}

bool has_no_quota(const NodeBudget& node) {
  if (!node.cgroup || !node.cgroup->limited) return false;
  const std::vector<CgroupLevel> levels = levels_of(*node.cgroup);
  return std::none_of(levels.begin(), levels.end(), [](const CgroupLevel& level) { return level.configured(); });
}

std::string threshold_value_text(const ThresholdEntry& entry) {
  const bool whole = entry.value >= 1 && entry.value == std::floor(entry.value);
  return fixed(entry.value, whole ? 0 : 2) + " " + std::string(entry.unit);
}

std::string values_text(const Evidence& evidence) {
  const auto side = [](const std::optional<Value>& value) {
    return value ? neutral(value_text(*value)) : std::string("absent");
  };
  return side(evidence.before) + " -> " + side(evidence.after);
}

}  // namespace cozy
