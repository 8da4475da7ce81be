#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/report/timeline.hpp"

/// What a timeline says of its seconds. Pure.
namespace cozy {

/// What was lost in each of the steps between two ticks, in seconds; absent where it is not known.
struct LossSteps {
  std::string subject;  ///< "runner", a node
  std::vector<std::optional<double>> seconds;
};

/// vCPUs of one node that neither ran nor halted.
struct Stall {
  std::string node;
  std::vector<std::uint64_t> vcpus;
  std::int64_t from_ns = 0;  ///< boot-time clock
  std::int64_t to_ns = 0;
  std::int64_t epoch_from_ns = 0;
  std::string states;                 ///< of their threads, "T"; each letter once
  std::optional<double> runner_idle;  ///< shares of the runner's CPU time meanwhile
  std::optional<double> runner_steal;
  std::optional<double> pressure_cpu;  ///< share of the time in which some task stalled
  std::optional<double> pressure_io;
  std::optional<double> throttled_seconds;  ///< of the node's cgroup, or of one above it

  [[nodiscard]] double seconds() const;
};

/// Shares of the time of a node's vCPUs, of each step; absent where its QEMU was not seen or its times not read.
struct NodeSteps {
  std::string node;
  std::size_t vcpus = 0;
  std::vector<std::optional<double>> ran;
  std::vector<std::optional<double>> waited = {};
};

struct TimelineFacts {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t epoch_begin_ns = 0;
  double interval_seconds = 0;  ///< as it was asked for
  bool slowed = false;          ///< the interval was doubled, once or more
  std::size_t ticks = 0;
  std::uint64_t missed = 0;   ///< ticks that were left out
  std::size_t late = 0;       ///< ticks that began half an interval late, or later
  std::vector<double> steps;  ///< seconds from each tick to the next
  LossSteps steal;
  std::vector<LossSteps> throttled;  ///< a node each, of those that have a quota
  std::vector<NodeSteps> nodes;
  std::vector<Stall> stalls;               ///< the longest first
  std::optional<TimelineEnd> end;          ///< why it ends, where its recorder says so
  std::optional<double> recorder_seconds;  ///< CPU time of the recorder

  [[nodiscard]] double seconds() const;
};

/// None for a timeline of fewer than two ticks. A stall is one of that length or longer.
std::optional<TimelineFacts> timeline_facts(const Timeline& timeline, double shortest_stall_seconds);

}  // namespace cozy
