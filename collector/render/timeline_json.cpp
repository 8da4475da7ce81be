#include "collector/render/timeline_json.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "probes/clock.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_nodes = 256;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(k_ns_per_second); }

/// Of the steps in which a share is known; the mean counts each by its length.
JsonObject shares_json(const std::vector<double>& steps, const std::vector<std::optional<double>>& shares) {
  double seconds = 0;
  double sum = 0;
  std::optional<double> least;
  std::optional<double> most;
  for (std::size_t i = 0; i < steps.size() && i < shares.size(); ++i) {
    if (!shares[i]) continue;
    seconds += steps[i];
    sum += steps[i] * *shares[i];
    least = std::min(least.value_or(*shares[i]), *shares[i]);
    most = std::max(most.value_or(*shares[i]), *shares[i]);
  }
  JsonObject json;
  if (seconds <= 0) return json;
  json.number("mean", std::clamp(sum / seconds, 0.0, 1.0), k_share_steps);
  json.number("min", least, k_share_steps);
  json.number("max", most, k_share_steps);
  json.number("seconds", seconds, k_rate_steps);
  return json;
}

std::optional<double> sum_of(const LossSteps& loss) {
  std::optional<double> sum;
  for (const auto& seconds : loss.seconds) {
    if (seconds) sum = sum.value_or(0) + *seconds;
  }
  return sum;
}

JsonObject node_json(const TimelineFacts& facts, const NodeSteps& node) {
  JsonObject json;
  json.text("name", node.node);
  json.count("vcpus", node.vcpus);
  json.object("ran_share", shares_json(facts.steps, node.ran));
  json.object("waited_share", shares_json(facts.steps, node.waited));
  for (const LossSteps& throttled : facts.throttled) {
    if (throttled.subject == node.node) json.number("throttled_seconds", sum_of(throttled), k_rate_steps);
  }
  return json;
}

JsonObject stall_json(const TimelineFacts& facts, const Stall& stall) {
  JsonObject json;
  json.text("node", stall.node);
  json.counts("vcpus", stall.vcpus);
  json.number("from_seconds", seconds_of(stall.from_ns - facts.begin_ns), k_rate_steps);
  json.number("to_seconds", seconds_of(stall.to_ns - facts.begin_ns), k_rate_steps);
  json.integer("epoch_from_ns", stall.epoch_from_ns);
  json.text("states", stall.states);
  json.number("runner_idle_share", stall.runner_idle, k_share_steps);
  json.number("runner_steal_share", stall.runner_steal, k_share_steps);
  json.number("pressure_cpu_some", stall.pressure_cpu, k_share_steps);
  json.number("pressure_io_some", stall.pressure_io, k_share_steps);
  json.number("throttled_seconds", stall.throttled_seconds, k_rate_steps);
  return json;
}

}  // namespace

JsonObject timeline_json(const TimelineFacts& facts) {
  JsonObject json;
  json.number("seconds", facts.seconds(), k_rate_steps);
  json.number("interval_seconds", facts.interval_seconds, k_rate_steps);
  json.integer("begin_boottime_ns", facts.begin_ns);
  json.integer("epoch_begin_ns", facts.epoch_begin_ns);
  json.count("ticks", facts.ticks);
  json.count("missed", facts.missed);
  json.count("late", facts.late);
  json.mark("slowed", facts.slowed);
  json.number("recorder_seconds", facts.recorder_seconds, k_seconds_steps);
  json.number("steal_seconds", sum_of(facts.steal), k_rate_steps);
  std::vector<JsonObject> nodes;
  for (const NodeSteps& node : facts.nodes) {
    if (nodes.size() < k_most_nodes) nodes.push_back(node_json(facts, node));
  }
  json.objects("nodes", std::move(nodes));
  if (facts.nodes.size() > k_most_nodes) json.count("nodes_left_out", facts.nodes.size() - k_most_nodes);
  std::vector<JsonObject> stalls;
  for (const Stall& stall : facts.stalls) stalls.push_back(stall_json(facts, stall));
  json.objects("stalls", std::move(stalls));
  return json;
}

}  // namespace cozy
