#include "probes/cgroup_knobs.hpp"

#include <cerrno>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

using Number = std::optional<std::uint64_t>;

constexpr std::string_view k_base_keys[] = {"usage_usec", "user_usec", "system_usec"};
constexpr std::string_view k_throttle_keys[] = {"nr_periods", "nr_throttled", "throttled_usec"};

}  // namespace

TEST_CASE("cpu.stat: each key is optional, and absent is not 0", "[cgroup]") {
  SECTION("P1: all six") {
    const FlatKeys keys = parse_flat_keys(
        "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 100\nnr_throttled 7\n"
        "throttled_usec 1500000\n");
    CHECK(keys.values.size() == 6);
    CHECK(keys.find("usage_usec") == Number(2500000));
    CHECK(keys.find("nr_periods") == Number(100));
    CHECK(keys.find("nr_throttled") == Number(7));
    CHECK(keys.find("throttled_usec") == Number(1500000));
  }
  SECTION("P2: base keys alone") {
    const FlatKeys keys = parse_flat_keys("usage_usec 1016506\nuser_usec 0\nsystem_usec 1016506\nnice_usec 0\n");
    CHECK(keys.find("user_usec") == Number(0));
    CHECK(keys.find("nice_usec") == Number(0));
    for (const auto key : k_throttle_keys) CHECK_FALSE(keys.find(key));
  }
  SECTION("P3, P4, P5, P7: nothing, no value, no number, a sign") {
    for (const char* text : {"", "\n\n", "usage_usec", "usage_usec\n", "usage_usec abc\nnr_throttled -\n",
                             "usage_usec -5\n", "usage_usec +5\n", "usage_usec 1 2\n", "usage_usec 1e3\n"}) {
      CAPTURE(text);
      CHECK(parse_flat_keys(text).values.empty());
      CHECK(parse_flat_keys(text).too_large.empty());
    }
  }
  SECTION("P6: version 1 has its own key for nanoseconds") {
    const FlatKeys keys =
        parse_flat_keys("nr_periods 31\nnr_throttled 30\nthrottled_time 1306147419\nnr_bursts 0\nburst_time 0\n");
    CHECK(keys.find("throttled_time") == Number(1306147419));
    CHECK_FALSE(keys.find("throttled_usec"));
    CHECK_FALSE(keys.find("usage_usec"));
  }
  SECTION("P8, P9: 64 bits and not one more") {
    CHECK(parse_flat_keys("usage_usec 18446744073709551615\n").find("usage_usec") == Number(18446744073709551615U));
    const FlatKeys keys = parse_flat_keys("usage_usec 18446744073709551616\n");
    CHECK_FALSE(keys.find("usage_usec"));
    CHECK(keys.too_large == std::vector<std::string>{"usage_usec"});
  }
  SECTION("P10, P11: line ends and blanks") {
    for (const char* text : {"usage_usec 5", "usage_usec 5\r\nuser_usec 1\r\n", "usage_usec  5\n", "usage_usec\t5\n"}) {
      CAPTURE(text);
      CHECK(parse_flat_keys(text).find("usage_usec") == Number(5));
    }
  }
  SECTION("P12: keys of the future") {
    const FlatKeys keys = parse_flat_keys("future_key 1\nusage_usec 3\ncore_sched.force_idle_usec 9\n");
    CHECK(keys.find("usage_usec") == Number(3));
    CHECK(keys.find("future_key") == Number(1));
    CHECK_FALSE(keys.find("user_usec"));
  }
  SECTION("a key that stands there twice counts once, and keys have an end") {
    CHECK(parse_flat_keys("usage_usec 5\nusage_usec 6\n").find("usage_usec") == Number(5));
    std::string many;
    for (int i = 0; i < 100'000; ++i) many += "key" + std::to_string(i) + " 1\n";
    CHECK(parse_flat_keys(many).values.size() <= 256);
  }
}

TEST_CASE("G12: lines that are not there are absent, lines that say 0 are 0", "[cgroup]") {
  const FlatKeys a = parse_flat_keys(case_text("G12", "cpu-stat-a.txt"));
  CHECK(a.find("usage_usec") == Number(5));
  CHECK(a.find("user_usec") == Number(3));
  CHECK(a.find("system_usec") == Number(2));
  for (const auto key : k_throttle_keys) CHECK_FALSE(a.find(key));
  const FlatKeys b = parse_flat_keys(case_text("G12", "cpu-stat-b.txt"));
  CHECK(b.find("usage_usec") == Number(1016506));
  CHECK(b.find("nr_periods") == Number(0));
  CHECK(b.find("throttled_usec") == Number(0));
  CHECK(parse_flat_keys(case_text("G12", "cpu-stat-c.txt")).values.empty());
  const FlatKeys d = parse_flat_keys(case_text("G12", "cpu-stat-d.txt"));
  for (const auto key : k_base_keys) CHECK_FALSE(d.find(key));
  CHECK_FALSE(d.find("nr_throttled"));
}

TEST_CASE("P13: cpu.max", "[cgroup]") {
  const auto none = parse_cpu_max("max 100000\n");
  REQUIRE(none);
  CHECK_FALSE(none->quota_usec);
  CHECK(none->period_usec == 100000);
  const auto two = parse_cpu_max("200000 100000\n");
  REQUIRE(two);
  CHECK(two->quota_usec == Number(200000));
  for (const char* text : {"max", "max\n", "", "200000\n", "-1 100000\n", "max max\n", "200000 0\n", "1 2 3\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_max(text));
  }
  CpuKnobs knobs;
  REQUIRE(take_knob("cpu.max", "200000 100000\n", knobs));
  CHECK(knobs.limited == std::optional(true));
  CHECK(std::abs(*knobs.cpus_of_quota() - 2.0) < 1e-9);
  REQUIRE(take_knob("cpu.max", "max 100000\n", knobs));
  CHECK(knobs.limited == std::optional(false));
  CHECK_FALSE(knobs.cpus_of_quota());
}

TEST_CASE("the knobs of version 1", "[cgroup]") {
  CpuKnobs knobs;
  REQUIRE(take_knob("cpu.cfs_quota_us", "-1\n", knobs));
  CHECK(knobs.limited == std::optional(false));
  CHECK_FALSE(knobs.quota_usec);
  REQUIRE(take_knob("cpu.cfs_quota_us", "50000\n", knobs));
  REQUIRE(take_knob("cpu.cfs_period_us", "100000\n", knobs));
  REQUIRE(take_knob("cpu.shares", "1024\n", knobs));
  CHECK(knobs.limited == std::optional(true));
  CHECK(std::abs(*knobs.cpus_of_quota() - 0.5) < 1e-9);
  CHECK(knobs.shares == Number(1024));
  CHECK_FALSE(knobs.weight);
  for (const char* text : {"", "x", "-2", "0", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(take_knob("cpu.cfs_quota_us", text, knobs));
  }
  CHECK(take_knob("cgroup.procs", "1\n", knobs));
}

TEST_CASE("the knobs of a process's cgroup and of every ancestor", "[cgroup]") {
  const TemporaryTree tree;
  tree.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("proc/7/cgroup", "0::/lane.slice/vm 1.scope\n");
  tree.write("sys/fs/cgroup/lane.slice/cpu.max", "400000 100000\n");
  tree.write("sys/fs/cgroup/lane.slice/cpu.weight", "heavy\n");
  tree.write("sys/fs/cgroup/lane.slice/vm 1.scope/cpu.max", "max 100000\n");
  tree.write("sys/fs/cgroup/lane.slice/vm 1.scope/cpu.weight", "39\n");
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());
  const Root root(tree.directory());
  const CgroupMounts mounts = read_cgroup_mounts(root, watchdog);
  CHECK(mounts.unread.empty());
  const auto place = find_cgroup(root, watchdog, mounts, 7);
  REQUIRE(place);
  std::vector<std::string> problems;
  const auto levels = read_cpu_knobs(root, watchdog, *place, problems);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].path == "/lane.slice/vm 1.scope");
  CHECK(levels[0].limited == std::optional(false));
  CHECK(levels[0].weight == Number(39));
  CHECK(levels[1].path == "/lane.slice");
  CHECK(levels[1].quota_usec == Number(400000));
  CHECK_FALSE(levels[1].weight);
  CHECK(levels[2].path == "/");
  CHECK_FALSE(levels[2].limited);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] == "/sys/fs/cgroup/lane.slice/cpu.weight: holds \"heavy\"");
  const auto gone = find_cgroup(root, watchdog, mounts, 8);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ENOENT);
}
