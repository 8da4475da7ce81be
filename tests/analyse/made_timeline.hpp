#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "collector/report/timeline.hpp"

/// Timelines with just the numbers that a test looks at.
namespace cozy::made_timeline {

constexpr std::int64_t k_second = 1'000'000'000;

inline bool is_near(double value, double expected, double most = 0.01) {
  return value > expected - most && value < expected + most;
}

inline std::uint64_t ns(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

/// One vCPU of srv1, its cgroup and its other threads, a tick a second; `at` makes the tick of a second.
inline Timeline timeline_of(std::size_t ticks, const std::function<void(double, TimelineTick&)>& at) {
  Timeline timeline;
  timeline.interval_ns = k_second;
  timeline.cpus = 2;
  timeline.subjects[0] = {"vcpu", "srv1", 100, 1, 0, 0, ""};
  timeline.subjects[1] = {"cgroup", "srv1", 100, 1, 0, 0, "/srv1"};
  timeline.subjects[2] = {"others", "srv1", 100, 1, 0, 0, ""};
  for (std::size_t i = 0; i < ticks; ++i) {
    TimelineTick tick;
    tick.due_ns = static_cast<std::int64_t>(i + 1) * k_second;
    tick.begin_ns = tick.due_ns;
    tick.end_ns = tick.begin_ns + 1000;
    tick.epoch_ns = tick.begin_ns;
    tick.interval_ns = k_second;
    at(static_cast<double>(i), tick);
    timeline.ticks.push_back(tick);
  }
  return timeline;
}

/// Runs until `from`, then nothing until `to`, then runs again.
inline double ran_with_gap(double second, double from, double to) {
  return second <= from ? second : from + std::max(0.0, second - to);
}

inline VcpuTick vcpu(double ran, double halted, bool blocking, char state) {
  VcpuTick tick;
  tick.ran_ns = ns(ran);
  tick.waited_ns = 0;
  tick.halted_ns = ns(halted);
  tick.exits = 1;
  tick.blocking = blocking ? 1 : 0;
  tick.state = state;
  return tick;
}

}  // namespace cozy::made_timeline
