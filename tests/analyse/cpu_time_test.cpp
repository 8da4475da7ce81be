#include "collector/analyse/cpu_time.hpp"

#include <string>

#include "probes/probe.hpp"
#include "tests/catch.hpp"

namespace cozy {

namespace {

Reading parse_stat(std::string_view text) { return find_probe("runner-kernel-cpu-time")->parse(text); }

ReadSpan at_second(std::int64_t second) {
  return {Stamp{second * k_ns_per_second, 0}, Stamp{second * k_ns_per_second, 0}};
}

CpuTime between(const std::string& before, const std::string& after, const CpuTimeFacts& facts = {}) {
  const Reading first = parse_stat(before);
  const Reading second = parse_stat(after);
  return cpu_time(difference({first, at_second(100), true}, {second, at_second(110), true}, {}), facts);
}

}  // namespace

TEST_CASE("cpu time: without the kernel's first row the sum over the CPUs stands for the runner") {
  const CpuTime time =
      between("cpu0 10 0 0 90 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n", "cpu0 60 0 0 140 0 0 0 0\ncpu1 50 0 0 50 0 0 0 0\n");
  REQUIRE(time.runner);
  CHECK(time.summed);
  CHECK_FALSE(time.aggregate);
  CHECK(time.runner->total_ticks == 200U);
  CHECK(time.runner->share(CpuColumn::user) == 0.5);
  CHECK_FALSE(time.runner->share(CpuColumn::guest));
}

TEST_CASE("cpu time: the same column fallen on one CPU only is flagged in the sum") {
  const CpuTime time = between("cpu0 10 0 0 90\ncpu1 10 0 0 90\ncpu2 1 0 0 1\n", "cpu0 20 0 0 80\ncpu1 20 0 0 180\n");
  REQUIRE(time.runner);
  CHECK(time.gone == std::vector<std::string>{"cpu2"});
  CHECK(time.runner->at(CpuColumn::idle).change == Change::rate);
  CHECK(time.runner->at(CpuColumn::idle).fell);
  CHECK(time.runner->total_ticks == 110U);
  CHECK_FALSE(time.runner->at(CpuColumn::user).fell);
}

TEST_CASE("cpu time: steal that fell on one CPU is unusable and leaves the total") {
  const CpuTime time = between("cpu 0 0 0 0 0 0 0 20\ncpu0 0 0 0 0 0 0 0 10\ncpu1 0 0 0 0 0 0 0 10\n",
                               "cpu 100 0 0 100 0 0 0 25\ncpu0 50 0 0 50 0 0 0 5\ncpu1 50 0 0 50 0 0 0 20\n");
  CHECK(time.steal == StealVerdict::unusable);
  CHECK(time.runner->total_ticks == 200U);
  CHECK_FALSE(time.runner->share(CpuColumn::steal));
  CHECK(time.runner->share(CpuColumn::user) == 0.5);
}

TEST_CASE("cpu time: a steal column that is not there is not observable, whatever the clock") {
  CpuTimeFacts facts;
  facts.steal_clock = StealClock::offered;
  const CpuTime time = between("cpu 0 0 0 0\ncpu0 0 0 0 0\n", "cpu 1 0 0 9\ncpu0 1 0 0 9\n", facts);
  CHECK(time.steal == StealVerdict::not_observable);
  CHECK(time.runner->at(CpuColumn::steal).change == Change::absent);
  CHECK_FALSE(time.runner->share(CpuColumn::steal));
}

TEST_CASE("cpu time: rows that are a container's by other evidence give no runner") {
  CpuTimeFacts facts;
  facts.container_view = {"its rows are of 1 CPUs and the online list is 0-7"};
  facts.steal_clock = StealClock::offered;
  const CpuTime time =
      between("cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\n", "cpu 1 0 0 9 0 0 0 3\ncpu0 1 0 0 9 0 0 0 3\n", facts);
  CHECK_FALSE(time.runner);
  CHECK(time.steal == StealVerdict::not_observable);
  CHECK_FALSE(time.aggregate->share(CpuColumn::user));
  CHECK(time.cpus.at(0).share(CpuColumn::idle));
}

TEST_CASE("cpu time: numbers that do not add up in 64 bits give no share") {
  const CpuTime time =
      between("cpu 0 0 0 0\ncpu0 0 0 0 0\n", "cpu 18446744073709551615 1 0 9\ncpu0 18446744073709551615 1 0 9\n");
  REQUIRE(time.runner);
  CHECK_FALSE(time.runner->total_ticks);
  CHECK_FALSE(time.runner->share(CpuColumn::user));
}

TEST_CASE("cpu time: two readings of the same instant have no shares") {
  const std::string text = "cpu 5 5 5 5 5 5 5 5\ncpu0 5 5 5 5 5 5 5 5\n";
  const CpuTime time = between(text, text);
  REQUIRE(time.runner);
  CHECK(time.runner->total_ticks == 0U);
  CHECK_FALSE(time.runner->share(CpuColumn::idle));
  CHECK(time.steal == StealVerdict::none_seen);  // it climbed before
}

TEST_CASE("cpu time: a CPU that a cut reading lacks did not leave") {
  const Reading first = parse_stat("cpu 2 0 0 8\ncpu0 1 0 0 4\ncpu1 1 0 0 4\n");
  const Reading second = parse_stat("cpu 4 0 0 16\ncpu0 2 0 0 8\n");
  const CpuTime time = cpu_time(difference({first, at_second(1), true}, {second, at_second(2), false}, {}), {});
  CHECK(time.partial);
  CHECK(time.gone.empty());
  CHECK(time.unread == std::vector<std::string>{"cpu1"});
  CHECK(time.summed);
}

TEST_CASE("cpu time: a column that grew by far more than there was time is of no use, and its row is named") {
  const std::string before = "cpu 20 0 0 20 0 0 0 9\ncpu0 10 0 0 10 0 0 0 9\ncpu1 10 0 0 10 0 0 0 0\n";
  SECTION("on one CPU: the other stands for the runner") {
    const CpuTime time = between(before,
                                 "cpu 520 0 0 18446744073709551611 0 0 0 9\n"
                                 "cpu0 260 0 0 18446744073709551611 0 0 0 9\ncpu1 510 0 0 510 0 0 0 0\n");
    CHECK(time.beyond_time == std::vector<std::string>{"cpu", "cpu0"});
    REQUIRE(time.runner);
    CHECK(time.summed);
    CHECK(time.runner->total_ticks == 1000U);
    CHECK(time.runner->share(CpuColumn::user) == 0.5);
  }
  SECTION("on every CPU: nothing is left") {
    const CpuTime time =
        between(before, "cpu 9000000 0 0 20 0 0 0 9\ncpu0 4500000 0 0 10 0 0 0 9\ncpu1 4500000 0 0 10 0 0 0 0\n");
    CHECK(time.beyond_time.size() == 3);
    REQUIRE(time.runner);
    CHECK_FALSE(time.runner->total_ticks);
    CHECK_FALSE(time.runner->at(CpuColumn::user).delta_ticks);
  }
  SECTION("a window that is known badly: shares are of the total") {
    const CpuTime time =
        between(before, "cpu 9020 0 0 9020 0 0 0 9\ncpu0 4510 0 0 4510 0 0 0 9\ncpu1 4510 0 0 4510 0 0 0 0\n");
    CHECK(time.beyond_time.empty());
    CHECK(time.runner->share(CpuColumn::user) == 0.5);
  }
  SECTION("steal has a verdict of its own") {
    const CpuTime time =
        between(before, "cpu 520 0 0 520 0 0 0 9000\ncpu0 260 0 0 260 0 0 0 9000\ncpu1 260 0 0 260 0 0 0 0\n");
    CHECK(time.beyond_time.empty());
    CHECK(time.steal == StealVerdict::unusable);
  }
}

TEST_CASE("cpu time: without one CPU in both readings the kernel's first row says nothing") {
  const CpuTime time = between("cpu 20 0 0 80\ncpu0 20 0 0 80\n", "cpu 120 0 0 980\ncpu1 120 0 0 980\n");
  REQUIRE(time.runner);
  CHECK_FALSE(time.runner->total_ticks);
}

}  // namespace cozy
