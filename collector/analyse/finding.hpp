#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/reading.hpp"

/// What an analysis found, as data: every rendering reads it, none decides anything.
namespace cozy {

enum class Level { info, notice, warning };

/// "info", "notice", "warning"
std::string_view level_name(Level level);

/// A value that a finding rests on, as it stands in the captures. An absent side was not read.
struct Evidence {
  std::string capture;
  std::string scope;
  std::string field;
  std::optional<Value> before;
  std::optional<Value> after;
};

/// Seconds from the begin of the timeline.
struct TimelineSpan {
  double from_seconds = 0;
  double to_seconds = 0;
};

struct Finding {
  std::string id;  ///< of the rule: "node-waited"
  Level level = Level::info;
  std::string subject;  ///< "runner", "srv2", "srv1..srv3", "sandbox-kvm-exits sample 2"
  std::string says;     ///< one sentence with its numbers
  std::vector<Evidence> evidence;
  std::string does_not_prove;
  double weight = 0;  ///< share of the window that it explains, 0 to 1: the verdict takes the heaviest
  /// Where on the timeline it lies; of the rules that read one.
  std::optional<TimelineSpan> timeline_seconds = std::nullopt;
};

}  // namespace cozy
