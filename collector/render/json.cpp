#include "collector/render/json.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "collector/analyse/rules.hpp"
#include "collector/analyse/thresholds.hpp"
#include "collector/render/cgroup_json.hpp"
#include "collector/render/json_object.hpp"
#include "collector/render/node_kvm_text.hpp"
#include "collector/render/timeline_json.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

/// Of fields that a capture names itself: a hostile one can name a million.
constexpr std::size_t k_most_fields = 512;

template <class Items, class Make>
std::vector<JsonObject> list_of(const Items& items, Make make) {
  std::vector<JsonObject> list;
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

JsonObject window_json(const Interval& interval) {
  JsonObject json;
  json.number("seconds", interval.seconds(), k_seconds_steps);
  json.number("error_seconds", interval.error_seconds(), k_seconds_steps);
  json.mark("wall_clock", interval.wall_clock);
  return json;
}

JsonObject capture_json(const CaptureState& state) {
  JsonObject json;
  json.bytes("name", state.name);
  json.integer("sample", state.sample);
  json.text("outcome", outcome_name(state.outcome));
  json.text("reason", state.reason);
  json.mark("gauges_only", state.gauges_only);
  const auto put_stamp = [&json](const char* key, const std::optional<Stamp>& stamp, std::int64_t Stamp::*clock) {
    if (stamp && *stamp.*clock > 0) json.integer(key, *stamp.*clock);
  };
  put_stamp("begin_boottime_ns", state.begin, &Stamp::boottime_ns);
  put_stamp("end_boottime_ns", state.end, &Stamp::boottime_ns);
  put_stamp("epoch_begin_ns", state.begin, &Stamp::epoch_ns);
  json.texts("stalled", state.stalled);
  json.bytes("file", state.file);
  return json;
}

JsonObject steal_json(const Analysis& analysis) {
  const CpuTime& time = *analysis.runner;
  JsonObject json;
  json.text("verdict", verdict_name(time.steal));
  json.text("clock", analysis.steal_clock.name);
  json.text("clock_why", analysis.steal_clock.why);
  if (time.runner) json.number("share", time.runner->share(CpuColumn::steal), k_share_steps);
  return json;
}

void put_cpu_time(const Analysis& analysis, JsonObject& json) {
  const CpuTime& time = *analysis.runner;
  if (!time.cpus.empty()) json.count("cpus", time.cpus.size());
  json.texts("cpus_of_sample_1_only", time.gone);
  json.texts("cpus_of_sample_2_only", time.appeared);
  json.texts("rows_beyond_time", time.beyond_time);
  JsonObject spent;
  for (std::size_t i = 0; i < k_cpu_columns; ++i) {
    const auto column = static_cast<CpuColumn>(i);
    spent.number(std::string(column_name(column)), analysis.cpu_seconds(column), k_seconds_steps);
  }
  json.object("cpu_seconds", std::move(spent));
  json.object("steal", steal_json(analysis));
  json.texts("container_view", time.container_view);
  json.mark("partial", time.partial);
}

JsonObject pressure_json(const Pressure& pressure) {
  JsonObject json;
  const auto put = [&json](const std::string& name, const ResourcePressure& resource) {
    json.number(name + "_some", resource.some, k_share_steps);
    json.number(name + "_full", resource.full, k_share_steps);
    json.text(name + "_avg10", escape(resource.avg10));
  };
  put("cpu", pressure.cpu);
  put("io", pressure.io);
  put("memory", pressure.memory);
  return json;
}

JsonObject shape_json(const std::vector<Row>& shape) {
  JsonObject json;
  for (const Row& row : shape) {
    const std::string key = escape(row.field);
    if (json.size() < k_most_fields && !json.contains(key)) json.value(key, row.value);
  }
  return json;
}

JsonObject runner_json(const Analysis& analysis) {
  JsonObject json;
  if (analysis.runner) put_cpu_time(analysis, json);
  if (analysis.pressure) json.object("pressure", pressure_json(*analysis.pressure));
  json.object("shape", shape_json(analysis.shape));
  return json;
}

/// "halted-or-other" as part of a key.
std::string rest_key(const TimeParts& parts) {
  std::string key = rest_name(parts);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

JsonObject vcpu_json(const VcpuTime& vcpu) {
  JsonObject json;
  json.count("index", vcpu.index);
  json.count("tid", vcpu.tid);
  const TimeParts& parts = vcpu.parts;
  if (vcpu.window) {
    json.number("window_seconds", vcpu.window->seconds(), k_seconds_steps);
    json.number("window_error_seconds", vcpu.window->error_seconds(), k_seconds_steps);
  }
  json.number("ran_seconds", parts.ran_seconds, k_seconds_steps);
  json.number("guest_seconds", parts.guest_seconds, k_seconds_steps);
  json.number("waited_seconds", parts.waited_seconds, k_seconds_steps);
  json.number("halted_seconds", parts.halted_seconds, k_seconds_steps);
  if (vcpu.window) json.number(rest_key(parts) + "_seconds", parts.rest_seconds, k_seconds_steps);
  json.boolean("halt_in_progress", vcpu.halt_in_progress);
  json.number("exits_per_second", vcpu.exits_per_second, k_rate_steps);
  json.number("guest_exits_per_second", vcpu.guest_exits_per_second, k_rate_steps);
  json.mark("ran_by_ticks", vcpu.ran_by_ticks);
  json.mark("scaled_to_window", vcpu.impossible);
  return json;
}

JsonObject thread_json(const ThreadTime& thread) {
  JsonObject json;
  json.text("kind", thread_kind_name(thread.kind));
  json.bytes("name", thread.name);
  json.count("tid", thread.tid);
  json.number("ran_seconds", thread.ran_seconds, k_seconds_steps);
  json.number("waited_seconds", thread.waited_seconds, k_seconds_steps);
  return json;
}

JsonObject values_json(const std::vector<FieldValue>& values, std::optional<Value> FieldValue::*side) {
  JsonObject json;
  for (const FieldValue& value : values) {
    const std::string key = escape(value.field);
    if (json.size() < k_most_fields && !json.contains(key)) json.value(key, value.*side);
  }
  return json;
}

void put_kvm_fields(const std::vector<FieldRate>& rates, const std::vector<FieldValue>& values, JsonObject& json) {
  JsonObject per_second;
  for (const FieldRate& rate : rates) {
    const std::string key = escape(rate.field);
    const bool room = per_second.size() < k_most_fields && !per_second.contains(key);
    if (room) per_second.number(key, rate.per_second, k_rate_steps);
  }
  json.object("rates", std::move(per_second));
  json.object("values", values_json(values, &FieldValue::after));
  json.object("values_before", values_json(values, &FieldValue::before));
  json.mark("fields_left_out", std::max(rates.size(), values.size()) > k_most_fields);
}

JsonObject node_kvm_json(const NodeKvm& kvm) {
  JsonObject json;
  json.text("source", kvm.source);
  json.bytes("vm", kvm.vm);
  json.text("evidence", kvm.evidence);
  put_kvm_fields(kvm.rates, kvm.values, json);
  json.counts("halts_by_log2_ns", kvm.halts.counts);
  return json;
}

void put_shares(const TimeParts& sum, JsonObject& json) {
  json.number("ran_share", sum.share(sum.ran_seconds), k_share_steps);
  json.number("guest_share", sum.share(sum.guest_seconds), k_share_steps);
  json.number("waited_share", sum.share(sum.waited_seconds), k_share_steps);
  json.number("halted_share", sum.share(sum.halted_seconds), k_share_steps);
  json.number(rest_key(sum) + "_share", sum.share(sum.rest_seconds), k_share_steps);
}

JsonObject node_json(const NodeBudget& node) {
  JsonObject json;
  json.bytes("name", node.name);
  json.mark("anonymous", node.anonymous);
  json.text("state", node_state_name(node.state));
  json.count("pid", node.pid_after ? node.pid_after : node.pid_before);
  if (node.pid_after && node.pid_before != node.pid_after) json.count("pid_before", node.pid_before);
  json.texts("evidence", node.evidence);
  json.texts("notes", node.notes);
  json.texts("went_back", node.went_back);
  json.bytes("process_state_before", node.process_state_before);
  json.bytes("process_state_after", node.process_state_after);
  if (node.state == NodeState::present) {  // else its threads are not known
    json.objects("vcpus", list_of(node.vcpus, vcpu_json));
    json.mark("vcpus_by_statistics", node.vcpus_by_statistics);
    if (node.vcpus_unpaired > 0) json.count("vcpus_of_one_sample_only", node.vcpus_unpaired);
    put_shares(node.sum, json);
    json.number("exits_per_second", node.exits_per_second, k_rate_steps);
    json.objects("other_threads", list_of(node.others, thread_json));
  }
  if (node.cgroup) json.object("cgroup", cgroup_json(node));
  if (node.kvm) json.object("kvm", node_kvm_json(*node.kvm));
  return json;
}

JsonObject vm_json(const VmRate& vm) {
  JsonObject json;
  json.bytes("vm", vm.vm);
  json.text("exits", change_name(vm.change));
  put_kvm_fields(vm.rates, vm.values, json);
  return json;
}

JsonObject kvm_json(const KvmRates& kvm) {
  JsonObject json;
  json.objects("vms", list_of(kvm.vms, vm_json));
  json.mark("set_changed", kvm.set_changed);
  json.mark("partial", kvm.partial);
  return json;
}

JsonObject gauges_json(const ScopeValues& scope) {
  JsonObject json;
  json.bytes("scope", scope.scope);
  put_kvm_fields({}, scope.values, json);
  return json;
}

JsonObject arm_json(const CanaryArm& arm) {
  JsonObject json;
  json.text("name", arm.name);
  json.text("label", arm.label);
  json.text("work", arm.work);
  json.text("result", canary_result_name(arm.result));
  json.count("elapsed_ms", arm.elapsed_ms);
  json.count("rate_per_second", arm.rate_per_second);
  json.text("unit", arm.unit);
  json.count("floor_per_second", arm.floor_per_second);
  json.mark("below_floor", arm.below_floor);
  return json;
}

JsonObject canary_json(const Canary& canary) {
  JsonObject json;
  json.integer("sample", canary.sample);
  json.objects("arms", list_of(canary.arms, arm_json));
  json.mark("unbounded", canary.unbounded);
  json.bytes("file", canary.file);
  return json;
}

JsonObject evidence_json(const Evidence& evidence) {
  JsonObject json;
  json.bytes("capture", evidence.capture);
  json.bytes("scope", evidence.scope);
  json.bytes("field", evidence.field);
  json.value("before", evidence.before);
  json.value("after", evidence.after);
  return json;
}

JsonObject span_json(const TimelineSpan& span) {
  JsonObject json;
  json.number("from_seconds", span.from_seconds, k_rate_steps);
  json.number("to_seconds", span.to_seconds, k_rate_steps);
  return json;
}

JsonObject finding_json(const Finding& finding) {
  JsonObject json;
  json.text("id", finding.id);
  json.text("level", level_name(finding.level));
  json.text("subject", finding.subject);
  json.text("says", finding.says);
  json.objects("evidence", list_of(finding.evidence, evidence_json));
  json.text("does_not_prove", finding.does_not_prove);
  if (finding.timeline_seconds) json.object("timeline", span_json(*finding.timeline_seconds));
  return json;
}

JsonObject open_json(const Shortfall& shortfall) {
  JsonObject json;
  json.bytes("capture", shortfall.capture);
  json.integer("sample", shortfall.sample);
  json.text("outcome", outcome_name(shortfall.outcome));
  json.text("reason", shortfall.reason);
  json.text("consequence", shortfall.consequence);
  return json;
}

JsonObject snapshot_json(const ReportAnalysis& report, const Analysis& analysis) {
  JsonObject json;
  json.bytes("name", analysis.snapshot);
  json.text("verdict", analysis.verdict);
  std::vector<std::string> markers;
  for (const std::string& name : report.markers_of(analysis)) markers.push_back(escape(name));
  json.texts("markers", markers);
  if (analysis.window) json.object("window", window_json(*analysis.window));
  json.objects("captures", list_of(analysis.captures, capture_json));
  json.object("runner", runner_json(analysis));
  const bool compared = analysis.pair(k_capture_threads) != nullptr;  // without it nodes are not known
  if (compared) json.objects("nodes", list_of(analysis.nodes, node_json));
  if (analysis.kvm) json.object("kvm", kvm_json(*analysis.kvm));
  const std::vector<ScopeValues> gauges = kvm_gauges(analysis);
  if (!gauges.empty()) json.objects("kvm_gauges", list_of(gauges, gauges_json));
  if (analysis.timeline) json.object("timeline", timeline_json(*analysis.timeline));
  const std::vector<Canary>& canaries = report.canaries_of(analysis);
  if (!canaries.empty()) json.objects("canary", list_of(canaries, canary_json));
  json.objects("findings", list_of(analysis.findings, finding_json));
  json.objects("open", list_of(analysis.shortfalls, open_json));
  return json;
}

JsonObject report_json(const ReportAnalysis& report) {
  JsonObject json;
  json.bytes("path", report.path);
  json.text("origin", report.origin);
  json.boolean("truncated", report.truncated);
  json.text("truncated_why", report.truncated_why);
  json.texts("notes", report.notes);
  json.texts("refused", report.refused);
  return json;
}

JsonObject threshold_json(const ThresholdEntry& entry) {
  JsonObject json;
  json.text("name", entry.name);
  json.number("value", entry.value, k_share_steps);
  json.text("unit", entry.unit);
  json.text("means", entry.means);
  return json;
}

JsonObject rule_json(const Rule& rule) {
  JsonObject json;
  json.text("id", rule.id);
  json.text("when", rule.when);
  json.text("does_not_prove", rule.does_not_prove);
  return json;
}

}  // namespace

JsonObject analysis_json(const ReportAnalysis& report, const RenderOptions& options) {
  JsonObject json;
  json.text("schema", "cozybracket.analysis/1");
  if (!report.path.empty()) json.object("report", report_json(report));
  json.objects("snapshots",
               list_of(report.snapshots, [&](const Analysis& analysis) { return snapshot_json(report, analysis); }));
  if (options.explain) {
    json.objects("thresholds", list_of(thresholds(), threshold_json));
    json.objects("rules", list_of(rules(), rule_json));
  }
  return json;
}

std::string to_json(const ReportAnalysis& report, const RenderOptions& options) {
  return analysis_json(report, options).dump();
}

}  // namespace cozy
