#include "collector/render/page_data.hpp"

#include <utility>

#include "collector/analyse/timeline_series.hpp"
#include "collector/render/json.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr double k_permille = 1000;
constexpr double k_whole = 1;
constexpr double k_thousandths = 1000;
constexpr double k_kib_per_mib = 1024;

Series scaled(const Series& series, double factor) {
  Series out;
  out.reserve(series.size());
  for (const auto& number : series) out.push_back(number ? std::optional<double>(*number * factor) : std::nullopt);
  return out;
}

void put_shares(const char* key, const Series& shares, JsonObject& json) {
  json.numbers(key, scaled(shares, k_permille), k_whole);
}

JsonObject vcpu_json(const VcpuSeries& vcpu) {
  JsonObject json;
  json.count("index", vcpu.vcpu);
  put_shares("ran", vcpu.ran, json);
  put_shares("waited", vcpu.waited, json);
  put_shares("halted", vcpu.halted, json);
  put_shares("other", vcpu.other, json);
  put_shares("halted_or_other", vcpu.halted_or_other, json);
  json.numbers("exits_per_second", vcpu.exits_per_second, k_whole);
  return json;
}

JsonObject node_json(const NodeSeries& node) {
  JsonObject json;
  json.text("name", node.node);
  std::vector<JsonObject> vcpus;
  for (const VcpuSeries& vcpu : node.vcpus) vcpus.push_back(vcpu_json(vcpu));
  json.objects("vcpus", std::move(vcpus));
  json.numbers("others_cpus", node.others_cpus, k_thousandths);
  json.numbers("cgroup_cpus", node.cgroup_cpus, k_thousandths);
  put_shares("throttled", node.throttled, json);
  return json;
}

JsonObject runner_json(const RunnerSeries& runner) {
  JsonObject json;
  put_shares("user", runner.user, json);
  put_shares("system", runner.system, json);
  put_shares("interrupts", runner.interrupts, json);
  put_shares("iowait", runner.iowait, json);
  put_shares("steal", runner.steal, json);
  put_shares("idle", runner.idle, json);
  return json;
}

JsonObject pressure_json(const PressureSeries& pressure) {
  JsonObject json;
  put_shares("cpu_some", pressure.cpu_some, json);
  put_shares("io_some", pressure.io_some, json);
  put_shares("io_full", pressure.io_full, json);
  put_shares("memory_some", pressure.memory_some, json);
  put_shares("memory_full", pressure.memory_full, json);
  return json;
}

/// "starts" and "lengths", which every step has, and the steps in which ticks are missing.
void put_steps(const TimelineSeries& series, JsonObject& json) {
  json.numbers("starts", Series(series.starts.begin(), series.starts.end()), k_thousandths);
  json.numbers("lengths", Series(series.seconds.begin(), series.seconds.end()), k_thousandths);
  std::vector<std::size_t> gaps;
  for (std::size_t i = 0; i < series.gap.size(); ++i) {
    if (series.gap[i]) gaps.push_back(i);
  }
  json.indexes("gaps", gaps);
}

JsonObject timeline_json(const Analysis& analysis) {
  const TimelineSeries& series = *analysis.series;
  constexpr double k_ns_per_s = 1e9;
  JsonObject json;
  json.bytes("snapshot", analysis.snapshot);
  json.number("epoch_seconds", static_cast<double>(series.epoch_begin_ns) / k_ns_per_s, k_thousandths);
  json.number("boottime_seconds", static_cast<double>(series.begin_ns) / k_ns_per_s, k_thousandths);
  json.number("interval_seconds", series.interval_seconds, k_thousandths);
  json.mark("slowed", analysis.timeline && analysis.timeline->slowed);
  json.count("merged", series.merged);
  json.count("nodes_left_out", series.nodes_left_out);
  put_steps(series, json);
  json.object("runner", runner_json(series.runner));
  json.object("pressure", pressure_json(series.pressure));
  json.numbers("memory_available_mib", scaled(series.memory_available_kb, 1 / k_kib_per_mib), k_whole);
  std::vector<JsonObject> nodes;
  for (const NodeSeries& node : series.nodes) nodes.push_back(node_json(node));
  json.objects("nodes", std::move(nodes));
  return json;
}

JsonObject capture_json(const CaptureText& text) {
  JsonObject json;
  json.bytes("snapshot", text.snapshot);
  json.bytes("capture", text.capture);
  json.integer("sample", text.sample);
  json.bytes("file", text.file);
  json.text("outcome", outcome_name(text.outcome));
  json.block("reason", text.reason);
  json.text("title", text.title);
  json.text("layer", text.layer);
  json.text("source", text.source);
  json.texts("legend", text.legend);
  json.block("text", text.text);
  json.count("cut_bytes", text.cut_bytes);
  return json;
}

JsonObject report_json(const PageReport& report, const RenderOptions& options) {
  JsonObject json;
  json.block("label", report.label);
  json.object("analysis", analysis_json(report.analysis, options));
  std::vector<JsonObject> timelines;
  for (const Analysis& analysis : report.analysis.snapshots) {
    if (analysis.series) timelines.push_back(timeline_json(analysis));
  }
  json.objects("timelines", std::move(timelines));
  std::vector<JsonObject> captures;
  for (const CaptureText& text : report.analysis.texts) captures.push_back(capture_json(text));
  json.objects("captures", std::move(captures));
  return json;
}

}  // namespace

JsonObject page_data(const std::string& program, const std::vector<PageReport>& reports,
                     const ReportComparison* comparison, const RenderOptions& options) {
  JsonObject json;
  json.text("schema", "cozybracket.page/1");
  json.text("program", program);
  std::vector<JsonObject> list;
  for (const PageReport& report : reports) list.push_back(report_json(report, options));
  json.objects("reports", std::move(list));
  if (comparison != nullptr) json.object("comparison", comparison_json(*comparison));
  return json;
}

}  // namespace cozy
