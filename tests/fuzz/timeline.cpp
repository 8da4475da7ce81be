#include "collector/report/timeline.hpp"

#include <cmath>

#include "collector/analyse/timeline_facts.hpp"
#include "collector/analyse/timeline_series.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

void require_sound(const VcpuSeries& vcpu, std::size_t steps) {
  constexpr double k_rounding = 1e-9;
  for (std::size_t step = 0; step < steps; ++step) {
    double sum = 0;
    for (const Series* part : {&vcpu.ran, &vcpu.waited, &vcpu.halted, &vcpu.other, &vcpu.halted_or_other}) {
      require(part->empty() || part->size() == steps, "a number for each step, or none at all");
      const double share = part->empty() ? 0 : (*part)[step].value_or(0);
      require(share >= 0, "a share is not below 0");
      sum += share;
    }
    require(sum <= 1 + k_rounding, "the parts of a step do not pass it");
  }
}

void require_sound(const TimelineSeries& series) {
  const std::size_t steps = series.starts.size();
  require(steps > 0 && series.seconds.size() == steps && series.gap.size() == steps, "every step has its length");
  for (const double seconds : series.seconds) require(seconds > 0, "a step has a length");
  for (const NodeSeries& node : series.nodes) {
    require_harmless_line(node.node);
    for (const VcpuSeries& vcpu : node.vcpus) require_sound(vcpu, steps);
    for (const Series* cpus : {&node.others_cpus, &node.cgroup_cpus}) {
      for (const auto& number : *cpus) require(!number || (std::isfinite(*number) && *number >= 0), "CPUs are finite");
    }
  }
  for (const Series* share : {&series.runner.user, &series.runner.idle, &series.runner.steal, &series.pressure.cpu_some,
                              &series.pressure.memory_full}) {
    for (const auto& number : *share) require(!number || (*number >= 0 && *number <= 1), "a share is one");
  }
}

}  // namespace

void timeline(std::string_view bytes) {
  const auto read = parse_timeline(bytes);
  if (!read) return;
  std::int64_t last_ns = -1;
  for (const TimelineTick& tick : read->ticks) {
    require(tick.begin_ns > last_ns && tick.end_ns >= tick.begin_ns, "time goes on");
    last_ns = tick.end_ns;
  }
  const auto series = timeline_series(*read);
  if (series) require_sound(*series);
  const auto facts = timeline_facts(*read, 5);
  require(facts.has_value() == series.has_value(), "two ticks are enough for both");
  if (!facts) return;
  for (const Stall& stall : facts->stalls) {
    require(stall.seconds() >= 5, "a stall is as long as was asked for");
    require_harmless_line(stall.node);
  }
  for (const NodeSteps& node : facts->nodes) {
    for (const auto& share : node.ran) require(!share || (*share >= 0 && *share <= 1), "a share is one");
  }
}

}  // namespace cozy::fuzz
