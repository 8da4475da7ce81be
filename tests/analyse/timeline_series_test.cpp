#include "collector/analyse/timeline_series.hpp"

#include <cmath>
#include <optional>
#include <string>

#include "collector/analyse/timeline_vcpus.hpp"
#include "tests/analyse/made_timeline.hpp"
#include "tests/catch.hpp"

namespace cozy {

using namespace made_timeline;

namespace {

TimelineSeries series_of(const Timeline& timeline, std::size_t most_numbers = 600'000) {
  auto series = timeline_series(timeline, most_numbers);
  REQUIRE(series);
  return *std::move(series);
}

/// The one vCPU of srv1.
VcpuSeries vcpu_of(const Timeline& timeline) {
  const TimelineSeries series = series_of(timeline);
  REQUIRE(series.nodes.size() == 1);
  REQUIRE(series.nodes.front().vcpus.size() == 1);
  return series.nodes.front().vcpus.front();
}

bool is_at(const Series& series, std::size_t step, double expected) {
  REQUIRE(series.size() > step);
  REQUIRE(series[step]);
  return is_near(*series[step], expected, 1e-6);
}

bool is_absent(const Series& series, std::size_t step) { return series.empty() || !series.at(step); }

double sum_of(const Series& series) {
  double sum = 0;
  for (const auto& number : series) sum += number.value_or(0);
  return sum;
}

std::vector<const Series*> all_of(const VcpuSeries& vcpu) {
  return {&vcpu.ran, &vcpu.waited, &vcpu.halted, &vcpu.other, &vcpu.halted_or_other, &vcpu.exits_per_second};
}

/// Requires of every number that it can be drawn; answers with how many there is room for.
std::size_t require_sound(const TimelineSeries& series) {
  const std::size_t steps = series.starts.size();
  REQUIRE(series.seconds.size() == steps);
  REQUIRE(series.gap.size() == steps);
  std::size_t numbers = 0;
  const auto look = [&](const Series& one, double most) {
    REQUIRE((one.empty() || one.size() == steps));
    numbers += one.size();
    for (const auto& number : one) {
      if (number && !(std::isfinite(*number) && *number >= 0 && *number <= most)) FAIL("a number is no share");
    }
  };
  for (const NodeSeries& node : series.nodes) {
    look(node.throttled, 1);
    look(node.others_cpus, 1e30);
    look(node.cgroup_cpus, 1e30);
    for (const VcpuSeries& vcpu : node.vcpus) {
      look(vcpu.exits_per_second, 1e30);
      for (const Series* part : {&vcpu.ran, &vcpu.waited, &vcpu.halted, &vcpu.other, &vcpu.halted_or_other})
        look(*part, 1);
      for (std::size_t i = 0; i < steps; ++i) {
        double sum = 0;
        for (const Series* part : {&vcpu.ran, &vcpu.waited, &vcpu.halted, &vcpu.other, &vcpu.halted_or_other})
          sum += part->empty() ? 0 : part->at(i).value_or(0);
        if (sum > 1 + 1e-9) FAIL("the parts pass their step");
      }
    }
  }
  for (const Series* one :
       {&series.runner.user, &series.runner.system, &series.runner.interrupts, &series.runner.iowait,
        &series.runner.steal, &series.runner.idle, &series.pressure.cpu_some, &series.pressure.io_some,
        &series.pressure.io_full, &series.pressure.memory_some, &series.pressure.memory_full})
    look(*one, 1);
  look(series.memory_available_kb, 1e30);
  return numbers;
}

/// A halt from `from` to `to`, counted when it ends; it runs besides.
VcpuTick with_halt(double second, double from, double to) {
  const bool ended = second >= to;
  VcpuTick tick = vcpu(ran_with_gap(second, from, to), ended ? to - from : 0, second >= from && !ended, '\0');
  tick.exits = 10 + (second >= from ? 1 : 0) + (ended ? 5 : 0);
  return tick;
}

}  // namespace

TEST_CASE("series: what a vCPU ran, waited and halted, and the rest", "[series]") {
  const VcpuSeries one = vcpu_of(timeline_of(4, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(second * 0.25, second * 0.125, false, '\0')};
    tick.vcpus.front().waited_ns = ns(second * 0.5);
    tick.vcpus.front().exits = 1000 + static_cast<std::uint64_t>(second) * 300;
  }));
  for (std::size_t step = 0; step < 3; ++step) {
    CHECK(is_at(one.ran, step, 0.25));
    CHECK(is_at(one.waited, step, 0.5));
    CHECK(is_at(one.halted, step, 0.125));
    CHECK(is_at(one.other, step, 0.125));
    CHECK(is_at(one.halted_or_other, step, 0));
    CHECK(is_at(one.exits_per_second, step, 300));
  }
}

TEST_CASE("series: a halt of 10 s that is counted when it ends is halted in every step it lies in", "[series]") {
  const VcpuSeries one =
      vcpu_of(timeline_of(14, [](double second, TimelineTick& tick) { tick.vcpus = {with_halt(second, 0.5, 10.5)}; }));
  CHECK(is_at(one.halted, 0, 0.5));
  CHECK(is_at(one.ran, 0, 0.5));
  for (std::size_t step = 1; step < 10; ++step) CHECK(is_at(one.halted, step, 1));
  CHECK(is_at(one.halted, 10, 0.5));
  CHECK(is_at(one.halted, 11, 0));
  CHECK(is_near(sum_of(one.halted), 10, 1e-6));
  CHECK(is_near(sum_of(one.other) + sum_of(one.halted_or_other), 0, 1e-6));
}

TEST_CASE("series: a counted halt reaches exactly as far back as it lasted", "[series]") {
  // Blocked in the host before it halted, both within the first step: what the halt does not explain stays open.
  const VcpuSeries one = vcpu_of(timeline_of(6, [](double second, TimelineTick& tick) {
    const bool ended = second >= 2;
    tick.vcpus = {vcpu(ended ? second - 2 : 0, ended ? 1.25 : 0, second >= 1 && !ended, '\0')};
    tick.vcpus.front().exits = ended ? 9 : second >= 1 ? 3 : 1;
  }));
  CHECK(is_at(one.halted, 0, 0.25));
  CHECK(is_at(one.halted_or_other, 0, 0.75));
  CHECK(is_at(one.halted, 1, 1));
  CHECK(is_at(one.ran, 3, 1));
}

TEST_CASE("series: halts that each pass a tick are all halted, none of them lost", "[series]") {
  // 0.9 s each and 0.01 s of run between them: most steps have more of ended halts than they are long.
  constexpr double k_halt = 0.9;
  constexpr double k_round = 0.91;
  const VcpuSeries one = vcpu_of(timeline_of(101, [](double second, TimelineTick& tick) {
    const double rounds = std::floor(second / k_round);
    const double inside = second - rounds * k_round;
    const bool halted = inside < k_halt;
    tick.vcpus = {
        vcpu(rounds * 0.01 + std::max(0.0, inside - k_halt), (rounds + (halted ? 0 : 1)) * k_halt, halted, '\0')};
    tick.vcpus.front().exits = 1 + static_cast<std::uint64_t>(rounds);
  }));
  CHECK(sum_of(one.halted) > 97.5);
  CHECK(sum_of(one.halted_or_other) < 1);
  CHECK(is_near(sum_of(one.other), 0, 1e-3));
}

TEST_CASE("series: a halt that never ends is halted or other; a vCPU that was parked all along halted", "[series]") {
  const auto halted_for_ever = [](std::uint64_t exits_per_second) {
    return timeline_of(5, [=](double second, TimelineTick& tick) {
      tick.vcpus = {vcpu(0, 3, true, 'S')};
      tick.vcpus.front().exits = 1 + static_cast<std::uint64_t>(second) * exits_per_second;
    });
  };
  const VcpuSeries unended = vcpu_of(halted_for_ever(1));
  const VcpuSeries parked = vcpu_of(halted_for_ever(0));
  for (std::size_t step = 0; step < 4; ++step) {
    CHECK(is_at(unended.halted_or_other, step, 1));
    CHECK(is_at(unended.halted, step, 0));
    CHECK(is_at(unended.other, step, 0));
    CHECK(is_at(parked.halted, step, 1));
    CHECK(is_at(parked.halted_or_other, step, 0));
  }
}

TEST_CASE("series: where halts are not counted the rest stays one, but for a thread that is stopped", "[series]") {
  const auto sleeping = [](char state, bool counters) {
    return vcpu_of(timeline_of(3, [=](double, TimelineTick& tick) {
      tick.vcpus = {vcpu(0.5, 0, false, state)};
      if (!counters) tick.vcpus.front().halted_ns = tick.vcpus.front().exits = tick.vcpus.front().blocking = {};
    }));
  };
  for (const bool counters : {true, false}) {  // they may be there and stay at zero
    const VcpuSeries asleep = sleeping('S', counters);
    CHECK(is_at(asleep.halted_or_other, 0, 1));
    CHECK(is_absent(asleep.halted, 0));
    CHECK(is_absent(asleep.other, 0));
    CHECK(is_at(sleeping('T', counters).other, 0, 1));
    CHECK(is_at(sleeping('T', counters).halted_or_other, 0, 0));
  }
}

TEST_CASE("series: a counter that falls or is not there is absent for its step alone", "[series]") {
  const VcpuSeries one = vcpu_of(timeline_of(6, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(second < 3 ? second * 0.5 : second * 0.5 - 1, 1 + second * 0.5, false, '\0')};
    if (second == 1) tick.vcpus.front().waited_ns = {};
    if (second == 5) tick.vcpus.clear();
  }));
  CHECK(is_at(one.ran, 0, 0.5));
  CHECK(is_absent(one.waited, 0));
  CHECK(is_absent(one.other, 0));  // of an unknown part there is no rest
  CHECK(is_absent(one.waited, 1));
  CHECK(is_absent(one.ran, 2));
  CHECK(is_at(one.halted, 2, 0.5));
  CHECK(is_at(one.ran, 3, 0.5));
  for (const Series* series : all_of(one)) CHECK(is_absent(*series, 4));
}

TEST_CASE("series: a node that is started anew goes on in its place", "[series]") {
  Timeline timeline = timeline_of(8, [](double second, TimelineTick& tick) {
    if (second == 3) return;
    tick.vcpus = {vcpu(second < 3 ? second : 0.5 * second, 1, false, '\0')};
    if (second > 3) tick.vcpus.front().subject = 7;
  });
  timeline.subjects[7] = {"vcpu", "srv1", 200, 9, 0, 0, ""};
  const VcpuSeries one = vcpu_of(timeline);
  CHECK(is_at(one.ran, 1, 1));
  CHECK(is_absent(one.ran, 2));
  CHECK(is_absent(one.ran, 3));
  CHECK(is_at(one.ran, 4, 0.5));
}

TEST_CASE("series: the runner's columns add up, and one that falls is left out of the others", "[series]") {
  const TimelineSeries series = series_of(timeline_of(3, [](double second, TimelineTick& tick) {
    const auto i = static_cast<std::uint64_t>(second);
    tick.cpu = {Count(40 * i), Count(10 * i), Count(20 * i), Count(100 * i), Count(second > 1 ? 5 : 20 * i),
                Count(4 * i),  Count(i),      Count(5 * i),  Count(30 * i)};
  }));
  const RunnerSeries& runner = series.runner;
  CHECK(is_at(runner.user, 0, 0.25));
  CHECK(is_at(runner.interrupts, 0, 0.025));
  CHECK(is_at(runner.iowait, 0, 0.1));
  CHECK(is_at(runner.steal, 0, 0.025));
  CHECK(is_absent(runner.iowait, 1));
  CHECK(is_at(runner.idle, 1, 100.0 / 180));
  require_sound(series);
}

TEST_CASE("series: pressure, memory, the cgroup and QEMU's other threads", "[series]") {
  Timeline timeline = timeline_of(3, [](double second, TimelineTick& tick) {
    tick.pressure = {Count(ns(second) / 4000), Count(), Count(0), Count(7), Count(ns(second))};
    tick.memory_kb = 1000 + static_cast<std::uint64_t>(second);
    tick.others = {{2, ns(second * 1.5), 0}};
    tick.cgroups = {{1, ns(second * 2), 10, 1, ns(second * 0.25)}, {3, ns(second * 9), 10, 1, ns(second * 3)}};
    if (second == 2) tick.cgroups.front().usage_ns = 1;
  });
  timeline.subjects[3] = {"cgroup", "srv1", 100, 1, 0, 1, "/"};
  const TimelineSeries series = series_of(timeline);
  CHECK(is_at(series.pressure.cpu_some, 0, 0.25));
  CHECK(is_absent(series.pressure.io_some, 0));
  CHECK(is_at(series.pressure.memory_some, 0, 0));
  CHECK(is_at(series.pressure.memory_full, 0, 1));  // more than there was time
  CHECK(is_at(series.memory_available_kb, 1, 1002));
  REQUIRE(series.nodes.size() == 1);
  CHECK(is_at(series.nodes.front().others_cpus, 0, 1.5));
  CHECK(is_at(series.nodes.front().cgroup_cpus, 0, 2));
  CHECK(is_absent(series.nodes.front().cgroup_cpus, 1));
  CHECK(is_at(series.nodes.front().throttled, 0, 1));  // summed over CPUs by the kernel, and of the one above
}

TEST_CASE("series: missing ticks are a gap; a doubled interval and a late tick are none", "[series]") {
  Timeline timeline =
      timeline_of(12, [](double second, TimelineTick& tick) { tick.vcpus = {vcpu(second, 0, false, '\0')}; });
  timeline.ticks[2].begin_ns += k_second * 3 / 4;  // late
  timeline.ticks.erase(timeline.ticks.begin() + 5, timeline.ticks.begin() + 7);
  timeline.ticks[7].interval_ns *= 2;  // slowed down
  timeline.ticks[7].due_ns += k_second;
  timeline.ticks[7].begin_ns += k_second;
  timeline.ticks.resize(8);
  const TimelineSeries series = series_of(timeline);
  CHECK(series.gap == std::vector<bool>{false, false, false, false, true, false, false});
  CHECK(is_near(series.seconds[4], 3));
  CHECK(is_near(series.starts[5], 7));
}

TEST_CASE("series: of a long timeline steps are merged, and their numbers are of the whole of them", "[series]") {
  const Timeline timeline = timeline_of(1001, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(second * 0.25, second * 0.5, false, '\0')};
    if (second == 7) tick.missed = 1;
  });
  const TimelineSeries series = series_of(timeline, 21UL * 334);
  CHECK(series.merged == 3);
  REQUIRE(series.starts.size() == 334);
  CHECK(is_near(series.seconds.front(), 3));
  CHECK(is_near(series.seconds.back(), 1));
  CHECK(is_at(series.nodes.front().vcpus.front().ran, 100, 0.25));
  CHECK(is_at(series.nodes.front().vcpus.front().halted, 333, 0.5));
  CHECK(series.gap[2]);
  CHECK_FALSE(series.gap[3]);
  CHECK(require_sound(series) <= 21UL * 334);
}

TEST_CASE("series: nothing to draw, and next to nothing", "[series]") {
  const auto nothing = [](double, TimelineTick&) {};
  CHECK_FALSE(timeline_series(timeline_of(0, nothing)));
  CHECK_FALSE(timeline_series(timeline_of(1, nothing)));
  const TimelineSeries series = series_of(timeline_of(2, nothing), 0);
  CHECK(series.starts.size() == 1);
  CHECK(series.nodes.empty());
  CHECK(series.runner.user.empty());
}

TEST_CASE("series: as many names as a hostile file can hold are left out and counted", "[series]") {
  constexpr std::size_t k_names = 20'000;
  const bool many_nodes = GENERATE(true, false);
  Timeline timeline = timeline_of(50, [&](double second, TimelineTick& tick) {
    for (std::size_t i = 0; i < k_names; ++i) {
      tick.vcpus.push_back(vcpu(second * static_cast<double>(i), second * 1e6, i % 2 == 0, 'S'));
      tick.vcpus.back().subject = i % 3 == 0 ? UINT64_MAX - i : i;
      tick.vcpus.back().exits = i % 5 == 0 ? Count(1) : Count(UINT64_MAX - i);
      tick.vcpus.back().waited_ns = UINT64_MAX / (1 + static_cast<std::uint64_t>(second));
    }
  });
  for (std::size_t i = 0; i < k_names; ++i)
    timeline.subjects[i] = {"vcpu", "n" + std::to_string(many_nodes ? i : i % 2), 1, 1, i, 0, ""};
  const TimelineSeries series = series_of(timeline);
  CHECK(require_sound(series) <= 600'000);
  CHECK(series.nodes_left_out > 0);
  CHECK(series.merged == 1);
}

TEST_CASE("series: as many ticks as a hostile file can hold, with halts that cannot be", "[series]") {
  const Timeline timeline = timeline_of(100'000, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(0, second * 1e5, true, 'S')};
    tick.vcpus.push_back(tick.vcpus.front());
    tick.vcpus.back().halted_ns = UINT64_MAX;
  });
  const TimelineSeries series = series_of(timeline);
  CHECK(require_sound(series) <= 600'000);
  CHECK(series.merged > 1);
}

TEST_CASE("series: there is no step over a moment that is missing", "[series]") {
  const VcpuTick tick = vcpu(1, 1, true, '\0');
  const std::vector<VcpuMoment> moments{{0, 0, &tick}, {2, 2 * k_second, &tick}, {3, 3 * k_second, &tick}};
  const std::vector<VcpuStep> steps = vcpu_steps(moments, true);
  REQUIRE(steps.size() == 1);
  CHECK(steps.front().step == 2);
  CHECK(vcpu_steps({}, true).empty());
}

}  // namespace cozy
