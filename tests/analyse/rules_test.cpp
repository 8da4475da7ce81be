#include "collector/analyse/rules.hpp"

#include <set>
#include <string>

#include "collector/analyse/thresholds.hpp"
#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

namespace cozy {

using namespace hand_made;

namespace {

using Ids = std::set<std::string>;

/// A node whose time is all accounted for, and nothing of it is remarkable.
NodeBudget calm(const std::string& name) { return node(name, {0.5, 0.02, 0.4}); }

Analysis three(const Shares& a, const Shares& b, const Shares& c) {
  return analysis_of({node("srv1", a), node("srv2", b), node("srv3", c)});
}

Shares waited(double share) { return {0.5, share, 0.4 - share}; }

}  // namespace

TEST_CASE("rules: the table is whole, and every id of it stands once") {
  Ids seen;
  for (const Rule& rule : rules()) {
    CHECK(seen.emplace(rule.id).second);
    CHECK_FALSE(rule.when.empty());
    CHECK(rule.does_not_prove.ends_with("."));
    CHECK(find_rule(rule.id) == &rule);
  }
  CHECK(seen == Ids{"runner-preempted", "steal-not-observable", "steal-unusable",   "nodes-waited",
                    "node-waited",      "node-throttled",       "node-blocked",     "node-stopped",
                    "node-halted",      "node-busy-flat",       "node-exit-storm",  "node-left",
                    "node-restarted",   "node-emulator-bound",  "pressure-cpu",     "pressure-io",
                    "pressure-memory",  "vcpu-unnamed",         "vcpu-stalled",     "burst-steal",
                    "burst-throttle",   "late-start",           "recorder-starved", "timeline-short",
                    "incomplete",       "nothing-unusual"});
  CHECK(find_rule("no-such-rule") == nullptr);
}

TEST_CASE("rules: a threshold holds at its value, whatever binary fractions make of it") {
  CHECK(share_reaches(0.1 + 0.3, Threshold::pressure_cpu));
  CHECK(share_reaches(0.29 + 0.11, Threshold::pressure_cpu));
  CHECK_FALSE(share_reaches(0.399, Threshold::pressure_cpu));
  CHECK(can_be_judged(window(0.5, 0.1)));
  CHECK_FALSE(can_be_judged(window(0.499, 0.01)));
  CHECK_FALSE(can_be_judged(window(10, 2.01)));
  CHECK_FALSE(can_be_judged(std::nullopt));
  std::set<std::string_view> names;
  for (const ThresholdEntry& entry : thresholds()) CHECK(names.insert(entry.name).second);
}

TEST_CASE("rules: --explain has every threshold and every rule") {
  const std::vector<std::string> lines = explain();
  std::string text;
  for (const std::string& line : lines) {
    CHECK(line.find('\n') == std::string::npos);
    text += line + "\n";
  }
  for (const ThresholdEntry& entry : thresholds()) CHECK(contains(text, "  " + std::string(entry.name) + " = "));
  for (const Rule& rule : rules()) CHECK(contains(text, "  " + std::string(rule.id) + ": "));
  CHECK(contains(text, "window.shortest = 0.5 s"));
}

TEST_CASE("rules: every layer read whole and nothing found is nothing unusual") {
  const Analysis analysis = judged(three(waited(0.02), waited(0.03), waited(0.02)));
  CHECK(ids(analysis) == Ids{"nothing-unusual"});
  CHECK(analysis.findings[0].level == Level::info);
  CHECK_FALSE(analysis.findings[0].does_not_prove.empty());
}

TEST_CASE("rules: steal") {
  Analysis analysis = analysis_of({calm("srv1")});
  SECTION("proved and at 1 percent: a notice") {
    analysis.runner = runner(4000, 200, StealVerdict::proved);
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"runner-preempted"});
    CHECK(analysis.findings[0].level == Level::notice);
    CHECK(analysis.findings[0].evidence.at(0).field == "steal");
  }
  SECTION("at 5 percent: a warning") {
    analysis.runner = runner(4000, 1000, StealVerdict::proved);
    analysis = judged(analysis);
    CHECK(analysis.findings[0].level == Level::warning);
    CHECK(analysis.findings[0].weight == 0.05);
  }
  SECTION("below 1 percent, none seen, or of half a second of ticks: nothing") {
    analysis.runner = runner(4000, 199, StealVerdict::proved);
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
    analysis.runner = runner(4000, 1000, StealVerdict::proved);
    analysis.runner->runner->total_ticks = 99;
    CHECK(ids_of(analysis) == Ids{"incomplete"});
  }
  SECTION("not observable is no clean bill") {
    analysis.runner = runner(4000, 0, StealVerdict::not_observable);
    CHECK(ids_of(analysis) == Ids{"steal-not-observable"});
    analysis.steal_clock.nobody_to_steal = true;
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});  // nobody to steal
  }
  SECTION("unusable") {
    analysis.runner = runner(4000, 0, StealVerdict::unusable);
    CHECK(ids_of(analysis) == Ids{"steal-unusable"});
  }
  SECTION("of a container's view: open, and no layer judged by it") {
    analysis.runner->container_view = {"a mount of type fuse.lxcfs"};
    analysis.runner->steal = StealVerdict::not_observable;
    analysis.runner->runner.reset();
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"incomplete"});
    CHECK(contains(said(analysis, "incomplete"), "fuse.lxcfs"));
  }
}

TEST_CASE("rules: all nodes waited") {
  SECTION("evenly: one finding for all, and no node is singled out") {
    const Analysis analysis = judged(three(waited(0.31), waited(0.29), waited(0.33)));
    CHECK(ids(analysis) == Ids{"nodes-waited"});
    const Finding finding = all(analysis, "nodes-waited")[0];
    CHECK(finding.subject == "srv1..srv3");
    CHECK(finding.level == Level::warning);
    CHECK(finding.says == "srv1..srv3 were runnable and not running for 31 % of 100.0 s (29 % to 33 % each)");
    CHECK(std::abs(finding.weight - 0.31) < 1e-9);
  }
  SECTION("at 10 percent on average, and not below") {
    CHECK(ids_of(three(waited(0.10), waited(0.08), waited(0.12))) == Ids{"nodes-waited"});
    CHECK(ids_of(three(waited(0.09), waited(0.08), waited(0.12))) == Ids{"nothing-unusual"});
  }
  SECTION("two against one idle: not one node, so all") {
    const Analysis analysis = judged(three(waited(0.4), waited(0.4), waited(0.01)));
    CHECK(ids(analysis) == Ids{"nodes-waited"});
    CHECK(contains(said(analysis, "nodes-waited"), "1.0 % to 40 % each"));
  }
}

TEST_CASE("rules: one node waited") {
  SECTION("it alone is named") {
    const Analysis analysis = judged(three(waited(0.02), waited(0.03), waited(0.2)));
    CHECK(ids(analysis) == Ids{"node-waited"});
    CHECK(all(analysis, "node-waited")[0].subject == "srv3");
    CHECK(contains(said(analysis, "node-waited"), "the other nodes for 2.5 % in the median"));
  }
  SECTION("twice the median is enough, less is not") {
    CHECK(ids_of(analysis_of({node("srv1", waited(0.1)), node("srv2", waited(0.05))})) == Ids{"node-waited"});
    CHECK(ids_of(analysis_of({node("srv1", waited(0.1)), node("srv2", waited(0.06))})) == Ids{"nothing-unusual"});
  }
  SECTION("a single node has no others: it is judged alone") {
    const Analysis analysis = judged(analysis_of({node("srv1", waited(0.1))}));
    CHECK(ids(analysis) == Ids{"node-waited"});
    CHECK(contains(said(analysis, "node-waited"), "no other node"));
  }
  SECTION("one stands out of two that waited as well: each time is said once") {
    const Analysis analysis = judged(three(waited(0.12), waited(0.36), waited(0.12)));
    CHECK(ids(analysis) == Ids{"node-waited", "nodes-waited"});
    CHECK(all(analysis, "node-waited")[0].subject == "srv2");
    CHECK(all(analysis, "nodes-waited")[0].subject == "srv1, srv3");
    CHECK(contains(said(analysis, "nodes-waited"), "for 12 %"));
  }
}

TEST_CASE("rules: waiting that nobody measured is an open question") {
  const Shares unknown{0.5, std::nullopt, 0.4};
  const Analysis analysis = judged(analysis_of({node("srv1", unknown), node("srv2", unknown)}));
  CHECK(ids(analysis) == Ids{"incomplete"});
  CHECK(contains(said(analysis, "incomplete"), "whether the nodes waited for CPU is open"));
}

TEST_CASE("rules: throttling takes the place of the waiting that it explains") {
  Analysis analysis = three(waited(0.02), waited(0.3), waited(0.02));
  NodeCgroup cgroup{"/a/srv2"};
  cgroup.periods = 1000;
  SECTION("most of it") {
    cgroup.throttled_seconds = 58;  // of 60 s that two vCPUs waited
    cgroup.throttled_periods = 700;
    cgroup.quota_usec = 20'000;
    cgroup.period_usec = 100'000;
    analysis.nodes[1].cgroup = cgroup;
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-throttled"});
    CHECK(all(analysis, "node-throttled")[0].subject == "srv2");
    CHECK(contains(said(analysis, "node-throttled"), "700 of 1000 periods (quota 20000 us per 100000 us)"));
    CHECK(std::abs(all(analysis, "node-throttled")[0].weight - 0.29) < 1e-9);
  }
  SECTION("a little of it: both, and the waiting without that part") {
    cgroup.throttled_seconds = 10;
    cgroup.throttled_periods = 0;
    analysis.nodes[1].cgroup = cgroup;
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-throttled", "node-waited"});
    CHECK(contains(said(analysis, "node-waited"), "for 25 %"));
  }
  SECTION("by the periods alone, at 5 percent") {
    cgroup.throttled_periods = 50;
    analysis.nodes[0].cgroup = cgroup;
    CHECK(ids_of(analysis).contains("node-throttled"));
    analysis.nodes[0].cgroup->throttled_periods = 49;
    CHECK_FALSE(ids_of(analysis).contains("node-throttled"));
  }
  SECTION("nodes that share a cgroup share the finding") {
    cgroup.throttled_seconds = 65;
    for (NodeBudget& node : analysis.nodes) node.cgroup = cgroup;
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-throttled"});
    CHECK(all(analysis, "node-throttled").size() == 1);
    CHECK(all(analysis, "node-throttled")[0].subject == "srv1..srv3");
  }
  SECTION("lines that are not there are no throttling of 0") {
    analysis = three(waited(0.02), waited(0.02), waited(0.02));
    for (NodeBudget& node : analysis.nodes) node.cgroup = cgroup_at("/a/" + node.name);
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  }
}

TEST_CASE("rules: a cgroup whose samples cannot be compared leaves the quota open, and no good news") {
  Analysis analysis = three(waited(0.02), waited(0.02), waited(0.02));
  analysis.nodes[0].cgroup = cgroup_at("/a/srv1");
  NodeCgroup& cgroup = *analysis.nodes[0].cgroup;
  const auto open = [&] {
    const Analysis found = judged(analysis);
    return ids(found) == Ids{"incomplete"} ? said(found, "incomplete") : "";
  };
  SECTION("moved") {
    cgroup.state = CgroupState::moved;
    CHECK(contains(open(), "srv1 has moved to another cgroup between the samples: whether a CPU quota throttled"));
  }
  SECTION("made again") {
    cgroup.state = CgroupState::recreated;
    CHECK(contains(open(), "srv1 has a cgroup that was removed and made again"));
  }
  SECTION("a quota above it, and no count of its periods") {
    CgroupLevel above;
    above.path = "/a";
    above.limited = true;
    cgroup.above.push_back(above);
    CHECK(contains(open(), "srv1 has a CPU quota whose throttling was not read in both samples"));
  }
  SECTION("no quota and nothing counted leaves nothing open") {
    cgroup.limited = false;
    CHECK(open().empty());
  }
}

TEST_CASE("rules: pressure is judged by the window's own share") {
  Analysis analysis = analysis_of({calm("srv1")});
  analysis.pressure = Pressure{};
  CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  analysis.pressure = Pressure{{0.4, {}, {}}, {0.2, {}, {}}, {0.1, {}, {}}};
  CHECK(ids_of(analysis) == Ids{"pressure-cpu", "pressure-io", "pressure-memory"});
  analysis.pressure = Pressure{{0.39, {}, {}}, {0.19, {}, {}}, {0.09, {}, {}}};
  CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
}

TEST_CASE("rules: windows that are too short or too little known are not judged, and that is said") {
  for (const Interval& of : {window(0.3, 0.001), window(10, 4)}) {
    Analysis analysis = analysis_of({node("srv1", waited(0.3), of), node("srv2", waited(0.3), of)});
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"incomplete"});
    CHECK(contains(said(analysis, "incomplete"), "srv1, srv2 | srv1, srv2 each has readings that lie"));
    CHECK(contains(said(analysis, "incomplete"), "no rate is judged"));
  }
  Analysis excess = analysis_of({node("srv1", waited(0.3)), node("srv2", waited(0.02))});
  excess.nodes[0].impossible = true;
  excess.nodes[0].vcpus[0].over_seconds = 9;
  CHECK(contains(said(judged(excess), "node-waited"), "scaled to it"));
  excess.nodes[0].vcpus[0].over_seconds = 11;
  excess = judged(excess);
  CHECK(ids(excess) == Ids{"incomplete"});
  CHECK(contains(said(excess, "incomplete"), "longer than there was time"));
  Analysis unstamped = analysis_of({node("srv1", waited(0.3))});
  for (VcpuTime& vcpu : unstamped.nodes[0].vcpus) vcpu.window.reset();
  unstamped.nodes[0].sum = {};
  CHECK(ids_of(unstamped) == Ids{"incomplete"});
}

TEST_CASE("rules: captures that fell short leave a question by name, and no good news") {
  Analysis analysis = analysis_of({node("srv1", {0.5, 0.02})});
  SECTION("the same in both samples is one question") {
    for (const int sample : {1, 2}) {
      analysis.shortfalls.push_back({"sandbox-kvm-exits", sample, Outcome::unavailable,
                                     "counters refused by kernel lockdown, only gauges were read", "", std::nullopt});
    }
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"incomplete"});
    REQUIRE(analysis.findings.size() == 1);
    CHECK(analysis.findings[0].subject == "sandbox-kvm-exits samples 1 and 2");
    CHECK(contains(analysis.findings[0].says, "only gauges were read"));
    CHECK(contains(analysis.findings[0].says, "halted or blocked"));
  }
  SECTION("halts that nothing ties to a node, where they matter") {
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"incomplete"});
    CHECK(contains(said(analysis, "incomplete"), "srv1 has no halts"));
    CHECK(ids_of(analysis_of({node("srv1", {0.9, 0.02})})) == Ids{"nothing-unusual"});
  }
  SECTION("a truncated report") {
    analysis = analysis_of({calm("srv1")});
    analysis.truncated = true;
    CHECK(ids_of(analysis) == Ids{"incomplete"});
  }
  SECTION("steal alone never clears the runner, even where nobody asked for more") {
    analysis.nodes.clear();
    analysis.pairs.pop_back();
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"incomplete"});
    CHECK(contains(said(analysis, "incomplete"), "sandbox-qemu-thread-cpu was not asked for"));
  }
  SECTION("nothing read at all") { CHECK(ids_of(Analysis{}) == Ids{"incomplete"}); }
}

TEST_CASE("rules: worst first") {
  Analysis analysis = three(waited(0.31), waited(0.29), waited(0.33));
  analysis.runner = runner(4000, 400, StealVerdict::proved);
  analysis.nodes[2].process_state_after = "T";
  analysis.nodes[2].vcpus_unpaired = 1;
  analysis = judged(analysis);
  for (std::size_t i = 1; i < analysis.findings.size(); ++i) {
    const Finding& before = analysis.findings[i - 1];
    const Finding& after = analysis.findings[i];
    CHECK((before.level > after.level || (before.level == after.level && before.weight >= after.weight)));
  }
  CHECK(analysis.findings.front().level == Level::warning);
}

}  // namespace cozy
