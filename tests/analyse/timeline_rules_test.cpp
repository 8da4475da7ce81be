#include <cmath>
#include <string>

#include "tests/analyse/hand_made.hpp"
#include "tests/analyse/made_timeline.hpp"
#include "tests/catch.hpp"

/// Findings of the timeline's shape, and the verdict over them.
namespace cozy {

using namespace made_timeline;

namespace {

Analysis analysis_of(const Timeline& timeline, Analysis analysis = {}) {
  analysis.timeline = timeline_facts(timeline, 5);
  return hand_made::judged(std::move(analysis));
}

const Finding* find(const Analysis& analysis, const std::string& id) {
  for (const Finding& finding : analysis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

std::string says(const Analysis& analysis, const std::string& id) {
  const Finding* finding = find(analysis, id);
  return finding == nullptr ? "" : finding->says;
}

/// Runs a share of the time up to `until`, and another from then on; halts for the rest.
Timeline changing(std::size_t ticks, double before, double until, double after) {
  return timeline_of(ticks, [=](double second, TimelineTick& tick) {
    const double ran = std::min(second, until) * before + std::max(0.0, second - until) * after;
    tick.vcpus = {vcpu(ran, second - ran, false, '\0')};
  });
}

/// A runner of two CPUs, of which steal takes a share from one moment to another.
Timeline stolen(std::size_t ticks, double from, double to, double share) {
  return timeline_of(ticks, [=](double second, TimelineTick& tick) {
    const auto steal = static_cast<std::uint64_t>(std::clamp(second - from, 0.0, to - from) * share * 200);
    const std::uint64_t all = static_cast<std::uint64_t>(second) * 200;
    tick.cpu = {Count(0), Count(0), Count(0), Count(all - std::min(all, steal)),
                Count(0), Count(0), Count(0), Count(steal)};
  });
}

Analysis with_steal(StealVerdict verdict) {
  Analysis analysis = hand_made::analysis_of({});
  analysis.runner = hand_made::runner(4000, 300, verdict);
  return analysis;
}

}  // namespace

TEST_CASE("late-start: a node that did next to nothing until a moment, and then ran", "[late-start]") {
  const Analysis analysis = analysis_of(changing(201, 0.004, 120, 0.8));
  const Finding* finding = find(analysis, "late-start");
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "srv1");
  CHECK(finding->says ==
        "srv1 ran 0.4 % of its vCPUs' time until 120.0 s of the timeline (1970-01-01T00:02:01Z), then 80 % over the "
        "next 80.0 s");
  CHECK(is_near(finding->weight, 0.6));
  REQUIRE(finding->timeline_seconds);
  CHECK(is_near(finding->timeline_seconds->from_seconds, 0));
  CHECK(is_near(finding->timeline_seconds->to_seconds, 120));
  CHECK_FALSE(finding->does_not_prove.empty());
  CHECK(analysis.verdict.starts_with("a sandbox node began late: srv1 ran 0.4 %"));
}

TEST_CASE("late-start: what begins in time, never, or for a moment alone is none", "[late-start]") {
  const auto found = [](const Timeline& timeline) { return find(analysis_of(timeline), "late-start") != nullptr; };
  CHECK(found(changing(201, 0.01, 31, 0.5)));
  CHECK_FALSE(found(changing(201, 0.01, 29, 0.5)));   // shorter than late.idle
  CHECK_FALSE(found(changing(601, 0.01, 50, 0.5)));   // a small part of the timeline
  CHECK_FALSE(found(changing(201, 0.01, 201, 0.5)));  // idle to the end
  CHECK_FALSE(found(changing(201, 0.01, 100, 0.1)));  // never for real
  CHECK_FALSE(found(changing(201, 0.2, 100, 0.8)));   // it did something before
  CHECK_FALSE(found(changing(201, 0.8, 100, 0.8)));
  CHECK_FALSE(found(changing(120, 0.01, 100, 0.8)));  // the window does not lie in the timeline whole
  CHECK_FALSE(found(timeline_of(201, [](double second, TimelineTick& tick) {  // five seconds of run, here and there
    tick.vcpus = {vcpu(std::floor(second / 100) * 5, second, false, '\0')};
  })));
}

TEST_CASE("late-start: a node that waited for a CPU was not idle, and one that stood still is told of so",
          "[late-start]") {
  Timeline waited = changing(201, 0.01, 100, 0.8);
  for (TimelineTick& tick : waited.ticks) tick.vcpus.front().waited_ns = static_cast<std::uint64_t>(tick.begin_ns) / 5;
  CHECK(find(analysis_of(waited), "late-start") == nullptr);
  const Analysis stalled = analysis_of(timeline_of(201, [](double second, TimelineTick& tick) {
    const bool stopped = second < 100.5;
    tick.vcpus = {vcpu(std::max(0.0, second - 100) * 0.8, 0, false, stopped ? 'T' : '\0')};
  }));
  CHECK(find(stalled, "vcpu-stalled") != nullptr);
  CHECK(find(stalled, "late-start") == nullptr);
}

TEST_CASE("late-start: a QEMU that came late", "[late-start]") {
  const auto coming = [](const std::string& name, double seen, double runs) {
    Timeline timeline = timeline_of(201, [=](double second, TimelineTick& tick) {
      if (second < seen) return;
      tick.vcpus = {vcpu(std::max(0.0, second - runs) * 0.9, 0, false, '\0')};
    });
    timeline.subjects[0].node = name;
    return analysis_of(timeline);
  };
  CHECK(says(coming("srv2", 60, 60), "late-start") ==
        "no QEMU of srv2 was seen until 60.0 s of the timeline (1970-01-01T00:01:01Z), then it ran 90 % over the next "
        "140.0 s");
  CHECK(says(coming("srv2", 60, 100), "late-start")
            .find("no QEMU of srv2 was seen for the first 60.0 s, and it ran "
                  "0 % of its vCPUs' time until 100.0 s") == 0);
  CHECK(says(coming("process 77", 60, 60), "late-start").empty());
  CHECK_FALSE(says(coming("process 77", 0, 60), "late-start").empty());
}

TEST_CASE("late-start: what was not read for long is neither idle nor absent", "[late-start]") {
  Timeline timeline = changing(201, 0.01, 100, 0.8);
  for (std::size_t i = 10; i < 60; ++i) timeline.ticks[i].vcpus.clear();
  CHECK(find(analysis_of(timeline), "late-start") == nullptr);
  timeline = changing(201, 0.01, 100, 0.8);
  timeline.ticks[10].vcpus.clear();
  CHECK(find(analysis_of(timeline), "late-start") != nullptr);
}

TEST_CASE("late-start: of many nodes as many are told of as a reader looks at", "[late-start]") {
  Timeline timeline = changing(80, 0.01, 40, 0.8);
  for (std::uint64_t i = 10; i < 200; ++i) {
    timeline.subjects[i] = {"vcpu", "n" + std::to_string(i), 1, 1, 0, 0, ""};
    for (TimelineTick& tick : timeline.ticks) {
      tick.vcpus.push_back(tick.vcpus.front());
      tick.vcpus.back().subject = i;
    }
  }
  CHECK(hand_made::all(analysis_of(timeline), "late-start").size() == 20);
}

TEST_CASE("burst-steal: most of a proved steal in few of the seconds", "[burst]") {
  const Analysis analysis = analysis_of(stolen(61, 20, 24, 0.5), with_steal(StealVerdict::proved));
  const Finding* finding = find(analysis, "burst-steal");
  REQUIRE(finding != nullptr);
  CHECK(finding->subject == "runner");
  CHECK(finding->says ==
        "4.0 s of the 4.0 s that steal took lie in 4.0 s of 60.0 s, the first at 20.0 s of the "
        "timeline (1970-01-01T00:00:21Z)");
  REQUIRE(finding->timeline_seconds);
  CHECK(is_near(finding->timeline_seconds->from_seconds, 20));
  CHECK(is_near(finding->timeline_seconds->to_seconds, 24));
}

TEST_CASE("burst-steal: none where it is not proved, spread evenly, small, or hardly read", "[burst]") {
  const auto found = [](const Timeline& timeline, StealVerdict verdict) {
    return find(analysis_of(timeline, with_steal(verdict)), "burst-steal") != nullptr;
  };
  const Timeline burst = stolen(61, 20, 24, 0.5);
  CHECK(found(burst, StealVerdict::proved));
  CHECK_FALSE(found(burst, StealVerdict::not_observable));
  CHECK_FALSE(found(burst, StealVerdict::unusable));
  CHECK(find(analysis_of(burst), "burst-steal") == nullptr);  // no runner that was judged
  CHECK_FALSE(found(stolen(61, 0, 60, 0.5), StealVerdict::proved));
  CHECK_FALSE(found(stolen(61, 20, 40, 0.5), StealVerdict::proved));  // a third of the seconds
  CHECK_FALSE(found(stolen(61, 20, 24, 0.1), StealVerdict::proved));  // 0.8 s
  CHECK_FALSE(found(stolen(9, 2, 3, 1), StealVerdict::proved));       // few ticks
  Timeline without = burst;
  for (TimelineTick& tick : without.ticks) tick.cpu.resize(7);
  CHECK_FALSE(found(without, StealVerdict::proved));
  without = burst;
  for (TimelineTick& tick : without.ticks) tick.cpu[7] = {};
  CHECK_FALSE(found(without, StealVerdict::proved));
  without = burst;
  without.ticks_per_second = 0;
  CHECK_FALSE(found(without, StealVerdict::proved));
  Timeline part = burst;  // a step whose column fell is not known, and no part of the burst
  part.ticks[23].cpu[7] = 0;
  CHECK(says(analysis_of(part, with_steal(StealVerdict::proved)), "burst-steal").find(" of 59.0 s, ") !=
        std::string::npos);
}

TEST_CASE("verdict: of the shapes a standstill comes first, then the heaviest", "[late-start][burst]") {
  Timeline timeline = stolen(201, 20, 24, 0.5);
  const Timeline late = changing(201, 0.01, 100, 0.8);
  for (std::size_t i = 0; i < timeline.ticks.size(); ++i) timeline.ticks[i].vcpus = late.ticks[i].vcpus;
  Analysis analysis = analysis_of(timeline, with_steal(StealVerdict::proved));
  CHECK(find(analysis, "burst-steal") != nullptr);
  CHECK(analysis.verdict.starts_with("a sandbox node began late: "));

  timeline.subjects[5] = {"vcpu", "srv2", 101, 1, 0, 0, ""};
  for (std::size_t i = 0; i < timeline.ticks.size(); ++i) {
    const auto second = static_cast<double>(i);
    const bool stopped = second > 50 && second < 60.5;
    timeline.ticks[i].vcpus.push_back(vcpu(ran_with_gap(second, 50, 60), 0, false, stopped ? 'T' : '\0'));
    timeline.ticks[i].vcpus.back().subject = 5;
  }
  analysis = analysis_of(timeline, with_steal(StealVerdict::proved));
  CHECK(analysis.verdict.starts_with("a sandbox node stood still: vCPU 0 of srv2 "));
  CHECK(analysis.findings.front().id == "vcpu-stalled");

  SECTION("and a layer of the whole window that is a warning, where it is heavier than the standstill") {
    Analysis waited =
        hand_made::analysis_of({hand_made::node("srv1", {0.4, 0.5}), hand_made::node("srv2", {0.4, 0.5})});
    CHECK(analysis_of(timeline, waited).verdict.starts_with("the sandbox nodes waited for CPU"));
  }
}

}  // namespace cozy
