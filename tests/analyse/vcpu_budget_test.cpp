#include "collector/analyse/vcpu_budget.hpp"

#include <string>

#include "collector/analyse/process_threads.hpp"
#include "probes/probe.hpp"
#include "tests/catch.hpp"

namespace cozy {

namespace {

Reading parse_threads(const std::string& text) {
  return find_probe("sandbox-qemu-thread-cpu")->parse("clock ticks per second: 100\n" + text);
}

ReadSpan at_second(std::int64_t second) {
  return {Stamp{second * k_ns_per_second, 0}, Stamp{second * k_ns_per_second, 0}};
}

std::string stat_line(int pid, int tid, const std::string& comm, const std::string& ticks, const std::string& start,
                      const std::string& guest = "0", char state = 'S') {
  const std::string ids = " 1 " + std::to_string(pid) + " " + std::to_string(pid);
  return std::to_string(tid) + " (" + comm + ") " + state + ids + " 0 -1 64 0 0 0 0 " + ticks + " 0 0 20 0 2 0 " +
         start + " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 3 0 0 0 " + guest + " 0\n";
}

/// A process with one vCPU, known by its pid file. `schedstat` may be empty.
std::string qemu(int pid, const std::string& node, const std::string& start, const std::string& ticks,
                 const std::string& schedstat, const std::string& guest = "0", char state = 'S') {
  const std::string number = std::to_string(pid);
  std::string text = "process " + number + " comm qemu-system-x86\n";
  text += stat_line(pid, pid, "qemu-system-x86", "5 5", start, "0", state);
  text += stat_line(pid, pid + 1, "CPU 0/KVM", ticks, start, guest);
  if (!schedstat.empty())
    text += "[thread " + number + "/" + std::to_string(pid + 1) + " schedstat " + schedstat + "]\n";
  return node.empty() ? text : text + "[process " + number + " is " + node + "]\n";
}

/// The budget of two texts, 10 s apart. The readings outlive what is returned by value.
std::vector<NodeBudget> between(const std::string& before, const std::string& after, const BudgetFacts& facts = {},
                                bool whole_after = true) {
  const Reading first = parse_threads(before);
  const Reading second = parse_threads(after);
  return vcpu_budget(difference({first, at_second(100), true}, {second, at_second(110), whole_after}, {}), facts);
}

}  // namespace

TEST_CASE("budget: ran, waited and the rest of a vCPU's window") {
  const auto nodes = between(qemu(100, "srv1", "7", "0 0", "1000 2000 3"),
                             qemu(100, "srv1", "7", "500 20", "5000001000 3000002000 9", "400"));
  REQUIRE(nodes.size() == 1);
  const NodeBudget& node = nodes[0];
  CHECK(node.state == NodeState::present);
  CHECK(node.evidence == std::vector<std::string>{"pid file"});
  REQUIRE(node.vcpus.size() == 1);
  const VcpuTime& vcpu = node.vcpus[0];
  CHECK(vcpu.index == 0);
  CHECK(vcpu.tid == 101);
  CHECK(vcpu.parts.window_seconds == 10.0);
  CHECK(vcpu.parts.ran_seconds == 5.0);
  CHECK(vcpu.parts.guest_seconds == 4.0);
  CHECK(vcpu.parts.waited_seconds == 3.0);
  CHECK_FALSE(vcpu.parts.halted_seconds);
  CHECK(vcpu.parts.rest_seconds == 2.0);
  CHECK_FALSE(vcpu.ran_by_ticks);
  CHECK(node.sum.share(node.sum.waited_seconds) == 0.3);
  REQUIRE(node.others.size() == 1);
  CHECK(node.others[0].kind == ThreadKind::main);
  CHECK(node.others[0].ran_seconds == 0.0);
}

TEST_CASE("budget: halted time that is known leaves the rest") {
  BudgetFacts facts;
  facts.halted_ns[{"srv1", 0}] = 1'500'000'000;
  const auto nodes = between(qemu(100, "srv1", "7", "0 0", "0 1 1"),
                             qemu(100, "srv1", "7", "500 0", "5000000000 3000000001 9"), facts);
  CHECK(nodes[0].sum.halted_seconds == 1.5);
  CHECK(nodes[0].sum.rest_seconds == 0.5);
}

TEST_CASE("budget: without schedstat the ticks tell what ran, and waiting is absent") {
  const auto nodes = between(qemu(100, "srv1", "7", "0 0", ""), qemu(100, "srv1", "7", "300 100", ""));
  CHECK(nodes[0].ran_by_ticks);
  CHECK(nodes[0].sum.ran_seconds == 4.0);
  CHECK_FALSE(nodes[0].sum.waited_seconds);
  CHECK(nodes[0].sum.rest_seconds == 6.0);
  // Zeros on a thread that used CPU are no accounting, as good as no line.
  const auto zeros = between(qemu(100, "srv1", "7", "1 0", "0 0 0"), qemu(100, "srv1", "7", "301 100", "0 0 0"));
  CHECK(zeros[0].ran_by_ticks);
  CHECK_FALSE(zeros[0].sum.waited_seconds);
}

TEST_CASE("budget: no guest share is claimed where guest time stays near zero") {
  const auto pvm =
      between(qemu(100, "srv1", "7", "0 0", "0 1 1", "3"), qemu(100, "srv1", "7", "900 0", "9000000000 1 9", "4"));
  CHECK_FALSE(pvm[0].vcpus[0].parts.guest_seconds);
  CHECK_FALSE(pvm[0].sum.guest_seconds);
  CHECK(pvm[0].sum.ran_seconds == 9.0);
  const auto asleep = between(qemu(100, "srv1", "7", "0 0", "5 1 1"), qemu(100, "srv1", "7", "0 0", "5 1 1"));
  CHECK(asleep[0].sum.guest_seconds == 0.0);
}

TEST_CASE("budget: parts that pass the window") {
  SECTION("by what clocks differ: as measured, and shares of their sum") {
    const auto nodes =
        between(qemu(100, "srv1", "7", "0 0", "0 1 1"), qemu(100, "srv1", "7", "999 0", "10000000000 2000001 9"));
    CHECK_FALSE(nodes[0].impossible);
    CHECK(nodes[0].sum.ran_seconds == 10.0);
    CHECK(*nodes[0].sum.share(nodes[0].sum.ran_seconds) + *nodes[0].sum.share(nodes[0].sum.waited_seconds) <=
          1.0000001);
    CHECK(nodes[0].sum.rest_seconds == 0.0);
  }
  SECTION("by more: scaled to the window, and said") {
    const auto nodes = between(qemu(100, "srv1", "7", "0 0", "0 1 1"),
                               qemu(100, "srv1", "7", "999 0", "18446744073709551615 10000000001 9"));
    CHECK(nodes[0].impossible);
    CHECK(*nodes[0].sum.ran_seconds <= 10.0);
    CHECK(*nodes[0].sum.share(nodes[0].sum.ran_seconds) <= 1.0);
  }
}

TEST_CASE("budget: a counter that went back is no time") {
  const auto nodes =
      between(qemu(100, "srv1", "7", "0 0", "9000 9000 9"), qemu(100, "srv1", "7", "200 0", "5000 1000009000 12"));
  CHECK(nodes[0].ran_by_ticks);
  CHECK(nodes[0].sum.ran_seconds == 2.0);
  CHECK(nodes[0].sum.waited_seconds == 1.0);
}

TEST_CASE("budget: a node that is not the same process in both samples has no parts") {
  const std::string first = qemu(100, "srv1", "7", "900 0", "9000000000 1 9");
  SECTION("left") {
    const auto nodes = between(first + qemu(200, "srv2", "8", "1 0", ""), qemu(200, "srv2", "8", "1 0", ""));
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].state == NodeState::left);
    CHECK(nodes[0].vcpus.empty());
    CHECK(nodes[1].state == NodeState::present);
  }
  SECTION("left, or not reached by a cut reading") {
    const auto nodes = between(first + qemu(200, "srv2", "8", "1 0", ""), qemu(200, "srv2", "8", "1 0", ""), {}, false);
    CHECK(nodes[0].state == NodeState::unread);
  }
  SECTION("appeared") {
    const auto nodes = between(qemu(200, "srv2", "8", "1 0", ""), first + qemu(200, "srv2", "8", "1 0", ""));
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[1].state == NodeState::appeared);
  }
  SECTION("restarted under another number") {
    const auto nodes = between(first, qemu(300, "srv1", "9", "5 0", "50000000 1 1"));
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].state == NodeState::restarted);
    CHECK(nodes[0].pid_before == 100U);
    CHECK(nodes[0].pid_after == 300U);
    CHECK(nodes[0].vcpus.empty());
  }
  SECTION("restarted under the same number, with counters that are higher") {
    const auto nodes = between(first, qemu(100, "srv1", "9", "950 0", "9900000000 1 9"));
    CHECK(nodes[0].state == NodeState::restarted);
    CHECK_FALSE(nodes[0].sum.ran_seconds);
  }
  SECTION("a pid file that names a process which is not there") {
    const auto nodes = between(first + "[process 400 is srv4]\n", first + "[process 400 is srv4]\n");
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[1].state == NodeState::no_process);
    CHECK_FALSE(nodes[1].notes.empty());
  }
}

TEST_CASE("budget: a QEMU that no node names is there all the same") {
  const auto nodes = between(qemu(100, "", "7", "0 0", "0 1 1"), qemu(100, "", "7", "100 0", "1000000000 1 9"));
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].anonymous);
  CHECK(nodes[0].name == "process 100");
  CHECK(nodes[0].sum.ran_seconds == 1.0);
  const std::string image_tool = "process 9 comm qemu-img\n" + stat_line(9, 9, "qemu-img", "5 5", "3");
  CHECK(between(image_tool, image_tool).empty());
}

TEST_CASE("budget: threads come and go without a number being made of it") {
  const std::string first = qemu(100, "srv1", "7", "10 0", "");
  SECTION("a vCPU thread of the second reading alone") {
    const std::string later = stat_line(100, 102, "CPU 1/KVM", "70 0", "99");
    const auto nodes = between(first, qemu(100, "", "7", "20 0", "") + later + "[process 100 is srv1]\n");
    CHECK(nodes[0].vcpus.size() == 1);
    CHECK(nodes[0].vcpus_unpaired == 1);
  }
  SECTION("a worker under the number of another one") {
    const auto with_worker = [&](const std::string& start, const std::string& ticks) {
      return qemu(100, "", "7", "20 0", "") + stat_line(100, 105, "worker", ticks, start) + "[process 100 is srv1]\n";
    };
    const auto nodes = between(with_worker("50", "5 0"), with_worker("60", "900 0"));
    CHECK(nodes[0].threads_unpaired == 1);
    CHECK(nodes[0].others.size() == 1);
  }
}

TEST_CASE("budget: a stopped process is known by its state") {
  const auto nodes = between(qemu(100, "srv1", "7", "10 0", ""), qemu(100, "srv1", "7", "10 0", "", "0", 'T'));
  CHECK(nodes[0].process_state_before == "S");
  CHECK(nodes[0].process_state_after == "T");
}

TEST_CASE("budget: a part that one vCPU lacks is absent in the sum") {
  TimeParts with;
  with.window_seconds = with.base_seconds = 10;
  with.ran_seconds = 4;
  with.waited_seconds = 1;
  TimeParts without = with;
  without.waited_seconds.reset();
  const TimeParts sum = sum_of({with, without});
  CHECK(sum.ran_seconds == 8.0);
  CHECK_FALSE(sum.waited_seconds);
  CHECK(sum.rest_seconds == 12.0);
  CHECK_FALSE(sum_of({}).ran_seconds);
  CHECK_FALSE(TimeParts{}.share(1.0));
}

TEST_CASE("budget: a counter of a vCPU thread that fell is named, and not taken for one that the kernel lacks") {
  const auto fell = [](const std::string& after) {
    return between(qemu(100, "srv1", "7", "300 20", "3000001000 3000 3"), qemu(100, "srv1", "7", "500 20", after));
  };
  const NodeBudget waited = fell("5000001000 2000 9")[0];
  CHECK(waited.went_back == std::vector<std::string>{"run_delay_ns of vCPU 0"});
  CHECK(waited.sum.ran_seconds == 2.0);
  CHECK_FALSE(waited.sum.waited_seconds);
  CHECK(fell("1000 4000 9")[0].went_back == std::vector<std::string>{"on_cpu_ns of vCPU 0"});
  CHECK(fell("5000001000 4000 9")[0].went_back.empty());
}

namespace {

/// The same process under another name for its vCPU thread.
std::string without_debug_threads(std::string text) {
  text.replace(text.find("CPU 0/KVM"), 9, "qemu-system-x86");
  return text;
}

}  // namespace

TEST_CASE("budget: vCPU threads without names are known by the ids of KVM's statistics") {
  const std::string before = without_debug_threads(qemu(100, "srv1", "7", "0 0", "0 1 1"));
  const std::string after = without_debug_threads(qemu(100, "srv1", "7", "500 0", "5000000000 3000000001 9"));
  BudgetFacts facts;
  CHECK(between(before, after, facts)[0].vcpus.empty());

  facts.vcpu_threads = {{{100, 101}, 3}};
  facts.halted_ns[{"srv1", 3}] = 1'500'000'000;
  const NodeBudget known = between(before, after, facts)[0];
  CHECK(known.vcpus_by_statistics);
  REQUIRE(known.vcpus.size() == 1);
  CHECK(known.vcpus[0].index == 3);
  CHECK(known.vcpus[0].parts.ran_seconds == 5.0);
  CHECK(known.vcpus[0].parts.halted_seconds == 1.5);

  // Of another PID namespace: the numbers are not those of the threads, or only some of them by chance.
  facts.vcpu_threads = {{{100, 2101}, 0}};
  CHECK(between(before, after, facts)[0].vcpus.empty());
  facts.vcpu_threads = {{{100, 101}, 0}, {{100, 2102}, 1}};
  CHECK(between(before, after, facts)[0].vcpus.empty());
  facts.vcpu_threads = {{{99, 101}, 0}};
  CHECK(between(before, after, facts)[0].vcpus.empty());
}

TEST_CASE("budget: a vCPU's name comes before the ids of KVM's statistics") {
  BudgetFacts facts;
  facts.vcpu_threads = {{{100, 101}, 3}};
  const auto nodes = between(qemu(100, "srv1", "7", "0 0", "0 1 1"), qemu(100, "srv1", "7", "9 0", "9 1 9"), facts);
  CHECK_FALSE(nodes[0].vcpus_by_statistics);
  REQUIRE(nodes[0].vcpus.size() == 1);
  CHECK(nodes[0].vcpus[0].index == 0);
}

}  // namespace cozy
