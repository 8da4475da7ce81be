#pragma once

#include <optional>
#include <string_view>

namespace cozy {

/// Why a timeline ends, as its recorder says in the last line of its file. One that is killed says nothing.
enum class TimelineEnd { stopped, starter, last_qemu, max_duration, byte_budget, write_failed };

/// The word in the file: "stopped", "last-qemu".
std::string_view timeline_end_name(TimelineEnd end);
std::optional<TimelineEnd> timeline_end_of_name(std::string_view name);

/// What had happened, as a part of a sentence: "it was told to end".
std::string_view timeline_end_words(TimelineEnd end);

}  // namespace cozy
