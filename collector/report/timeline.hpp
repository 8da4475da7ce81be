#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/report/timeline_end.hpp"

/// What `run` read between its samples: timeline/timeline.jsonl. Absent is not zero; nothing is subtracted here.
namespace cozy {

using Count = std::optional<std::uint64_t>;

struct TimelineSubject {
  std::string kind;  ///< "vcpu", "others", "cgroup"
  std::string node;  ///< escaped
  std::uint64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t vcpu = 0;
  std::uint64_t level = 0;  ///< of a cgroup: 0 for the process's own
  std::string path;         ///< of a cgroup, escaped
};

struct VcpuTick {
  std::uint64_t subject = 0;
  Count ran_ns;
  Count waited_ns;
  Count halted_ns;  ///< a halt is added when it ends
  Count exits;
  Count blocking;  ///< 1: halted at that moment
  char state = 0;  ///< of its thread where it did not run since the tick before, else 0
};

/// All threads of a QEMU that are no vCPU, together.
struct OthersTick {
  std::uint64_t subject = 0;
  Count ran_ns;
  Count waited_ns;
};

struct CgroupTick {
  std::uint64_t subject = 0;
  Count usage_ns;
  Count periods;
  Count throttled_periods;
  Count throttled_ns;
};

struct TimelineTick {
  std::int64_t due_ns = 0;  ///< all three of the boot-time clock
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t epoch_ns = 0;
  std::int64_t interval_ns = 0;  ///< from the tick before to when it was due, had none been left out
  std::uint64_t missed = 0;      ///< ticks that were left out before it
  std::vector<Count> cpu;        ///< columns of the first line of /proc/stat
  std::vector<Count> pressure;   ///< total us: cpu some, io some, io full, memory some, memory full
  Count memory_kb;
  Count self_ns;
  std::vector<VcpuTick> vcpus;
  std::vector<OthersTick> others;
  std::vector<CgroupTick> cgroups;
};

/// Who writes it, as its head says.
struct TimelineRecorder {
  std::string by;  ///< the command that began it: "run", "watch"; escaped
  std::uint64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot;  ///< escaped
};

struct Timeline {
  std::int64_t interval_ns = 0;  ///< at its begin
  std::uint64_t ticks_per_second = 100;
  std::uint64_t cpus = 0;
  std::map<std::uint64_t, TimelineSubject> subjects;
  std::vector<TimelineTick> ticks;  ///< in the order of time
  bool slowed = false;              ///< the interval was doubled
  TimelineRecorder recorder;
  std::optional<TimelineEnd> end;  ///< none: its recorder was killed or was at work, or says a reason we do not know
  std::size_t bad_lines = 0;       ///< lines that are none of ours; a last line without its end is not counted
};

/// None for a text that does not begin with the head of a timeline.
std::optional<Timeline> parse_timeline(std::string_view text);

}  // namespace cozy
