#include "collector/render/perfetto.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/render/trace_events.hpp"
#include "tests/analyse/made_timeline.hpp"
#include "tests/catch.hpp"
#include "tests/render/rendered.hpp"
#include "tests/render/trace_format.hpp"

using namespace cozy;
using trace_format::Json;

namespace {

Json checked(const std::string& text) {
  CHECK(rendered::is_valid_utf8(text));
  CHECK_FALSE(rendered::has_control_bytes(text));
  const Json trace = Json::parse(text, nullptr, false);
  REQUIRE_FALSE(trace.is_discarded());
  for (const std::string& fault : trace_format::Checker().faults(trace)) {
    INFO(fault);
    CHECK(fault.empty());
  }
  return trace;
}

Json checked(const ReportAnalysis& report) { return checked(to_perfetto(report)); }

ReportAnalysis with_series(const Timeline& timeline) {
  Analysis analysis = hand_made::analysis_of({});
  analysis.timeline = timeline_facts(timeline, 5);
  analysis.series = timeline_series(timeline);
  return rendered::report_of(hand_made::judged(std::move(analysis)));
}

std::uint64_t process_of(const Json& trace, const std::string& name) {
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name" && event["args"]["name"] == name) return event["pid"];
  }
  FAIL("no process " + name);
  return 0;
}

/// Times and values of a track.
std::vector<std::pair<double, double>> track(const Json& trace, const std::string& process, const std::string& name,
                                             const std::string& key) {
  const std::uint64_t pid = process_of(trace, process);
  std::vector<std::pair<double, double>> values;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C" && event["pid"] == pid && event["name"] == name && event["args"].contains(key))
      values.emplace_back(event["ts"].get<double>(), event["args"][key].get<double>());
  }
  return values;
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

constexpr double k_second_us = 1e6;
using Values = std::vector<std::pair<double, double>>;

}  // namespace

TEST_CASE("perfetto: a value is held until it changes, and to the end of what was read", "[render][perfetto]") {
  const Json trace = checked(with_series(made_timeline::timeline_of(6, [](double second, TimelineTick& tick) {
    const double ran = second <= 3 ? second * 0.25 : 0.75 + (second - 3) * 0.5;
    tick.vcpus = {made_timeline::vcpu(ran, second - ran, false, '\0')};
    tick.memory_kb = 2048;
  })));
  const Values ran{{0, 25}, {3 * k_second_us, 50}, {5 * k_second_us, -1}};
  CHECK(track(trace, "srv1", "vCPU 0", "ran %") == ran);
  CHECK(track(trace, "srv1", "vCPUs", "ran %") == ran);
  CHECK(track(trace, "srv1", "vCPU 0", "exits/s") == Values{{0, 0}, {5 * k_second_us, -1}});
  CHECK(track(trace, "runner", "memory", "available MiB") == Values{{0, 2}, {5 * k_second_us, -1}});
  CHECK(track(trace, "runner", "cpu", "steal %").empty());
}

TEST_CASE("perfetto: what was not read is no value, and missing ticks are shown", "[render][perfetto]") {
  Timeline timeline = made_timeline::timeline_of(8, [](double second, TimelineTick& tick) {
    tick.vcpus = {made_timeline::vcpu(second * 0.5, second * 0.5, false, '\0')};
  });
  timeline.ticks[3].vcpus.clear();
  timeline.ticks[6].missed = 2;
  const Json trace = checked(with_series(timeline));
  CHECK(track(trace, "srv1", "vCPU 0", "ran %") ==
        Values{{0, 50}, {2 * k_second_us, -1}, {4 * k_second_us, 50}, {7 * k_second_us, -1}});
  const auto slices = events_of(trace, "X");
  REQUIRE(slices.size() == 1);
  CHECK(slices[0]["name"] == "ticks missing");
  CHECK(slices[0]["ts"] == 5 * k_second_us);
  CHECK(slices[0]["dur"] == k_second_us);
}

TEST_CASE("perfetto: the fixture's samples, stalls and findings lie where they were", "[render][perfetto]") {
  const auto report = open_report((std::filesystem::path(COZY_FIXTURES) / "reports" / "timeline").string());
  REQUIRE(report.ok());
  AnalysisOptions options;
  options.series = true;
  ReportAnalysis analysed = describe(*report);
  for (const Snapshot& snapshot : report->snapshots) analysed.snapshots.push_back(analyse(snapshot, options));
  const Json trace = checked(analysed);
  CHECK(trace["otherData"]["origin_boottime_ns"] == 1000000000000);
  CHECK(trace["otherData"]["origin_epoch_ns"] == 1764581800000000000);
  std::set<std::string> found;
  for (const Json& event : trace["traceEvents"]) {
    const std::string name = event["name"];
    if (event["ph"] == "X" && name == "stood still") {
      CHECK(event["pid"] == process_of(trace, "srv3"));
      CHECK(event["ts"].get<double>() > 59 * k_second_us);
      CHECK(event["ts"].get<double>() < 61.6 * k_second_us);
    }
    if (event["ph"] == "X" && name == "sample 2") CHECK(event["ts"] == 92 * k_second_us);
    if (event["ph"] != "i") continue;
    found.insert(name);
    CHECK_FALSE(event["args"]["says"].get<std::string>().empty());
    if (name == "late-start") {
      CHECK(event["s"] == "p");
      CHECK(event["pid"] == process_of(trace, "srv2"));
      CHECK(event["args"]["seconds"] == 45);
    }
    if (name == "incomplete") CHECK(event["s"] == "g");
  }
  for (const char* id : {"late-start", "vcpu-stalled", "burst-steal", "burst-throttle", "incomplete"})
    CHECK(found.contains(id));
}

TEST_CASE("perfetto: a report without a timeline gives its samples and findings", "[render][perfetto]") {
  const Json trace = checked(rendered::fixture("waited"));
  CHECK(events_of(trace, "C").empty());
  CHECK(events_of(trace, "X").size() >= 7);
  CHECK_FALSE(events_of(trace, "i").empty());
  checked(rendered::fixture("hostile"));
  // Of the shell's reports only the epoch clock is known.
  const Json shell = checked(rendered::fixture("shell"));
  CHECK_FALSE(shell["otherData"].contains("origin_boottime_ns"));
  CHECK_FALSE(events_of(shell, "X").empty());
  CHECK(checked(ReportAnalysis())["traceEvents"].empty());
}

TEST_CASE("perfetto: several snapshots are several groups", "[render][perfetto]") {
  const ReportAnalysis report = rendered::fixture("two-snapshots");
  const Json trace = checked(report);
  CHECK(process_of(trace, "kubernetes-a: samples") != process_of(trace, "kubernetes-b: samples"));
}

TEST_CASE("perfetto: bytes from outside are text, whatever they are", "[render][perfetto]") {
  ReportAnalysis report = rendered::with_names(rendered::hostile_names());
  Timeline timeline = made_timeline::timeline_of(
      20, [](double, TimelineTick& tick) { tick.vcpus = {made_timeline::vcpu(0, 0, false, 'T')}; });
  timeline.subjects[0].node = escape("<script>\"\\::error::x##[group]");
  report.snapshots.front().timeline = timeline_facts(timeline, 5);
  report.snapshots.front().series = timeline_series(timeline);
  const std::string text = to_perfetto(report);
  const Json trace = checked(text);
  CHECK(rendered::commands_in(text).empty());
  CHECK(text.find("::") == std::string::npos);
  CHECK(text.find("<script") == std::string::npos);
  CHECK_FALSE(events_of(trace, "C").empty());
  CHECK_FALSE(events_of(trace, "X").empty());
}

TEST_CASE("perfetto: stalls of a node that overlap are of threads of their own", "[render][perfetto]") {
  ReportAnalysis report = with_series(made_timeline::timeline_of(30, [](double, TimelineTick&) {}));
  Stall stall;
  stall.node = "srv1";
  stall.vcpus = {0, 1};
  for (const auto& [from, to] : {std::pair(5, 20), std::pair(8, 15), std::pair(20, 25)}) {
    stall.from_ns = from * made_timeline::k_second;
    stall.to_ns = to * made_timeline::k_second;
    report.snapshots.front().timeline->stalls.push_back(stall);
  }
  CHECK(events_of(checked(report), "X").size() == 3);
}

TEST_CASE("perfetto: a capture without a clock of the trace, and one with impossible stamps, are left out",
          "[render][perfetto]") {
  ReportAnalysis report = rendered::report_of(hand_made::judged(hand_made::analysis_of({})));
  const auto add = [&](const Stamp& begin, const Stamp& end) {
    report.snapshots.front().captures.push_back({"runner-pressure", 1, Outcome::partial, "cut", begin, end, {}, "f"});
  };
  add({5'000'000'000, 105'000'000'000}, {5'000'001'234, 105'000'001'234});
  add({0, 107'000'000'000}, {0, 108'000'000'000});
  add({0, 1}, {0, 2});
  add({INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MIN});
  add({INT64_MIN, INT64_MIN}, {INT64_MIN, INT64_MIN});
  const auto slices = events_of(checked(report), "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["dur"].dump() == "1.234");
  CHECK(slices[1]["ts"] == 2 * k_second_us);
  CHECK(slices[0]["args"]["outcome"] == "partial");
}

TEST_CASE("perfetto: a long text is cut, and a character stays whole", "[render][perfetto]") {
  CHECK(Json::parse(trace_text("a\"b\\")) == "a\"b\\");
  const std::string cut = Json::parse(trace_text(std::string(4095, 'a') + "\xc3\xa9" + std::string(9000, 'b')));
  CHECK(cut == std::string(4095, 'a') + " [cut]");
}

TEST_CASE("perfetto: nodes beyond what can be opened are left out and counted", "[render][perfetto]") {
  ReportAnalysis report = with_series(made_timeline::timeline_of(
      3, [](double second, TimelineTick& tick) { tick.vcpus = {made_timeline::vcpu(second * 0.5, 0, false, '\0')}; }));
  report.snapshots.front().series->nodes_left_out = 7;
  CHECK(checked(report)["otherData"]["nodes_left_out"] == 7);
}
