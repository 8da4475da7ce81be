#include <set>
#include <string>

#include "collector/analyse/kvm_nodes.hpp"
#include "collector/analyse/rules.hpp"
#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

/// Rules on a node's process, its other threads, and its VM.
namespace cozy {

using namespace hand_made;

namespace {

using Ids = std::set<std::string>;

NodeBudget calm(const std::string& name) { return node(name, {0.5, 0.02, 0.4}); }

NodeKvm kvm_of(double exits, double irq_exits) {
  return {"debugfs", "899-12", "the test says so", {{"exits", exits}, {"irq_exits", irq_exits}}, {}};
}

void set_exits(NodeBudget& node, double exits, double irq_exits = 0) {
  node.kvm = kvm_of(exits, irq_exits);
  node.exits_per_second = exits;
}

ThreadTime thread(ThreadKind kind, const std::string& name, double ran_seconds) {
  return {kind, name, 950, window(), ran_seconds, 0.0};
}

}  // namespace

TEST_CASE("rules: a stopped process") {
  Analysis analysis = analysis_of({node("srv1", {0, 0.0, 0.1}), calm("srv2")});
  analysis.nodes[0].process_state_after = "T";
  analysis = judged(analysis);
  CHECK(ids(analysis) == Ids{"node-stopped"});  // which explains the time off the CPU: no node-blocked
  CHECK(all(analysis, "node-stopped")[0].subject == "srv1");
  CHECK(contains(said(analysis, "node-stopped"), "in sample 2"));
  CHECK(std::abs(all(analysis, "node-stopped")[0].weight - 0.9) < 1e-9);
  analysis.nodes[0].process_state_before = "T";
  CHECK(contains(said(judged(analysis), "node-stopped"), "in samples 1 and 2"));
}

TEST_CASE("rules: a process that left, one that is another, one that nobody knows") {
  Analysis analysis = analysis_of({calm("srv1"), calm("srv2"), calm("srv3")});
  NodeBudget& second = analysis.nodes[1];
  second = {};
  second.name = "srv2";
  SECTION("left") {
    second.state = NodeState::left;
    second.pid_before = 902;
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-left"});
    CHECK(all(analysis, "node-left")[0].says == "srv2 left: process 902 of sample 1 is gone in sample 2");
  }
  SECTION("restarted") {
    second.state = NodeState::restarted;
    second.pid_before = 902;
    second.pid_after = 1902;
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-restarted"});
    CHECK(contains(said(analysis, "node-restarted"), "902 before, 1902 after"));
  }
  SECTION("what is in one sample only, or in none, is open") {
    for (const NodeState state : {NodeState::appeared, NodeState::unread, NodeState::no_process}) {
      second.state = state;
      const Analysis open = judged(analysis);
      CHECK(ids(open) == Ids{"incomplete"});
      CHECK(all(open, "incomplete")[0].subject == "srv2");
    }
  }
}

TEST_CASE("rules: vCPUs without names") {
  Analysis analysis = analysis_of({calm("srv1"), calm("srv2")});
  NodeBudget& node = analysis.nodes[1];
  node.vcpus.clear();
  node.sum = {};
  node.others = {thread(ThreadKind::main, "qemu-system-x86", 2), thread(ThreadKind::other, "qemu-system-x86", 99)};
  analysis = judged(analysis);
  // A busy thread of an unnamed kind can be a vCPU: nobody calls it an emulator.
  CHECK(ids(analysis) == Ids{"vcpu-unnamed"});
  CHECK(all(analysis, "vcpu-unnamed")[0].subject == "srv2");
  analysis.nodes[1].others[0].ran_seconds = 95;
  CHECK(ids_of(analysis) == Ids{"node-emulator-bound", "vcpu-unnamed"});
}

TEST_CASE("rules: a thread of QEMU that is no vCPU") {
  for (const ThreadKind kind : {ThreadKind::main, ThreadKind::io, ThreadKind::worker, ThreadKind::kernel}) {
    Analysis analysis = analysis_of({node("srv1", {0.5, 0.02, 0.4}), calm("srv2")});
    analysis.nodes[0].others = {thread(kind, "IO\niothread0", 90)};
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-emulator-bound"});
    CHECK(contains(said(analysis, "node-emulator-bound"), "IO\\x0aiothread0"));
    CHECK(std::abs(all(analysis, "node-emulator-bound")[0].weight - 0.08) < 1e-9);  // no more than it can explain
    analysis.nodes[0].others[0].ran_seconds = 89;
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  }
}

TEST_CASE("rules: blocked is claimed only where halts are known and none is in progress") {
  const Shares shares{0.5, 0.02, 0.28};
  CHECK(ids_of(analysis_of({node("srv1", shares)})) == Ids{"node-blocked"});
  Analysis analysis = analysis_of({node("srv1", shares)});
  SECTION("one vCPU has a halt in progress: the claim is of the other") {
    analysis.nodes[0].vcpus[0].halt_in_progress = true;
    analysis = judged(analysis);
    CHECK(contains(said(analysis, "node-blocked"), "1 of 2 vCPUs"));
    CHECK(std::abs(all(analysis, "node-blocked")[0].weight - 0.1) < 1e-9);
  }
  SECTION("both have, or nobody knows: no claim") {
    for (const std::optional<bool> in_progress : {std::optional(true), std::optional<bool>()}) {
      for (VcpuTime& vcpu : analysis.nodes[0].vcpus) vcpu.halt_in_progress = in_progress;
      CHECK_FALSE(ids_of(analysis).contains("node-blocked"));
    }
  }
  SECTION("halts not known: no claim, and the question is open") {
    CHECK(ids_of(analysis_of({node("srv1", {0.2, 0.02})})) == Ids{"incomplete"});
  }
  SECTION("waiting not known: no claim") {
    CHECK_FALSE(ids_of(analysis_of({node("srv1", {0.2, std::nullopt, 0.1})})).contains("node-blocked"));
  }
  SECTION("at 20 percent, and not below") {
    CHECK(ids_of(analysis_of({node("srv1", {0.5, 0.02, 0.27})})) == Ids{"node-blocked"});
    CHECK(ids_of(analysis_of({node("srv1", {0.5, 0.02, 0.29})})) == Ids{"nothing-unusual"});
  }
}

TEST_CASE("rules: halted is of every vCPU") {
  Analysis analysis = analysis_of({node("srv1", {0.05, 0.01, 0.93}), calm("srv2")});
  const Analysis found = judged(analysis);
  CHECK(ids(found) == Ids{"node-halted"});
  CHECK(all(found, "node-halted")[0].subject == "srv1");
  CHECK(all(found, "node-halted")[0].level == Level::notice);
  analysis.nodes[0].vcpus[1] = vcpu(1, {0.15, 0.01, 0.83});
  sum_up(analysis.nodes[0]);
  CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  analysis.nodes[0].vcpus[1].parts.halted_seconds.reset();
  sum_up(analysis.nodes[0]);
  CHECK_FALSE(ids_of(analysis).contains("node-halted"));
}

TEST_CASE("rules: a busy vCPU with almost no exit spins in its guest") {
  Analysis analysis = analysis_of({node("srv1", {0.97, 0.0, 0.02}), calm("srv2")});
  SECTION("exits not known: no claim") { CHECK(ids_of(analysis) == Ids{"nothing-unusual"}); }
  SECTION("the whole VM has almost none") {
    set_exits(analysis.nodes[0], 3);
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-busy-flat"});
    CHECK(contains(said(analysis, "node-busy-flat"), "vCPU 0 of srv1 ran 97 %"));
    CHECK(contains(said(analysis, "node-busy-flat"), "the whole VM left guest mode 3.0 times per second"));
    CHECK_FALSE(contains(said(analysis, "node-busy-flat"), "idle"));
  }
  SECTION("interrupts of the runner are not the guest's exits") {
    set_exits(analysis.nodes[0], 1003, 1000);
    CHECK(ids_of(analysis) == Ids{"node-busy-flat"});
    set_exits(analysis.nodes[0], 1003, 900);
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  }
  SECTION("a vCPU's own exits come before the VM's") {
    set_exits(analysis.nodes[0], 900);
    analysis.nodes[0].vcpus[1].exits_per_second = 0.3;
    analysis = judged(analysis);
    CHECK(contains(said(analysis, "node-busy-flat"), "vCPU 1 of srv1"));
    CHECK(std::abs(all(analysis, "node-busy-flat")[0].weight - 0.485) < 1e-9);
  }
  SECTION("a sum over descriptors says nothing of a vCPU that had none") {
    set_exits(analysis.nodes[0], 0.3);
    analysis.nodes[0].kvm->source = "vcpu stats";
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  }
  SECTION("one that ran less is not busy") {
    analysis.nodes[0] = node("srv1", {0.89, 0.0, 0.1});
    set_exits(analysis.nodes[0], 0);
    CHECK(ids_of(analysis) == Ids{"nothing-unusual"});
  }
}

TEST_CASE("rules: an exit storm") {
  Analysis analysis = analysis_of({calm("srv1"), calm("srv2"), calm("srv3")});  // one CPU's worth of run each
  SECTION("by its rate alone") {
    for (NodeBudget& node : analysis.nodes) set_exits(node, 50'000);
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-exit-storm"});
    CHECK(all(analysis, "node-exit-storm").size() == 3);
  }
  SECTION("far above the others, with the leading kinds") {
    set_exits(analysis.nodes[0], 4'000);
    set_exits(analysis.nodes[1], 20'000, 15'000);
    set_exits(analysis.nodes[2], 4'000);
    analysis.nodes[1].kvm->rates.push_back({"halt_exits", 2'000});
    analysis.nodes[1].kvm->rates.push_back({"insn\x1b_exits", 3});
    analysis = judged(analysis);
    CHECK(ids(analysis) == Ids{"node-exit-storm"});
    const Finding finding = all(analysis, "node-exit-storm").at(0);
    CHECK(finding.subject == "srv2");
    CHECK(contains(finding.says, "leading: irq_exits 15.0 k/s, halt_exits 2.0 k/s, insn\\x1b_exits 3.0/s"));
  }
  SECTION("an idle guest runs shortly per exit and is not judged") {
    analysis.nodes[0] = node("srv1", {0.001, 0.0, 0.99});
    set_exits(analysis.nodes[0], 400);
    CHECK(ids_of(analysis) == Ids{"node-halted"});
  }
  SECTION("time outside the guest weighs it, where guest time is known") {
    analysis.nodes[0] = node("srv1", {0.5, 0.02, 0.4, 0.2});
    set_exits(analysis.nodes[0], 60'000);
    CHECK(std::abs(all(judged(analysis), "node-exit-storm").at(0).weight - 0.3) < 1e-9);
  }
}

TEST_CASE("rules: a VM is a node's only where the numbers can be of nothing else") {
  const auto vm = [](const std::string& name) {
    VmRate rate{name, Change::rate, 5.0};
    rate.rates = {{"exits", 5.0}};
    return rate;
  };
  NodeBudget first = calm("srv1");
  NodeBudget second = calm("srv2");
  second.pid_before = second.pid_after = 950;
  std::vector<NodeBudget> nodes{first, second};
  KvmRates kvm;
  kvm.vms = {vm("899-12"), vm("950-12")};
  SECTION("all numbers are the same") {
    tie_vms_to_nodes(kvm, nodes);
    REQUIRE(nodes[1].kvm);
    CHECK(nodes[1].kvm->vm == "950-12");
    CHECK_FALSE(nodes[1].kvm->evidence.empty());
    CHECK(nodes[1].exits_per_second == 5.0);
  }
  SECTION("one of them is not, as in a PID namespace; or there is one VM more, or less") {
    for (const auto& names : {std::vector<std::string>{"899-12", "23140-12"},
                              {"899-12", "950-12", "960-12"},
                              {"899-12"},
                              {"899-12", "899-14"},
                              {"899-12", "9500-12"},
                              {"899-12", "x-12"}}) {
      kvm.vms.clear();
      for (const std::string& name : names) kvm.vms.push_back(vm(name));
      tie_vms_to_nodes(kvm, nodes);
      CHECK_FALSE(nodes[0].kvm);
      CHECK_FALSE(nodes[1].exits_per_second);
    }
  }
  SECTION("the capture's own word comes before the numbers, also where they differ or the set changed") {
    kvm.vms = {vm("23140-12"), vm("899-12"), vm("7-7")};
    kvm.vms[0].node = "srv1";
    kvm.vms[0].evidence = "thread number of a vCPU's statistics";
    kvm.set_changed = true;
    tie_vms_to_nodes(kvm, nodes);
    REQUIRE(nodes[0].kvm);
    CHECK(nodes[0].kvm->vm == "23140-12");
    CHECK(nodes[0].kvm->evidence == "thread number of a vCPU's statistics");
    CHECK_FALSE(nodes[1].kvm);
  }
  SECTION("two VMs of one name are nobody's") {
    for (VmRate& one : kvm.vms) one.node = "srv1";
    tie_vms_to_nodes(kvm, nodes);
    CHECK_FALSE(nodes[0].kvm);
  }
  SECTION("a reading that is cut, other VMs later, or a node that is another process") {
    kvm.partial = true;
    tie_vms_to_nodes(kvm, nodes);
    kvm.partial = false;
    kvm.set_changed = true;
    tie_vms_to_nodes(kvm, nodes);
    kvm.set_changed = false;
    nodes[1].state = NodeState::restarted;
    tie_vms_to_nodes(kvm, nodes);
    CHECK_FALSE(nodes[0].kvm);
  }
}

}  // namespace cozy
