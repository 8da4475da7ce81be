#include "collector/analyse/node_cgroup.hpp"

#include <string>

#include "collector/analyse/analysis.hpp"
#include "probes/probe.hpp"
#include "tests/analyse/case_files.hpp"
#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

using namespace cozy::hand_made;

namespace cozy {

namespace {

constexpr const char* k_capture = "sandbox-vm-cgroup-cpu";

using Count = std::optional<std::uint64_t>;

bool near(const std::optional<double>& value, double wanted) { return value && std::abs(*value - wanted) < 1e-6; }

/// One cgroup of a capture's text: its lines without the file's name are of cpu.stat.
std::string cgroup(const std::string& heading, const std::string& stat, const std::string& more = "",
                   const std::string& inode = "7") {
  std::string text = heading + "\n[inode " + inode + " read from 1 to 2 boot-time ns at /sys/fs/cgroup]\n";
  for (const std::string_view line : split_lines(stat)) text += "cpu.stat " + std::string(line) + "\n";
  return text + more;
}

std::string process(const std::string& pid, const std::string& version, const std::string& path, int ticks,
                    const std::string& start = "7") {
  return "[process " + pid + " cgroup v" + version + ", found: " + path + "]\n[process " + pid + " totals " + pid +
         " (q) S 1 5 5 0 -1 64 0 0 0 0 " + std::to_string(ticks) + " 0 0 0 20 0 2 0 " + start + " 0 0 0]\n";
}

NodeBudget one_node(const std::string& name, std::uint64_t pid) {
  NodeBudget made = node(name, {0.3, 0.6});
  made.pid_before = made.pid_after = pid;
  return made;
}

/// Two texts of the capture, 30 s apart.
std::vector<NodeBudget> tied(const std::string& before, const std::string& after, std::vector<NodeBudget> nodes) {
  Reading first = find_probe(k_capture)->parse(before);
  Reading second = find_probe(k_capture)->parse(after);
  for (Subject& subject : first.subjects) subject.begin = subject.end = cases::span_at(1000).begin;
  for (Subject& subject : second.subjects) subject.begin = subject.end = cases::span_at(1030).begin;
  const PairRules rules = cgroup_pair_rules(first, second, find_legend(k_capture));
  const Difference rows = difference({first, cases::span_at(1000), true}, {second, cases::span_at(1030), true}, rules);
  tie_cgroups_to_nodes(rows, 100, nodes);
  return nodes;
}

NodeCgroup tied_one(const std::string& before, const std::string& after) {
  const auto nodes = tied(before, after, {one_node("srv1", 5)});
  REQUIRE(nodes[0].cgroup);
  return *nodes[0].cgroup;
}

std::string stat2(int usage, int periods, int throttled, int throttled_usec) {
  return "usage_usec " + std::to_string(usage) + "\nnr_periods " + std::to_string(periods) + "\nnr_throttled " +
         std::to_string(throttled) + "\nthrottled_usec " + std::to_string(throttled_usec);
}

}  // namespace

TEST_CASE("cgroup: W1, W2: usage and throttling over the cgroup's own interval") {
  const std::string knobs = "cpu.max 200000 100000\ncpu.max.burst 100000\ncpu.weight 39\n";
  const NodeCgroup found =
      tied_one(process("5", "2", "/a", 100) + cgroup("cgroup v2 /a", stat2(1'000'000, 100, 10, 0), knobs),
               process("5", "2", "/a", 6090) + cgroup("cgroup v2 /a", stat2(61'000'000, 400, 160, 1'500'000), knobs));
  CHECK(found.state == CgroupState::read);
  CHECK(found.path == "/a");
  CHECK(found.version == 2);
  CHECK(near(found.usage_seconds, 60.0));
  CHECK(near(found.window_seconds, 30.0));  // 2.00 CPUs
  CHECK(found.periods == Count(300));
  CHECK(near(levels_of(found)[0].periods_share(), 0.50));
  CHECK(near(found.throttled_seconds, 1.5));
  CHECK(near(levels_of(found)[0].quota_cpus(), 2.0));
  CHECK(near(levels_of(found)[0].used_of_quota(), 1.0));
  CHECK(found.burst_usec == Count(100000));
  CHECK(found.weight == Count(39));
  CHECK(near(found.processes_seconds, 59.9));
  CHECK(near(found.beyond_seconds, 0.1));
  CHECK(near(found.beyond_error_seconds, 0.02));
  CHECK(near(own_throttled_seconds(found), 1.5));
}

TEST_CASE("cgroup: more than any machine can count is no number") {
  const auto side = [](const std::string& value) {
    return process("5", "2", "/a", 1) +
           cgroup("cgroup v2 /a", "usage_usec " + value + "\nthrottled_usec " + value, "cpu.max 50000 100000\n");
  };
  const NodeCgroup found = tied_one(side("5"), side("18446744073709551615"));
  CHECK(found.state == CgroupState::read);
  CHECK_FALSE(found.usage_seconds);
  CHECK_FALSE(found.beyond_seconds);
  CHECK_FALSE(found.throttled_seconds);
  CHECK(near(tied_one(side("18446744073609551615"), side("18446744073709551615")).usage_seconds, 100.0));
}

TEST_CASE("cgroup: W3, W7: no period elapsed is no share, and not 0 %") {
  const std::string knobs = "cpu.max 50000 100000\n";
  const NodeCgroup found = tied_one(process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat2(10, 31, 30, 5), knobs),
                                    process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat2(10, 31, 30, 5), knobs));
  CHECK(found.periods == Count(0));
  CHECK_FALSE(levels_of(found)[0].periods_share());
  CHECK(levels_of(found)[0].configured());
}

TEST_CASE("cgroup: W4: throttling that is not there is not 0") {
  const std::string stat = "usage_usec 10\nuser_usec 5\nsystem_usec 5";
  SECTION("no controller") {
    const NodeCgroup found = tied_one(process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat),
                                      process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat));
    CHECK(near(found.usage_seconds, 0));
    CHECK_FALSE(found.throttled_seconds);
    CHECK_FALSE(found.periods);
    CHECK_FALSE(found.limited);
    CHECK_FALSE(own_throttled_seconds(found));
  }
  SECTION("no quota: the zeros say that none is configured") {
    const std::string text =
        process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat2(9, 0, 0, 0), "cpu.max max 100000\n");
    const NodeCgroup found = tied_one(text, text);
    CHECK(found.limited == std::optional(false));
    CHECK_FALSE(levels_of(found)[0].configured());
    CHECK_FALSE(own_throttled_seconds(found));
    CHECK_FALSE(tightest_of(found));
  }
}

TEST_CASE("cgroup: W5, G14: one that was made again has no difference") {
  const auto side = [](const std::string& name) {
    const std::string path = *cases::context("G14", "path");
    return process("5", "2", path, 1) +
           cgroup("cgroup v2 " + path, cases::file("G14", name + ".txt"), "", *cases::context("G14", "inode_" + name));
  };
  const NodeCgroup found = tied_one(side("before"), side("after"));
  CHECK(found.state == CgroupState::recreated);
  CHECK(found.path == *cases::context("G14", "path"));
  CHECK_FALSE(found.usage_seconds);
  CHECK_FALSE(found.periods);
  CHECK_FALSE(found.throttled_periods);
  CHECK(levels_of(found).empty());
  SECTION("a fall under the same inode says the same, and no other counter has a difference") {
    const std::string knobs = "cpu.max 50000 100000\n";
    const NodeCgroup fell =
        tied_one(process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat2(61'000'000, 10, 2, 250'000), knobs),
                 process("5", "2", "/a", 1) + cgroup("cgroup v2 /a", stat2(900'000, 12, 7, 310'000), knobs));
    CHECK(fell.state == CgroupState::recreated);
    CHECK_FALSE(fell.usage_seconds);
    CHECK_FALSE(fell.beyond_seconds);
    CHECK_FALSE(fell.throttled_periods);
    CHECK(levels_of(fell).empty());
  }
  SECTION("version 1: the usage of the same directory fell") {
    const auto both = [](const std::string& usage, const std::string& stat) {
      const std::string joined = process("5", "1", "/a", 1) + "[process 5 cpuacct v1, found: /a]\n";
      return joined + cgroup("cgroup v1 /a", stat) + cgroup("cpuacct v1 /a", "", "cpuacct.usage " + usage + "\n");
    };
    CHECK(tied_one(both("9000", "nr_periods 1\nnr_throttled 1"), both("8000", "nr_periods 4\nnr_throttled 3")).state ==
          CgroupState::recreated);
  }
  SECTION("an ancestor that was made again throttled nobody, as far as can be known") {
    const auto below = [](const std::string& above) {
      return process("5", "2", "/a/b", 1) + cgroup("cgroup v2 /a/b", stat2(5, 0, 0, 0), "", "8") +
             cgroup("cgroup v2 /a", above, "cpu.max 50000 100000\n");
    };
    const NodeCgroup child = tied_one(below(stat2(50, 10, 2, 250'000)), below(stat2(9, 12, 7, 310'000)));
    CHECK(child.state == CgroupState::read);
    REQUIRE(child.above.size() == 1);
    CHECK_FALSE(child.above[0].throttled_periods);
    CHECK_FALSE(child.above[0].throttled_seconds);
  }
}

TEST_CASE("cgroup: W6, P6: version 1 counts throttled time in ns, and usage elsewhere") {
  const std::string knobs = "cpu.cfs_quota_us 50000\ncpu.cfs_period_us 100000\ncpu.shares 1024\n";
  const auto text = [&](const std::string& stat, const std::string& usage, int ticks) {
    return process("5", "1", "/lane", ticks) + "[process 5 cpuacct v1, found: /lane]\n" +
           cgroup("cgroup v1 /lane", stat, knobs) + cgroup("cpuacct v1 /lane", "", "cpuacct.usage " + usage + "\n");
  };
  const NodeCgroup found = tied_one(
      text("nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_bursts 0\nburst_time 0", "0", 0),
      text("nr_periods 31\nnr_throttled 30\nthrottled_time 1306147419\nnr_bursts 0\nburst_time 0", "1556000000", 155));
  CHECK(found.version == 1);
  CHECK(near(found.throttled_seconds, 1.306147419));
  CHECK(near(found.usage_seconds, 1.556));
  CHECK(found.usage_path.empty());
  CHECK(found.shares == Count(1024));
  CHECK_FALSE(found.weight);
  CHECK(near(levels_of(found)[0].quota_cpus(), 0.5));
  CHECK(near(found.beyond_seconds, 0.006));
  SECTION("-1 is no quota") {
    const std::string none =
        process("5", "1", "/a", 1) + cgroup("cgroup v1 /a", "nr_periods 0", "cpu.cfs_quota_us -1\n");
    CHECK(tied_one(none, none).limited == std::optional(false));
  }
}

TEST_CASE("cgroup: the quota of an ancestor throttles, and is named") {
  const auto text = [](int own, int above, int usage, int ticks) {
    return process("5", "2", "/l/a", ticks) +
           cgroup("cgroup v2 /l/a", stat2(usage, 0, 0, 0),
                  "cpu.max max 100000\ncpu.stat.local throttled_usec " + std::to_string(own) + "\n") +
           cgroup("cgroup v2 /l", stat2(usage, above, above, above * 50'000), "cpu.max 30000 100000\n") +
           cgroup("cgroup v2 /", "usage_usec 99");
  };
  const auto nodes = tied(text(0, 0, 0, 0), text(14'000'000, 300, 9'000'000, 900), {one_node("srv1", 5)});
  const NodeCgroup& found = *nodes[0].cgroup;
  REQUIRE(found.above.size() == 2);
  CHECK(found.above[0].path == "/l");
  CHECK(found.above[1].path == "/");
  CHECK_FALSE(found.above[1].configured());
  REQUIRE(tightest_of(found));
  CHECK(tightest_of(found)->path == "/l");
  CHECK(near(own_throttled_seconds(found), 15.0));
  CHECK(near(found.local_throttled_seconds, 14.0));
  const Analysis analysis = judged(analysis_of(nodes));
  CHECK(contains(said(analysis, "node-throttled"),
                 "srv1 was throttled by the CPU quota of /l, above its own cgroup, in 300 of 300 periods"));
  CHECK(ids(analysis).count("node-waited") == 0);
}

TEST_CASE("cgroup: throttling by a quota that cannot be read is found by what the run queues say") {
  const auto text = [](const std::string& local) {
    return process("5", "2", "/", 1) +
           cgroup("cgroup v2 /", stat2(9, 0, 0, 0), "cpu.stat.local throttled_usec " + local + "\n");
  };
  const auto nodes = tied(text("0"), text("90000000"), {one_node("srv1", 5)});
  const Analysis analysis = judged(analysis_of(nodes));
  CHECK(contains(said(analysis, "node-throttled"), "by the CPU quota of a cgroup above / that cannot be read, 90.0 s"));
  CHECK(ids(analysis).count("node-waited") == 0);
}

TEST_CASE("cgroup: nodes in one cgroup share its numbers, and none is named alone") {
  const auto text = [](int ticks, int periods, const std::string& quota) {
    return process("5", "2", "/l", ticks) + process("6", "2", "/l", ticks) + process("9", "2", "/other", ticks) +
           cgroup("cgroup v2 /l", stat2(20'000 * ticks, periods, periods, 100'000 * periods),
                  "cpu.max " + quota + " 100000\n") +
           cgroup("cgroup v2 /other", "usage_usec 1") + cgroup("cgroup v2 /", "usage_usec 2");
  };
  auto nodes = tied(text(0, 0, "30000"), text(450, 290, "30000"), {one_node("srv1", 5), one_node("srv2", 6)});
  const NodeCgroup& found = *nodes[0].cgroup;
  CHECK(found.nodes == 2);
  CHECK(found.shared_with == std::vector<std::string>{"srv2"});
  CHECK(near(found.processes_seconds, 9.0));
  CHECK(near(found.beyond_seconds, 0));
  CHECK_FALSE(own_throttled_seconds(found));
  CHECK(throttled_together(found));
  REQUIRE(found.above.size() == 1);
  CHECK(found.above[0].nodes == 3);  // the process without a node counts
  const Analysis analysis = judged(analysis_of(nodes));
  REQUIRE(all(analysis, "node-throttled").size() == 1);
  CHECK(all(analysis, "node-throttled")[0].subject == "srv1, srv2");
  CHECK(contains(said(analysis, "node-throttled"), "share the cgroup /l, which its CPU quota throttled"));
  CHECK(contains(said(analysis, "node-throttled"), "of nobody alone"));
  CHECK(ids(analysis).count("nodes-waited") == 0);
}

TEST_CASE("cgroup: a quota that is used up explains the waiting, whatever the run queues booked") {
  const std::string knobs = "cpu.max 30000 100000\n";
  const auto text = [&](int usage, int periods, int throttled) {
    return process("5", "2", "/a", usage / 10'000) +
           cgroup("cgroup v2 /a", stat2(usage, periods, throttled, 100'000), knobs);
  };
  const auto findings = [&](int usage, int throttled) {
    return ids_of(analysis_of(tied(text(0, 0, 0), text(usage, 300, throttled), {one_node("srv1", 5)})));
  };
  CHECK(findings(8'900'000, 290) == std::set<std::string>{"node-throttled"});
  CHECK(findings(5'000'000, 290) == std::set<std::string>{"node-throttled", "node-waited"});
  CHECK(findings(8'900'000, 20) == std::set<std::string>{"node-throttled", "node-waited"});
}

TEST_CASE("cgroup: a quota that changed in the window bounds nothing") {
  const auto text = [](const std::string& max, int usage, int periods) {
    return process("5", "2", "/a", usage / 10'000) +
           cgroup("cgroup v2 /a", stat2(usage, periods, periods, 0), "cpu.max " + max + "\n");
  };
  const auto changed = [&](const std::string& before, const std::string& after) {
    return tied_one(text(before, 0, 0), text(after, 9'000'000, 290));
  };
  CHECK(changed("max 100000", "30000 100000").quota_changed);
  CHECK(changed("60000 100000", "30000 100000").quota_changed);
  CHECK_FALSE(levels_of(changed("max 100000", "30000 100000"))[0].used_of_quota());
  CHECK_FALSE(changed("15000 50000", "30000 100000").quota_changed);  // doubled by the kernel
  CHECK(near(levels_of(changed("15000 50000", "30000 100000"))[0].used_of_quota(), 1.0));
  CHECK(changed("30000 100000", "max 100000").quota_changed);
}

TEST_CASE("cgroup: what became of a node's cgroup between the samples") {
  const std::string both = cgroup("cgroup v2 /a", "usage_usec 5") + cgroup("cgroup v2 /b", "usage_usec 5");
  SECTION("the process moved") {
    const NodeCgroup found = tied_one(process("5", "2", "/a", 1) + both, process("5", "2", "/b", 1) + both);
    CHECK(found.state == CgroupState::moved);
    CHECK(found.why == "from /a to /b");
    CHECK_FALSE(found.usage_seconds);
  }
  SECTION("it could not be read in one sample") {
    const NodeCgroup found = tied_one(process("5", "2", "/a", 1) + both, "[process 5 cgroup v2, removed: /a]\n" + both);
    CHECK(found.state == CgroupState::unread);
    CHECK(found.why == "sample 2: removed");
  }
  SECTION("the process was not read in one sample") {
    const NodeCgroup found = tied_one(both, process("5", "2", "/a", 1) + both);
    CHECK(found.why == "sample 1: the process was not read");
  }
  SECTION("another process under the number") {
    const NodeCgroup found = tied_one(process("5", "2", "/a", 1, "7") + both, process("5", "2", "/a", 1, "8") + both);
    CHECK(found.state == CgroupState::unread);
  }
  SECTION("a process that left used CPU that nobody knows: no difference to the usage is claimed") {
    const NodeCgroup found =
        tied_one(process("5", "2", "/a", 1) + process("6", "2", "/a", 1) + both, process("5", "2", "/a", 1) + both);
    CHECK(found.state == CgroupState::read);
    CHECK_FALSE(found.beyond_seconds);
    CHECK(found.nodes == 2);
  }
  SECTION("a node that left has none, and neither has one that the capture does not hold") {
    NodeBudget left = one_node("srv1", 5);
    left.state = NodeState::left;
    const std::string text = process("5", "2", "/a", 1) + both;
    const auto nodes = tied(text, text, {left, one_node("srv2", 6)});
    CHECK_FALSE(nodes[0].cgroup);
    CHECK_FALSE(nodes[1].cgroup);
  }
}

TEST_CASE("cgroup: threads that began or ended are the process less its threads") {
  NodeBudget made = one_node("srv1", 5);
  made.process.cpu_seconds = 70;
  made.others = {{ThreadKind::main, "q", 5, window(), 5.0, std::nullopt}};
  CHECK(near(threads_seconds(made), 65.0));
  made.process.cpu_seconds = 64;  // less than its threads: the two clocks disagree
  CHECK_FALSE(threads_seconds(made));
  made.process.cpu_seconds = 70;
  made.process.summed = true;
  CHECK_FALSE(threads_seconds(made));
  made.process.summed = false;
  made.others[0].ran_seconds.reset();
  CHECK_FALSE(threads_seconds(made));
}

TEST_CASE("cgroup: a report of the shell cannot have the capture, one of our own lacks it") {
  Snapshot snapshot{"kubernetes", {}};
  SampleCapture file;
  file.capture.name = "runner-shape";
  file.capture.sample = 1;
  const auto lacks = [&](Origin origin) {
    snapshot.captures = {file};
    snapshot.captures[0].origin = origin;
    const Analysis analysis = analyse(snapshot);
    return std::any_of(analysis.shortfalls.begin(), analysis.shortfalls.end(),
                       [](const Shortfall& shortfall) { return shortfall.capture == k_capture; });
  };
  CHECK(lacks(Origin::cozybracket));
  CHECK_FALSE(lacks(Origin::shell));
}

}  // namespace cozy
