#include "collector/render/cgroup_json.hpp"

#include <utility>

#include "collector/analyse/node_cgroup.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

void put_limit(const CgroupLevel& level, JsonObject& json) {
  if (level.configured()) {
    json.number("throttled_seconds", level.throttled_seconds, k_seconds_steps);
    json.count("throttled_periods", level.throttled_periods);
    json.count("periods", level.periods);
    json.number("throttled_periods_share", level.periods_share(), k_share_steps);
  }
  if (level.limited || level.quota_usec) json.text("quota", level.quota_usec ? "set" : "none");
  json.mark("quota_changed", level.quota_changed);
  json.count("quota_usec", level.quota_usec);
  json.count("period_usec", level.period_usec);
  json.count("burst_usec", level.burst_usec);
}

JsonObject level_json(const CgroupLevel& level) {
  JsonObject json;
  json.bytes("path", level.path);
  put_limit(level, json);
  json.number("used_seconds", level.used_seconds, k_seconds_steps);
  json.count("nodes", level.nodes);
  return json;
}

JsonObject tightest_json(const NodeCgroup& cgroup) {
  JsonObject json;
  const auto tightest = tightest_of(cgroup);
  if (!tightest) return json;
  json.bytes("path", tightest->path);
  json.number("cpus", tightest->quota_cpus(), k_rate_steps);
  json.number("used_share", tightest->used_of_quota(), k_share_steps);
  return json;
}

/// Usage beside what the process and its threads used.
void put_usage(const NodeBudget& node, JsonObject& json) {
  const NodeCgroup& cgroup = *node.cgroup;
  json.number("usage_seconds", cgroup.usage_seconds, k_seconds_steps);
  json.bytes("usage_path", cgroup.usage_path);
  if (cgroup.usage_seconds && cgroup.usage_nodes > 1) json.count("usage_nodes", cgroup.usage_nodes);
  json.number("processes_seconds", cgroup.processes_seconds, k_seconds_steps);
  json.number("beyond_processes_seconds", cgroup.beyond_seconds, k_seconds_steps);
  if (cgroup.beyond_seconds) json.number("beyond_error_seconds", cgroup.beyond_error_seconds, k_seconds_steps);
  if (const auto threads = threads_seconds(node)) {
    json.number("threads_seconds", threads, k_seconds_steps);
    json.number("began_or_ended_threads_seconds", *node.process.cpu_seconds - *threads, k_seconds_steps);
  }
}

}  // namespace

JsonObject cgroup_json(const NodeBudget& node) {
  const NodeCgroup& cgroup = *node.cgroup;
  JsonObject json;
  json.bytes("path", cgroup.path);
  json.text("state", cgroup_state_name(cgroup.state));
  json.text("why", cgroup.why);
  if (cgroup.state != CgroupState::read) return json;
  json.integer("version", cgroup.version);
  put_usage(node, json);
  put_limit(levels_of(cgroup).front(), json);
  json.number("local_throttled_seconds", cgroup.local_throttled_seconds, k_seconds_steps);
  json.count("weight", cgroup.weight);
  json.count("shares", cgroup.shares);
  json.bytes("cpus", cgroup.cpus);
  json.object("tightest_quota", tightest_json(cgroup));
  if (cgroup.nodes > 1) json.count("nodes", cgroup.nodes);
  std::vector<std::string> others;
  for (const std::string& name : cgroup.shared_with) others.push_back(escape(name));
  if (!others.empty()) json.texts("shared_with", others);
  std::vector<JsonObject> above;
  for (const CgroupLevel& level : cgroup.above) above.push_back(level_json(level));
  if (!above.empty()) json.objects("above", std::move(above));
  return json;
}

}  // namespace cozy
