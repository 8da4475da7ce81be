// What live nodes have beside what a pod asked for, from cgroups that were read.
#include "collector/policy/audit.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace cozy;

namespace {

CpuKnobs level(const std::string& path, std::optional<std::uint64_t> quota_usec, std::uint64_t weight = 20,
               std::uint64_t period_usec = 100000) {
  CpuKnobs knobs;
  knobs.path = path;
  knobs.limited = quota_usec.has_value();
  knobs.quota_usec = quota_usec;
  knobs.period_usec = period_usec;
  knobs.weight = weight;
  return knobs;
}

NodeKnobs node_with(std::vector<CpuKnobs> levels, const std::string& name = "srv1") {
  NodeKnobs node;
  node.node = name;
  node.pid = 811;
  node.levels = std::move(levels);
  return node;
}

NodeKnobs node_with(std::optional<std::uint64_t> quota_usec, std::uint64_t weight = 20) {
  return node_with({level("/lane/vm", quota_usec, weight), level("/lane", std::nullopt)});
}

Audit audited(const PodCpu& pod, const std::vector<NodeKnobs>& nodes, WeightFormula formula = WeightFormula::linear) {
  return audit(pod, pod_knobs(pod, formula).value(), SandboxKnobs{nodes, {}});
}

/// The names of what breaks, of every node and among them.
std::vector<std::string> broken(const Audit& audit) {
  std::vector<std::string> names;
  for (const NodeAudit& node : audit.nodes) {
    for (const Breach& breach : node.breaches) names.push_back(breach.name);
  }
  for (const Breach& breach : audit.breaches) names.push_back(breach.name);
  return names;
}

using Names = std::vector<std::string>;

const PodCpu k_burstable{500, 2000};
const PodCpu k_request_alone{500, std::nullopt};

}  // namespace

TEST_CASE("knobs as asked", "[audit]") {
  const Audit found = audited(k_burstable, {node_with(200000)});
  CHECK(found.as_asked());
  CHECK(broken(found).empty());
  REQUIRE(found.nodes.size() == 1);
  const NodeAudit& node = found.nodes.front();
  REQUIRE(node.checks.size() == 4);
  CHECK(node.checks[0].knob == "quota");
  CHECK(node.checks[0].state == KnobState::as_asked);
  CHECK(node.checks[2].knob == "weight");
  CHECK(node.checks[3].state == KnobState::not_asked);
  CHECK(node.expected_cpus == 2.0);
  CHECK(node.effective_cpus == 2.0);
  CHECK(audited(k_request_alone, {node_with(std::nullopt)}).as_asked());
  CHECK(audited({}, {node_with(std::nullopt, 1)}).as_asked());
  CHECK(audited(k_burstable, {node_with(200000, 59)}, WeightFormula::quadratic).as_asked());
}

TEST_CASE("what an actual quota breaks", "[audit]") {
  CHECK(broken(audited(k_request_alone, {node_with(100000)})) == Names{"request-as-quota"});
  CHECK(broken(audited(k_request_alone, {node_with(50000)})) == Names{"request-as-quota"});
  CHECK(broken(audited(k_request_alone, {node_with(300000)})) == Names{"quota-without-limit"});
  CHECK(broken(audited({}, {node_with(100000, 1)})) == Names{"quota-without-limit"});
  CHECK(broken(audited(k_burstable, {node_with(100000)})) == Names{"request-as-quota"});
  CHECK(broken(audited(k_burstable, {node_with(150000)})) == Names{"quota-below-limit"});
  CHECK(broken(audited(k_burstable, {node_with(400000)})) == Names{"quota-above-limit"});
  CHECK(broken(audited(k_burstable, {node_with(std::nullopt)})) == Names{"no-quota"});
  const Audit of_vcpus = audited(PodCpu{500, 1500}, {node_with(200000)});
  REQUIRE(broken(of_vcpus) == Names{"quota-above-limit"});
  CHECK(of_vcpus.nodes.front().breaches.front().words.find("the limit rounded up") != std::string::npos);
}

TEST_CASE("another period is named, also where it allows the same", "[audit]") {
  const auto with_period = [](std::uint64_t quota_usec, std::uint64_t period_usec) {
    return node_with({level("/lane/vm", quota_usec, 20, period_usec), level("/lane", std::nullopt)});
  };
  const Audit same = audited(k_burstable, {with_period(100000, 50000)});
  CHECK(broken(same) == Names{"period-differs"});
  CHECK(same.nodes.front().effective_cpus == 2.0);
  const Audit doubled = audited(k_burstable, {with_period(400000, 200000)});
  REQUIRE(broken(doubled) == Names{"period-differs"});
  CHECK(doubled.nodes.front().breaches.front().words.find("doubles") != std::string::npos);
  CHECK(broken(audited(k_burstable, {with_period(50000, 50000)})) == Names{"request-as-quota", "period-differs"});
}

TEST_CASE("the tightest of the levels is effective", "[audit]") {
  const auto below = [](std::optional<std::uint64_t> own, std::optional<std::uint64_t> lane,
                        std::optional<std::uint64_t> top) {
    return node_with({level("/lane/vm", own), level("/lane", lane), level("/", top)});
  };
  const Audit found = audited(k_burstable, {below(200000, 180000, 150000)});
  CHECK(broken(found) == Names{"ancestor-below-limit"});
  CHECK(found.nodes.front().tightest == "/");
  CHECK(found.nodes.front().effective_cpus == 1.5);
  CHECK(found.nodes.front().checks[0].state == KnobState::as_asked);
  CHECK(found.nodes.front().checks[0].effective == std::optional<Value>(std::uint64_t{150000}));
  CHECK(audited(k_burstable, {below(200000, 200000, 400000)}).as_asked());
  CHECK(audited(k_burstable, {below(200000, 200000, 400000)}).nodes.front().tightest == "/lane/vm");
  CHECK(audited(k_request_alone, {below(std::nullopt, 150000, std::nullopt)}).as_asked());
  CHECK(broken(audited(k_request_alone, {below(std::nullopt, 50000, std::nullopt)})) == Names{"ancestor-caps"});
}

TEST_CASE("a weight says where it comes from", "[audit]") {
  const auto words = [](const Audit& found) { return found.nodes.front().breaches.front().words; };
  CHECK(broken(audited(k_burstable, {node_with(200000, 59)})) == Names{"other-formula"});
  CHECK(broken(audited(k_burstable, {node_with(200000, 20)}, WeightFormula::quadratic)) == Names{"other-formula"});
  const Audit of_vcpus = audited(k_burstable, {node_with(200000, 2)});
  REQUIRE(broken(of_vcpus) == Names{"weight-differs"});
  CHECK(words(of_vcpus).find("2 (the number of vCPUs") != std::string::npos);
  CHECK(words(audited(k_burstable, {node_with(200000, 100)})).find("100 (the kernel's default") != std::string::npos);
  CHECK(words(audited(k_burstable, {node_with(200000, 0)})).find("0 (the idle class)") != std::string::npos);
  CHECK(words(audited(k_burstable, {node_with(200000, 33)})).find("weight 33, not the 20") != std::string::npos);
}

TEST_CASE("version 1 weighs by shares", "[audit]") {
  NodeKnobs node = node_with(200000);
  for (CpuKnobs& knobs : node.levels) {
    knobs.version = 1;
    knobs.weight.reset();
    knobs.shares = 512;
  }
  CHECK(audited(k_burstable, {node}).as_asked());
  CHECK(audited(k_burstable, {node}).nodes.front().checks[2].knob == "shares");
  node.levels.front().shares = 1024;
  CHECK(broken(audited(k_burstable, {node})) == Names{"weight-differs"});
}

TEST_CASE("siblings of unequal weight are named once", "[audit]") {
  const auto sibling = [](const std::string& name, const std::string& parent, std::uint64_t weight) {
    return node_with({level(parent + "/" + name, 200000, weight), level(parent, std::nullopt)}, name);
  };
  const Audit mixed =
      audited(k_burstable, {sibling("srv1", "/a", 20), sibling("srv2", "/a", 59), sibling("srv3", "/a", 2)});
  REQUIRE(mixed.breaches.size() == 1);
  CHECK(mixed.breaches.front().words ==
        "below /a nodes that ask for the same weigh srv1 20 (linear), srv2 59 (quadratic), srv3 2 (the number of "
        "vCPUs: no request was known): 59 to 2");
  CHECK_FALSE(mixed.as_asked());
  CHECK(audited(k_burstable, {sibling("srv1", "/a", 20), sibling("srv2", "/b", 59)}).breaches.empty());
}

TEST_CASE("a shared cgroup, a cgroup without the controller, a node that was not read", "[audit]") {
  NodeKnobs shared = node_with(200000);
  shared.shared_with = "srv2";
  const Audit of_shared = audited(k_burstable, {shared});
  CHECK(broken(of_shared) == Names{"no-own-scope"});
  CHECK_FALSE(of_shared.nodes.front().checks[2].effective);

  NodeKnobs bare = node_with({level("/lane/vm", std::nullopt), level("/lane", 400000)});
  bare.levels.front() = CpuKnobs{2, "/lane/vm", std::nullopt};
  const Audit of_bare = audited(k_burstable, {bare});
  CHECK(broken(of_bare) == Names{"no-cpu-controller"});
  CHECK(of_bare.nodes.front().checks[0].state == KnobState::not_read);
  CHECK(of_bare.nodes.front().checks[0].effective == std::optional<Value>(std::uint64_t{400000}));

  bare.problems = {"/lane/vm/cpu.max: EACCES (Permission denied)"};
  CHECK(broken(audited(k_burstable, {bare})).empty());
  CHECK_FALSE(audited(k_burstable, {bare}).as_asked());

  NodeKnobs gone;
  gone.node = "srv1";
  gone.unread = "no live process was found for it";
  CHECK_FALSE(audited(k_burstable, {gone}).as_asked());
  CHECK_FALSE(audited(k_burstable, {}).as_asked());
}

TEST_CASE("absurd numbers are compared without overflow", "[audit]") {
  const std::uint64_t most = ~std::uint64_t{0};
  CHECK(broken(audited(k_burstable, {node_with(most)})) == Names{"quota-above-limit"});
  NodeKnobs zero = node_with(200000);
  zero.levels.front().period_usec = 0;
  CHECK_FALSE(audited(k_burstable, {zero}).as_asked());
}
