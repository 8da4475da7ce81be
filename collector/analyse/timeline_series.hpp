#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/report/timeline.hpp"

/// The seconds of a timeline as shares, ready to be drawn. Pure. A step is the time from one tick to the next.
namespace cozy {

/// A number for each step; absent where it is not known, which is not zero.
using Series = std::vector<std::optional<double>>;

/// Shares of the step's wall time, 0 to 1; those that are known do not pass 1 together.
struct VcpuSeries {
  std::uint64_t vcpu = 0;
  Series ran;
  Series waited;  ///< runnable and not running
  /// Of halts that ended, booked back to the steps they lie in, and of a vCPU that was parked all along.
  Series halted;
  /// What of the rest is known not to be a halt: blocked in the host, stopped.
  Series other;
  /// What of the rest can be either: a halt had not ended at the tick, or halts are not counted at all, and then
  /// the two above are absent.
  Series halted_or_other;
  Series exits_per_second;
};

struct NodeSeries {
  std::string node;               ///< escaped
  std::vector<VcpuSeries> vcpus;  ///< by number
  Series others_cpus;             ///< what QEMU's other threads ran, in CPUs
  Series cgroup_cpus;             ///< what its own cgroup used, in CPUs
  Series throttled;               ///< share of the step; the most of its cgroup and those above it that have a quota
};

/// Shares of the CPU time of all the runner's CPUs; those that are known add up to 1. Guest time is inside user.
struct RunnerSeries {
  Series user;  ///< with nice
  Series system;
  Series interrupts;  ///< irq and softirq
  Series iowait;
  Series steal;
  Series idle;
};

/// Shares of the step in which tasks of the runner stalled, /proc/pressure.
struct PressureSeries {
  Series cpu_some;
  Series io_some;
  Series io_full;
  Series memory_some;
  Series memory_full;
};

struct TimelineSeries {
  std::int64_t begin_ns = 0;  ///< of the first step, boot-time clock
  std::int64_t epoch_begin_ns = 0;
  double interval_seconds = 0;  ///< as it was asked for
  std::vector<double> starts;   ///< seconds from the begin to each step's begin
  std::vector<double> seconds;  ///< the length of each step
  std::vector<bool> gap;        ///< ticks are missing in it: its numbers are of the whole of it, its shape is not known
  std::size_t merged = 1;       ///< how many steps of the file were made one, where there are too many to draw
  RunnerSeries runner;
  PressureSeries pressure;
  Series memory_available_kb;      ///< at the step's end
  std::vector<NodeSeries> nodes;   ///< by name
  std::size_t nodes_left_out = 0;  ///< beyond what can be drawn
};

/// None for a timeline of fewer than two ticks. Of all numbers together at most `most_numbers` are made, but never
/// fewer than a step of the runner's: steps are merged, to a hundred at the fewest, then the last of the nodes by
/// name are left out and counted.
std::optional<TimelineSeries> timeline_series(const Timeline& timeline, std::size_t most_numbers = 600'000);

}  // namespace cozy
