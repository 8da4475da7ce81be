#include "collector/report/timeline_end.hpp"

#include <algorithm>
#include <array>

namespace cozy {

namespace {

struct Entry {
  TimelineEnd end;
  std::string_view name;
  std::string_view words;
};

constexpr std::array k_ends{
    Entry{TimelineEnd::stopped, "stopped", "it was told to end"},
    Entry{TimelineEnd::starter, "starter", "the process that it was to end with had ended"},
    Entry{TimelineEnd::last_qemu, "last-qemu", "the sandbox's last QEMU had ended"},
    Entry{TimelineEnd::max_duration, "max-duration", "it had reached its longest duration"},
    Entry{TimelineEnd::byte_budget, "byte-budget", "its file had reached the most bytes that it may have"},
    Entry{TimelineEnd::write_failed, "write-failed", "its file could not be written"},
};

}  // namespace

std::string_view timeline_end_name(TimelineEnd end) { return k_ends[static_cast<std::size_t>(end)].name; }

std::optional<TimelineEnd> timeline_end_of_name(std::string_view name) {
  const auto* const found = std::find_if(k_ends.begin(), k_ends.end(), [&](const Entry& e) { return e.name == name; });
  if (found == k_ends.end()) return std::nullopt;
  return found->end;
}

std::string_view timeline_end_words(TimelineEnd end) { return k_ends[static_cast<std::size_t>(end)].words; }

}  // namespace cozy
