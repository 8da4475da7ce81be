#include "collector/report/timeline.hpp"

#include <string>

#include "collector/report/json_line.hpp"
#include "tests/catch.hpp"

namespace cozy {

namespace {

const std::string k_head =
    R"({"schema":"cozybracket-timeline-1","interval_ns":1000000000,"ticks_per_second":100,"cpus":2,"legend":{"t":"x"}})"
    "\n";
const std::string k_subject = R"({"subject":1,"kind":"vcpu","node":"srv1","pid":7,"start":8,"vcpu":3,"tid":9})"
                              "\n";
const std::string k_tick =
    R"({"t":[10,11,12,13],"missed":0,"cpu":[1,2,null],"psi":[5,null],"mem":77,"self":4,"v":[[1,100,null,300,400,1,"T"]],"o":[[4,50,null]],"c":[[2,5,6,7,null]]})"
    "\n";

}  // namespace

TEST_CASE("json line: what a timeline is made of, and nothing else") {
  const auto value = parse_json_line(R"({"a":[1,null,"x\"\\y"],"b":{"c":18446744073709551615}})");
  REQUIRE(value);
  CHECK(value->find("a")->list().size() == 3);
  CHECK(*value->find("a")->list()[2].text() == "x\"\\y");
  CHECK_FALSE(value->find("a")->list()[1].number());
  CHECK(value->find("b")->number("c") == UINT64_MAX);
  for (const char* bad : {"", "{", "[1,]", "[1", "-1", "1.5", "nul", "\"x", "{\"a\" 1}", "[1] 2",
                          "18446744073709551616", "[[[[[[[[1]]]]]]]]", "{\"a\":}", "true"}) {
    CHECK_FALSE(parse_json_line(bad));
  }
  CHECK_FALSE(parse_json_line(std::string(1'000'000, '[')));
}

TEST_CASE("timeline: subjects and ticks, and null is absent") {
  const auto timeline = parse_timeline(k_head + k_subject + k_tick);
  REQUIRE(timeline);
  CHECK(timeline->interval_ns == 1'000'000'000);
  CHECK(timeline->subjects.at(1).vcpu == 3);
  REQUIRE(timeline->ticks.size() == 1);
  const TimelineTick& tick = timeline->ticks.front();
  CHECK(tick.begin_ns == 11);
  CHECK(tick.cpu == std::vector<Count>{1, 2, std::nullopt});
  REQUIRE(tick.vcpus.size() == 1);
  CHECK(tick.vcpus.front().ran_ns == 100U);
  CHECK_FALSE(tick.vcpus.front().waited_ns);
  CHECK(tick.vcpus.front().state == 'T');
  REQUIRE(tick.others.size() == 1);
  CHECK(tick.others.front().subject == 4);
  CHECK(tick.others.front().ran_ns == 50U);
  CHECK_FALSE(tick.others.front().waited_ns);
  REQUIRE(tick.cgroups.size() == 1);
  CHECK_FALSE(tick.cgroups.front().throttled_ns);
  CHECK(timeline->bad_lines == 0);
}

TEST_CASE("timeline: a last line that was cut is left out, and no fault") {
  const std::string cut = k_head + k_subject + k_tick + k_tick.substr(0, 40);
  const auto timeline = parse_timeline(cut);
  REQUIRE(timeline);
  CHECK(timeline->ticks.size() == 1);
  CHECK(timeline->bad_lines == 0);
}

TEST_CASE("timeline: lines of others are counted, and time does not go back") {
  const auto timeline = parse_timeline(k_head + "hello\n\n" + k_tick + k_tick + R"({"t":[5,4,3,2]})" + "\n[1]\n");
  REQUIRE(timeline);
  CHECK(timeline->ticks.size() == 1);
  CHECK(timeline->bad_lines == 5);
}

TEST_CASE("timeline: a doubled interval is that of the ticks behind it, and one that is none is no line of ours") {
  const std::string second = R"({"t":[20,21,22,23]})"
                             "\n";
  const auto timeline =
      parse_timeline(k_head + k_tick + R"({"interval_ns":2000000000,"at":12})" + "\n" + second +
                     R"({"interval_ns":0})" + "\n" + R"({"interval_ns":18446744073709551615})" + "\n");
  REQUIRE(timeline);
  REQUIRE(timeline->ticks.size() == 2);
  CHECK(timeline->slowed);
  CHECK(timeline->ticks[0].interval_ns == 1'000'000'000);
  CHECK(timeline->ticks[1].interval_ns == 2'000'000'000);
  CHECK(timeline->interval_ns == 1'000'000'000);
  CHECK(timeline->bad_lines == 2);
}

TEST_CASE("timeline: a subject without a node is no line of ours") {
  const auto timeline = parse_timeline(k_head + R"({"subject":1,"kind":"vcpu"})" + "\n" + k_tick);
  REQUIRE(timeline);
  CHECK(timeline->subjects.empty());
  CHECK(timeline->bad_lines == 1);
}

TEST_CASE("timeline: who writes it, and why it ends") {
  const std::string head = R"({"schema":"cozybracket-timeline-1","interval_ns":1,"by":"watch",)"
                           R"("recorder":{"pid":7,"start":8,"boot":"b\\x0a"}})"
                           "\n";
  const auto at_work = parse_timeline(head + k_tick);
  REQUIRE(at_work);
  CHECK(at_work->recorder.by == "watch");
  CHECK(at_work->recorder.pid == 7);
  CHECK(at_work->recorder.start_ticks == 8);
  CHECK(at_work->recorder.boot == "b\\x0a");
  CHECK_FALSE(at_work->end);
  for (const TimelineEnd end : {TimelineEnd::stopped, TimelineEnd::starter, TimelineEnd::last_qemu,
                                TimelineEnd::max_duration, TimelineEnd::byte_budget, TimelineEnd::write_failed}) {
    const auto ended =
        parse_timeline(head + k_tick + R"({"end":")" + std::string(timeline_end_name(end)) + "\",\"at\":14}\n");
    REQUIRE(ended);
    CHECK(ended->end == end);
    CHECK(ended->bad_lines == 0);
    CHECK_FALSE(timeline_end_words(end).empty());
  }
  const auto unknown = parse_timeline(k_head + "{\"end\":\"x\"}\n");
  REQUIRE(unknown);
  CHECK_FALSE(unknown->end);
  CHECK(unknown->recorder.by.empty());
}

TEST_CASE("timeline: a text without its head is none") {
  CHECK_FALSE(parse_timeline(""));
  CHECK_FALSE(parse_timeline(k_tick));
  CHECK_FALSE(parse_timeline(k_head.substr(0, k_head.size() - 1)));
  CHECK_FALSE(parse_timeline("{\"schema\":\"other\",\"interval_ns\":1}\n"));
  CHECK_FALSE(parse_timeline("{\"schema\":\"cozybracket-timeline-1\",\"interval_ns\":0}\n"));
}

}  // namespace cozy
