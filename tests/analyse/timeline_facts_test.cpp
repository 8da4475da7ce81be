#include "collector/analyse/timeline_facts.hpp"

#include <algorithm>
#include <string>

#include "collector/analyse/rules.hpp"
#include "collector/analyse/verdict.hpp"
#include "tests/analyse/made_timeline.hpp"
#include "tests/catch.hpp"

namespace cozy {

using namespace made_timeline;

namespace {

std::vector<Stall> stalls(const Timeline& timeline) {
  const auto facts = timeline_facts(timeline, 5);
  REQUIRE(facts);
  return facts->stalls;
}

Analysis analysis_with(const Timeline& timeline) {
  Analysis analysis;
  analysis.timeline = timeline_facts(timeline, 5);
  find_findings(analysis);
  return analysis;
}

const Finding* find(const Analysis& analysis, const std::string& id) {
  for (const Finding& finding : analysis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("timeline: a vCPU that was stopped between two ticks stands still for as long as it did") {
  const auto found = stalls(timeline_of(30, [](double second, TimelineTick& tick) {
    const bool stopped = second > 10.4 && second < 18.4;
    tick.vcpus = {vcpu(ran_with_gap(second, 10.4, 18.4), 0, false, stopped ? 'T' : '\0')};
  }));
  REQUIRE(found.size() == 1);
  CHECK(found.front().node == "srv1");
  CHECK(found.front().states == "T");
  CHECK(is_near(found.front().seconds(), 8));
  CHECK(is_near(static_cast<double>(found.front().from_ns) / 1e9, 11.4));
}

TEST_CASE("timeline: a vCPU that is halted does not stand still, also while the halt is not counted") {
  const auto found = stalls(timeline_of(30, [](double second, TimelineTick& tick) {
    const bool halted = second > 5 && second < 25;
    tick.vcpus = {vcpu(ran_with_gap(second, 5, 25), second < 25 ? 0 : 20, halted, 'S')};
  }));
  CHECK(found.empty());
}

TEST_CASE("timeline: a thread that sleeps counts only where halts are counted") {
  const auto sleeps = [](double halted) {
    return timeline_of(30, [=](double second, TimelineTick& tick) {
      tick.vcpus = {vcpu(ran_with_gap(second, 5, 15), halted, false, 'S')};
    });
  };
  CHECK(stalls(sleeps(0)).empty());
  CHECK(stalls(sleeps(1)).size() == 1);
}

TEST_CASE("timeline: a thread that sleeps is not known to stand still where KVM does not tell of a halt in progress") {
  const auto found = [](char state) {
    return stalls(timeline_of(30, [=](double second, TimelineTick& tick) {
      tick.vcpus = {vcpu(ran_with_gap(second, 5, 15), second < 15 ? 1 : 11, false, state)};
      tick.vcpus.front().blocking.reset();
    }));
  };
  CHECK(found('S').empty());
  CHECK(found('T').size() == 1);
}

TEST_CASE("timeline: a cgroup without a quota and a steal that cannot be seen are no part of what happened meanwhile") {
  const auto says = [](std::uint64_t periods, StealVerdict steal) {
    Analysis analysis;
    analysis.timeline = timeline_facts(
        timeline_of(30,
                    [=](double second, TimelineTick& tick) {
                      tick.vcpus = {
                          vcpu(ran_with_gap(second, 10, 18), 0, false, second > 10 && second < 18.5 ? 'T' : '\0')};
                      tick.cgroups = {{1, Count(0), Count(periods), Count(0), Count(0)}};
                      tick.cpu = {Count(0), Count(0), Count(0), Count(static_cast<std::uint64_t>(second * 100)),
                                  Count(0), Count(0), Count(0), Count(0)};
                    }),
        5);
    analysis.runner.emplace();
    analysis.runner->steal = steal;
    find_findings(analysis);
    const Finding* finding = find(analysis, "vcpu-stalled");
    REQUIRE(finding != nullptr);
    return finding->says;
  };
  const std::string nothing = says(0, StealVerdict::not_observable);
  CHECK(nothing.find("throttled") == std::string::npos);
  CHECK(nothing.find("steal") == std::string::npos);
  const std::string both = says(10, StealVerdict::none_seen);
  CHECK(both.find("its cgroup was throttled for 0.0 s") != std::string::npos);
  CHECK(both.find("steal was 0 %") != std::string::npos);
}

TEST_CASE("timeline: a verdict by averages tells of the longest stall as well, and one about it says it once") {
  Analysis analysis = analysis_with(timeline_of(30, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(ran_with_gap(second, 10, 18), 0, false, second > 10 && second < 18.5 ? 'T' : '\0')};
  }));
  const std::string alone = verdict_of(analysis);
  CHECK(alone.find("stood still") == alone.rfind("stood still"));
  Finding waited;
  waited.id = "nodes-waited";
  waited.level = Level::warning;
  waited.subject = "srv1";
  waited.says = "srv1 was runnable and not running for 90 %";
  waited.weight = 1;
  analysis.findings.push_back(waited);
  const std::string verdict = verdict_of(analysis);
  CHECK(verdict.find("90 %; and vCPUs of srv1 stood still for 8.0 s at 10.0 s of the timeline") != std::string::npos);
}

TEST_CASE("timeline: four seconds are no stall, and a gap of the timeline is none") {
  CHECK(stalls(timeline_of(30, [](double second, TimelineTick& tick) {
          tick.vcpus = {vcpu(ran_with_gap(second, 10, 14), 0, false, 'T')};
        })).empty());
  Timeline gap =
      timeline_of(30, [](double second, TimelineTick& tick) { tick.vcpus = {vcpu(second, 0, false, '\0')}; });
  gap.ticks.erase(gap.ticks.begin() + 10, gap.ticks.begin() + 20);
  CHECK(stalls(gap).empty());
}

TEST_CASE("timeline: a stall is a finding, and the verdict speaks of it") {
  Analysis analysis = analysis_with(timeline_of(30, [](double second, TimelineTick& tick) {
    tick.vcpus = {vcpu(ran_with_gap(second, 10, 18), 0, false, second > 10 && second < 18.5 ? 'T' : '\0')};
    tick.cpu = {Count(0), Count(0), Count(0), Count(static_cast<std::uint64_t>(second * 100)),
                Count(0), Count(0), Count(0), Count(0)};
  }));
  const Finding* finding = find(analysis, "vcpu-stalled");
  REQUIRE(finding != nullptr);
  CHECK(finding->says.find("vCPU 0 of srv1 neither ran nor halted for 8.0 s, from 10.0 s to 18.0 s") == 0);
  CHECK(finding->says.find("state T") != std::string::npos);
  CHECK(finding->says.find("the runner was idle for 100 %") != std::string::npos);
  CHECK(verdict_of(analysis).find("stood still") != std::string::npos);
}

TEST_CASE("timeline: throttling in few of the seconds is a burst, in all of them it is not") {
  const auto throttled = [](double from, double to) {
    return timeline_of(40, [=](double second, TimelineTick& tick) {
      CgroupTick cgroup;
      cgroup.subject = 1;
      cgroup.periods = 10;
      cgroup.throttled_ns = ns(std::clamp(second - from, 0.0, to - from) * 0.5);
      tick.cgroups = {cgroup};
    });
  };
  const Analysis burst = analysis_with(throttled(20, 25));
  REQUIRE(find(burst, "burst-throttle") != nullptr);
  CHECK(find(burst, "burst-throttle")->subject == "srv1");
  CHECK(find(analysis_with(throttled(0, 39)), "burst-throttle") == nullptr);
  CHECK(find(analysis_with(throttled(20, 21)), "burst-throttle") == nullptr);
}

TEST_CASE("timeline: late ticks are a finding when they are many") {
  const auto late = [](int every) {
    int count = 0;
    return timeline_of(40, [every, count](double, TimelineTick& tick) mutable {
      if (++count % every == 0) tick.due_ns -= 600'000'000;
    });
  };
  CHECK(find(analysis_with(late(5)), "recorder-starved") != nullptr);
  CHECK(find(analysis_with(late(20)), "recorder-starved") == nullptr);
}

TEST_CASE("timeline: one that ends well before sample 2 is a finding, with the reason that it gives") {
  const auto short_by = [](double seconds, std::optional<TimelineEnd> end) {
    Timeline timeline = timeline_of(40, [](double, TimelineTick&) {});
    timeline.end = end;
    Analysis analysis;
    analysis.timeline = timeline_facts(timeline, 5);
    CaptureState sample;
    sample.begin = Stamp{1, 1};
    analysis.captures = {sample, sample, sample};
    analysis.captures[1].sample = analysis.captures[2].sample = 2;
    analysis.captures[1].begin.reset();
    analysis.captures[2].begin->boottime_ns = analysis.timeline->end_ns + static_cast<std::int64_t>(seconds * 1e9);
    find_findings(analysis);
    return analysis;
  };
  const Analysis analysis = short_by(20, TimelineEnd::max_duration);
  const Finding* finding = find(analysis, "timeline-short");
  REQUIRE(finding != nullptr);
  CHECK(finding->says.starts_with("the timeline ends after "));
  CHECK(finding->says.ends_with(" 20.0 s before sample 2: it had reached its longest duration"));
  const Analysis killed = short_by(20, std::nullopt);
  REQUIRE(find(killed, "timeline-short") != nullptr);
  CHECK(find(killed, "timeline-short")->says.ends_with("sample 2: its recorder was killed"));
  CHECK(find(short_by(4.9, TimelineEnd::stopped), "timeline-short") == nullptr);
  CHECK(find(short_by(-3, TimelineEnd::stopped), "timeline-short") == nullptr);
  CHECK(find(analysis_with(timeline_of(40, [](double, TimelineTick&) {})), "timeline-short") == nullptr);
}

}  // namespace cozy
