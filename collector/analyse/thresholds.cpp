#include "collector/analyse/thresholds.hpp"

#include <array>
#include <cstddef>

namespace cozy {

namespace {

constexpr double k_rounding = 1e-9;

constexpr std::array k_thresholds{
    ThresholdEntry{Threshold::steal_notice, "steal.notice", 1, "% of the runner's CPU time",
                   "steal that is worth a notice"},
    ThresholdEntry{Threshold::steal_warning, "steal.warning", 5, "% of the runner's CPU time",
                   "steal that is worth a warning"},
    ThresholdEntry{Threshold::waited, "waited", 10, "% of the vCPUs' window",
                   "runnable and not running, without what a quota explains: a node, or the nodes on average, waited"},
    ThresholdEntry{Threshold::waited_above_others, "waited.above-others", 2, "times the median of the other nodes",
                   "from here on one node waited, and not all of them"},
    ThresholdEntry{Threshold::throttled_periods, "throttled.periods", 5, "% of the periods of the quota",
                   "periods in which the cgroup ran into its quota"},
    ThresholdEntry{Threshold::throttled_window, "throttled.window", 1, "% of the vCPUs' window",
                   "time that the cgroup was kept off the CPUs by its quota"},
    ThresholdEntry{Threshold::throttled_explains, "throttled.explains", 50, "% of the waiting",
                   "from here on throttling explains most of the waiting, and no other cause of it is claimed"},
    ThresholdEntry{Threshold::throttled_bound, "throttled.bound", 90, "% of the CPU time that the quota allows",
                   "a quota that is used up so far explains the waiting, however little throttled time was booked"},
    ThresholdEntry{Threshold::throttled_most, "throttled.most", 50, "% of the periods of the quota",
                   "periods to be throttled before a used up quota is taken to explain the waiting"},
    ThresholdEntry{Threshold::blocked, "blocked", 20, "% of the vCPUs' window",
                   "off the CPU, not waiting for one and not halted"},
    ThresholdEntry{Threshold::halted, "halted", 90, "% of the window of each vCPU", "the guest had nothing to do"},
    ThresholdEntry{Threshold::busy_ran, "busy-flat.ran", 90, "% of the window of a vCPU",
                   "a vCPU that ran nearly all the time"},
    ThresholdEntry{Threshold::busy_exits, "busy-flat.exits", 10, "exits per second of vCPU run, at most",
                   "almost no exit; those that an interrupt of the runner makes do not count, where they are known"},
    ThresholdEntry{Threshold::storm_exits, "exit-storm.exits", 50'000, "exits per second of vCPU run",
                   "so many exits that they are much of what the vCPUs did"},
    ThresholdEntry{Threshold::storm_above_others, "exit-storm.above-others", 5, "times the median of the other nodes",
                   "far above the other nodes"},
    ThresholdEntry{Threshold::storm_floor, "exit-storm.floor", 5'000, "exits per second",
                   "a node with fewer is not judged: an idle guest runs shortly per exit"},
    ThresholdEntry{Threshold::emulator_ran, "emulator.ran", 90, "% of one CPU",
                   "a thread of QEMU that is no vCPU and cannot do more"},
    ThresholdEntry{Threshold::pressure_cpu, "pressure.cpu", 40, "% of the window, PSI some",
                   "some task of the runner was stalled for CPU"},
    ThresholdEntry{Threshold::pressure_io, "pressure.io", 20, "% of the window, PSI some",
                   "some task of the runner was stalled for I/O"},
    ThresholdEntry{Threshold::pressure_memory, "pressure.memory", 10, "% of the window, PSI some",
                   "some task of the runner was stalled for memory"},
    ThresholdEntry{Threshold::stalled, "stalled", 5, "s", "a vCPU that neither ran nor halted for so long stood still"},
    ThresholdEntry{Threshold::burst_lost, "burst.lost", 1, "s", "a smaller loss is no burst"},
    ThresholdEntry{Threshold::burst_share, "burst.share", 80, "% of the loss", "most of what was lost"},
    ThresholdEntry{Threshold::burst_seconds, "burst.seconds", 25, "% of the timeline, at most",
                   "few of the seconds: what was lost came in bursts"},
    ThresholdEntry{Threshold::late_idle, "late.idle", 30, "s",
                   "a node that did next to nothing for shorter is not late"},
    ThresholdEntry{Threshold::late_part, "late.part", 10, "% of the timeline", "and a smaller part of it is nothing"},
    ThresholdEntry{Threshold::late_ran, "late.ran", 5, "% of its vCPUs' time, at most",
                   "a node that ran and waited so little did next to nothing"},
    ThresholdEntry{Threshold::late_begun, "late.begun", 25, "% of its vCPUs' time over late.window",
                   "a node that ran so much has begun"},
    ThresholdEntry{Threshold::late_window, "late.window", 30, "s", "a shorter run is no begin"},
    ThresholdEntry{Threshold::starved, "starved", 10, "% of the timeline's ticks",
                   "ticks that the recorder itself did not get in time"},
    ThresholdEntry{Threshold::short_missing, "timeline-short.missing", 5, "s",
                   "from the end of the timeline to sample 2"},
    ThresholdEntry{Threshold::short_share, "timeline-short.share", 10, "% of the time from its begin to sample 2",
                   "so much of the wait has no timeline"},
    ThresholdEntry{Threshold::shortest_window, "window.shortest", 0.5, "s",
                   "two readings that lie closer together are not judged"},
    ThresholdEntry{Threshold::widest_error, "window.error", 20, "% of the window, at most",
                   "two readings whose distance is known less well are not judged"},
    ThresholdEntry{Threshold::widest_excess, "window.excess", 10, "% of the window of a vCPU, at most",
                   "a vCPU that ran and waited for longer than there was time is not judged"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < k_thresholds.size(); ++i) {
    if (static_cast<std::size_t>(k_thresholds[i].id) != i) return false;
  }
  return k_thresholds.size() == static_cast<std::size_t>(Threshold::widest_excess) + 1;
}

static_assert(in_order(), "the table has one entry for every threshold, in the order of the enumeration");

}  // namespace

std::span<const ThresholdEntry> thresholds() { return k_thresholds; }

const ThresholdEntry& threshold(Threshold id) { return k_thresholds[static_cast<std::size_t>(id)]; }

bool reaches(double value, Threshold id) { return value >= threshold(id).value - k_rounding; }

bool share_reaches(double share, Threshold id) { return reaches(100 * share, id); }

bool can_be_judged(const std::optional<Interval>& window) {
  if (!window || !reaches(window->seconds(), Threshold::shortest_window)) return false;
  const double error_percent = 100 * window->error_seconds() / window->seconds();
  return error_percent <= threshold(Threshold::widest_error).value + k_rounding;
}

}  // namespace cozy
