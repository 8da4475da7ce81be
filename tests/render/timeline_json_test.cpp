#include "collector/render/timeline_json.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "collector/render/json.hpp"
#include "tests/analyse/made_timeline.hpp"
#include "tests/catch.hpp"
#include "tests/render/json_schema.hpp"
#include "tests/render/rendered.hpp"

using namespace cozy;
using json_schema::Json;

namespace {

/// The first snapshot of a whole analysis with that timeline, held against the schema.
Json snapshot_of(const Timeline& timeline) {
  Analysis analysis = hand_made::analysis_of({});
  analysis.timeline = timeline_facts(timeline, 5);
  const Json json = Json::parse(to_json(rendered::report_of(hand_made::judged(std::move(analysis)))));
  const Json schema = Json::parse(rendered::content(rendered::golden_folder().parent_path().parent_path() /
                                                    "collector" / "render" / "analysis.schema.json"));
  for (const std::string& fault : json_schema::Validator(schema).faults(json)) {
    INFO(fault);
    CHECK(fault.empty());
  }
  return json.at("snapshots").at(0);
}

}  // namespace

TEST_CASE("json: the timeline's sums, its stalls, and where a finding lies", "[render][json]") {
  const Json snapshot = snapshot_of(made_timeline::timeline_of(31, [](double second, TimelineTick& tick) {
    const bool stopped = second > 10 && second < 18.5;
    tick.vcpus = {made_timeline::vcpu(made_timeline::ran_with_gap(second, 10, 18), 0, false, stopped ? 'T' : '\0')};
    tick.self_ns = made_timeline::ns(second / 1000);
    if (second == 5) tick.missed = 2;
  }));
  const Json& timeline = snapshot["timeline"];
  CHECK(timeline["seconds"] == 30.0);
  CHECK(timeline["interval_seconds"] == 1.0);
  CHECK(timeline["ticks"] == 31);
  CHECK(timeline["missed"] == 2);
  CHECK(timeline["recorder_seconds"] == 0.03);
  CHECK_FALSE(timeline.contains("slowed"));
  CHECK_FALSE(timeline.contains("steal_seconds"));  // not read is not zero
  REQUIRE(timeline["nodes"].size() == 1);
  CHECK(timeline["nodes"][0]["ran_share"] == Json{{"mean", 0.733333}, {"min", 0.0}, {"max", 1.0}, {"seconds", 30.0}});
  CHECK_FALSE(timeline["nodes"][0].contains("throttled_seconds"));
  REQUIRE(timeline["stalls"].size() == 1);
  CHECK(timeline["stalls"][0]["node"] == "srv1");
  CHECK(timeline["stalls"][0]["from_seconds"] == 10.0);
  CHECK(timeline["stalls"][0]["to_seconds"] == 18.0);
  CHECK(timeline["stalls"][0]["states"] == "T");
  const Json& finding = snapshot["findings"][0];
  CHECK(finding["id"] == "vcpu-stalled");
  CHECK(finding["timeline"] == Json{{"from_seconds", 10.0}, {"to_seconds", 18.0}});
}

TEST_CASE("json: a report without a timeline says nothing of one", "[render][json]") {
  const Json snapshot = snapshot_of(Timeline());
  CHECK_FALSE(snapshot.contains("timeline"));
  for (const Json& finding : snapshot["findings"]) CHECK_FALSE(finding.contains("timeline"));
}

TEST_CASE("json: of a timeline's nodes as many are told of as a script can use", "[render][json]") {
  constexpr std::uint64_t k_nodes = 300;
  Timeline timeline = made_timeline::timeline_of(3, [](double second, TimelineTick& tick) {
    for (std::uint64_t i = 0; i < k_nodes; ++i) {
      tick.vcpus.push_back(made_timeline::vcpu(second, 0, false, '\0'));
      tick.vcpus.back().subject = i;
    }
  });
  for (std::uint64_t i = 0; i < k_nodes; ++i)
    timeline.subjects[i] = {"vcpu", escape("<n\"\n::error::" + std::to_string(i)), 1, 1, i, 0, ""};
  timeline.slowed = true;
  const Json snapshot = snapshot_of(timeline);
  CHECK(snapshot["timeline"]["nodes"].size() == 256);
  CHECK(snapshot["timeline"]["nodes_left_out"] == 44);
  CHECK(snapshot["timeline"]["slowed"] == true);
}
