#include "collector/render/cgroup_sentences.hpp"

#include <string>

#include "collector/render/sentences.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"
#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

std::string all_of(const std::vector<NodeBudget>& nodes) {
  return join(cgroup_sentences(hand_made::analysis_of(nodes)), "\n");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

NodeBudget node_in(const std::string& name, const NodeCgroup& cgroup) {
  NodeBudget node = hand_made::node(name, {0.5, 0.2});
  node.cgroup = cgroup;
  return node;
}

NodeCgroup limited(const std::string& path) {
  NodeCgroup cgroup = hand_made::throttled_at(path, 61.5, 3.98);
  cgroup.throttled_periods = 40;
  cgroup.weight = 39;
  cgroup.limited = true;
  return cgroup;
}

NodeCgroup unlimited(const std::string& path) {
  NodeCgroup cgroup = hand_made::cgroup_at(path);
  cgroup.limited = false;
  cgroup.periods = 0;
  cgroup.throttled_periods = 0;
  cgroup.throttled_seconds = 0;
  return cgroup;
}

}  // namespace

TEST_CASE("cgroups: a limit, its throttling, and usage beside the process and its threads", "[render]") {
  NodeCgroup cgroup = limited("/lane/srv1");
  cgroup.burst_usec = 20000;
  cgroup.processes_seconds = 61.0;
  cgroup.beyond_seconds = 0.5;
  cgroup.beyond_error_seconds = 0.02;
  NodeBudget node = node_in("srv1", cgroup);
  node.process.cpu_seconds = 101.0;
  const std::string text = all_of({node});
  CHECK(has(text,
            "srv1 cgroup /lane/srv1 (v2): quota 20000 us per 100000 us (0.20 CPUs), burst 20000 us, throttled in 40 of "
            "50 periods, 3.98 s throttled summed over CPUs, weight 39"));
  CHECK(has(text, "srv1 usage: 61.50 s in cgroup /lane/srv1, 61.00 s of the process, difference 0.50 s;"));
  CHECK(has(text,
            "the process used 101.00 s, threads of both samples 100.00 s of it, threads that began or ended 1.00 s"));
  CHECK(has(text, "it cannot be threads that ended"));
  SECTION("rounding is no difference to be explained") {
    node.cgroup->beyond_seconds = -0.001;
    const std::string small = all_of({node});
    CHECK(has(small, "difference 0.00 s (within rounding)"));
    CHECK_FALSE(has(small, "it cannot be"));
  }
}

TEST_CASE("cgroups: without a quota there is no throttling, and no 0 % of it", "[render]") {
  const NodeBudget node = node_in("srv1", unlimited("/a"));
  CHECK(all_of({node}) == "srv1 cgroup /a (v2): no quota");
  CHECK(throttled_text(node).empty());
  CHECK(has_no_quota(node));
  CHECK_FALSE(has(node_sentence(node, false), "throttled"));
  CHECK(all_of({node_in("srv1", hand_made::cgroup_at("/a"))}) == "srv1 cgroup /a (v2): no CPU controller");
  SECTION("a quota that throttled nothing is 0.0%") {
    NodeCgroup cgroup = limited("/a");
    cgroup.throttled_seconds = 0;
    cgroup.throttled_periods = 0;
    CHECK(has(node_sentence(node_in("srv1", cgroup), false), " throttled 0.0% "));
  }
  SECTION("a quota under which no period went by has no share") {
    NodeCgroup cgroup = limited("/a");
    cgroup.periods = 0;
    cgroup.throttled_periods = 0;
    CHECK(has(all_of({node_in("srv1", cgroup)}), "no period elapsed"));
  }
}

TEST_CASE("cgroups: what is of several nodes is nobody's own", "[render]") {
  NodeCgroup cgroup = limited("/lane");
  cgroup.nodes = cgroup.usage_nodes = 2;
  const NodeBudget one = node_in("srv1", cgroup);
  const NodeBudget two = node_in("srv2", cgroup);
  const std::string text = all_of({one, two});
  CHECK(has(text, "srv1, srv2 cgroup /lane (v2): "));
  CHECK(has(text, "of 2 nodes together, nobody's own"));
  CHECK(has(text, "srv1, srv2 usage: 61.50 s in cgroup /lane; of all in it together, nobody's own"));
  CHECK(throttled_text(one) == "absent (a cgroup of several nodes)");
  CHECK_FALSE(throttled_share(one));
}

TEST_CASE("cgroups: the quota of an ancestor is shown with its path", "[render]") {
  NodeCgroup cgroup = unlimited("/lane/srv1");
  CgroupLevel above;
  above.path = "/lane";
  above.limited = true;
  above.quota_usec = 50000;
  above.period_usec = 100000;
  above.periods = 10;
  above.throttled_periods = 5;
  above.throttled_seconds = 20.0;
  cgroup.above = {above};
  const NodeBudget node = node_in("srv1", cgroup);
  CHECK(
      has(all_of({node}), "no quota; above it /lane: quota 50000 us per 100000 us (0.50 CPUs), throttled in 5 of 10"));
  CHECK(throttled_text(node) == "10.0%");
}

TEST_CASE("cgroups: one that could not be compared says why, and gives no number", "[render]") {
  NodeCgroup cgroup{"/cocoon.slice/vm-7.scope"};
  cgroup.state = CgroupState::recreated;
  cgroup.why = "it was removed and made again";
  CHECK(all_of({node_in("srv1", cgroup)}) ==
        "srv1 cgroup /cocoon.slice/vm-7.scope: absent (recreated: it was removed and made again)");
  CHECK(all_of({hand_made::node("srv1", {})}).empty());
}

TEST_CASE("cgroups: names from outside, and many of them", "[render]") {
  std::vector<NodeBudget> nodes;
  for (const std::string& name : rendered::hostile_names()) nodes.push_back(node_in(name, limited("/" + name)));
  const auto lines = cgroup_sentences(hand_made::analysis_of(nodes));
  CHECK(lines.size() <= 40);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(make_line(line) == line);
    CHECK(rendered::commands_in(line).empty());
  }
}

}  // namespace cozy
