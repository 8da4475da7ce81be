#include "collector/render/page_data.hpp"

#include <limits>

#include "collector/analyse/timeline_series.hpp"
#include "collector/render/json.hpp"
#include "tests/render/page_case.hpp"

namespace cozy {

namespace {

using paged::Json;

Json parsed(const JsonObject& object) {
  Json json = Json::parse(object.dump_line(), nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

Json data_of(const ReportAnalysis& report) {
  std::vector<PageReport> reports;
  reports.push_back({"", report});
  return parsed(page_data("cozybracket test", reports, nullptr, {}));
}

/// Two steps, the second without some of its numbers.
TimelineSeries two_steps() {
  TimelineSeries series;
  series.begin_ns = 9'804'199'510'025;
  series.epoch_begin_ns = 1'796'096'769'671'424'172;
  series.interval_seconds = 1;
  series.starts = {0, 1.0014};
  series.seconds = {1.0014, 1.9996};
  series.gap = {false, true};
  series.runner.user = {0.25, 1.0 / 3};
  series.runner.steal = {0.0, std::nullopt};
  series.pressure.cpu_some = {std::nullopt, std::nullopt};
  series.memory_available_kb = {2048.0, 3000.0};
  NodeSeries node;
  node.node = escape("a\xff");
  node.vcpus.push_back({3, {0.5, 1.0}, {0.4996, 0.0}, {}, {}, {std::nullopt, 0.0}, {28123.4, std::nullopt}});
  node.others_cpus = {0.12345, 2.0};
  series.nodes.push_back(node);
  series.nodes_left_out = 2;
  return series;
}

ReportAnalysis with_series() {
  Analysis analysis = hand_made::judged(hand_made::analysis_of({hand_made::node("srv1", {0.5, 0.2})}));
  analysis.series = two_steps();
  return rendered::report_of(std::move(analysis));
}

}  // namespace

TEST_CASE("page data: the analysis is what --format json gives", "[render][page]") {
  for (const char* name : {"waited", "shell", "two-snapshots", "hostile"}) {
    const ReportAnalysis report = rendered::fixture(name);
    const Json data = data_of(report);
    CHECK(data["schema"] == "cozybracket.page/1");
    CHECK(data["program"] == "cozybracket test");
    REQUIRE(data["reports"].size() == 1);
    const Json& one = data["reports"][0];
    CHECK(one["label"] == "");
    CHECK(one["analysis"] == Json::parse(to_json(report)));
    CHECK(one["timelines"] == Json::array());
    CHECK(one["captures"] == Json::array());
    CHECK_FALSE(data.contains("comparison"));
  }
}

TEST_CASE("page data: a timeline's numbers, absent ones as null", "[render][page]") {
  const Json timeline = data_of(with_series())["reports"][0]["timelines"].at(0);
  CHECK(timeline["snapshot"] == "kubernetes");
  CHECK(timeline["epoch_seconds"] == 1796096769.671);
  CHECK(timeline["boottime_seconds"] == 9804.2);
  CHECK(timeline["interval_seconds"] == 1);
  CHECK(timeline["merged"] == 1);
  CHECK(timeline["nodes_left_out"] == 2);
  CHECK(timeline["starts"] == Json{0, 1.001});
  CHECK(timeline["lengths"] == Json{1.001, 2});
  CHECK(timeline["gaps"] == Json::array({1}));
  CHECK(timeline["runner"] == Json{{"user", {250, 333}}, {"steal", {0, nullptr}}});
  CHECK_FALSE(timeline.contains("pressure"));  // nothing of it is known
  CHECK(timeline["memory_available_mib"] == Json{2, 3});
  const Json node = timeline["nodes"].at(0);
  CHECK(node["name"] == "a\\xff");
  CHECK(node["others_cpus"] == Json{0.123, 2});
  CHECK_FALSE(node.contains("cgroup_cpus"));
  const Json vcpu = node["vcpus"].at(0);
  CHECK(vcpu["index"] == 3);
  CHECK(vcpu["ran"] == Json{500, 1000});
  CHECK(vcpu["waited"] == Json{500, 0});
  CHECK(vcpu["halted_or_other"] == Json{nullptr, 0});
  CHECK(vcpu["exits_per_second"] == Json{28123, nullptr});
  CHECK_FALSE(vcpu.contains("halted"));
}

TEST_CASE("page data: numbers take few bytes", "[render][page]") {
  JsonObject json;
  json.numbers("whole", {0.0, -0.0, 1.2, 999.6, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}, 1);
  json.numbers("parts", {0.0, 0.1 + 0.2, 2.0}, 1000);
  json.numbers("none", {std::nullopt, std::nan("")}, 1);
  json.numbers("empty", {}, 1);
  CHECK(json.dump_line() == R"({"whole":[0,0,1,1000,1e+300,null,null],"parts":[0,0.3,2]})");
}

TEST_CASE("page data: a text of several lines stays what it is, but for bytes that could do harm", "[render][page]") {
  JsonObject json;
  using std::literals::operator""sv;
  json.block("text", "a\tb\n</script> <!-- ::error:: ##[group] \\x41 \xff\x00 \xe2\x80\xa8 caf\xc3\xa9\r\n\n"sv);
  json.block("nothing", "");
  const std::string line = json.dump_line();
  CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < '\x7f'; }));
  for (const char* wrong : {"<", "::", "##["}) CHECK(line.find(wrong) == std::string::npos);
  const Json read = Json::parse(line);
  CHECK(read["text"] ==
        "a\tb\n</script> <!-- ::error:: ##[group] \\x41 \\xff\\x00 \\xe2\\x80\\xa8 caf\xc3\xa9\\x0d\n\n");
  CHECK(read["nothing"] == "");
}

TEST_CASE("page data: a comparison has both reports, and what compare gives", "[render][page]") {
  std::vector<PageReport> reports;
  reports.push_back({"green", rendered::fixture("waited")});
  reports.push_back({"red", rendered::fixture("shell")});
  const ReportComparison comparison{"g", "r", {"a note"}, {}};
  const Json data = parsed(page_data("cozybracket test", reports, &comparison, {}));
  CHECK(data["reports"][0]["label"] == "green");
  CHECK(data["reports"][1]["label"] == "red");
  CHECK(data["reports"][1]["analysis"]["report"]["origin"] == "shell");
  CHECK(data["comparison"] == Json::parse(render(comparison, Format::json)));
}

}  // namespace cozy
