#include "collector/analyse/vcpu_kvm.hpp"

#include <string>

#include "probes/kvm_stats.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;

namespace {

constexpr std::int64_t k_second = 1'000'000'000;

/// A reading of one vCPU, read at a moment and at once.
Reading reading_at(std::int64_t second, std::uint64_t exits, std::uint64_t halted_ns, std::uint64_t blocking) {
  Reading reading;
  reading.add("srv1/vcpu0", "exits", exits, Kind::cumulative);
  reading.add("srv1/vcpu0", "irq_exits", exits / 2, Kind::cumulative);
  reading.add("srv1/vcpu0", "halt_wait_ns", halted_ns, Kind::cumulative);
  reading.add("srv1/vcpu0", "blocking", blocking, Kind::instant);
  const Stamp stamp{second * k_second, second * k_second};
  reading.subjects.push_back({"srv1/vcpu0", "kvm-5/vcpu-0", stamp, stamp});
  return reading;
}

VcpuKvm compared(const Reading& before, const Reading& after) {
  const ReadSide first{before, {}, true};
  const ReadSide second{after, {}, true};
  const VcpuKvmMap statistics = vcpu_kvm(difference(first, second, {}));
  REQUIRE(statistics.size() == 1);
  REQUIRE(statistics.begin()->first == std::pair<std::string, std::uint64_t>("srv1", 0));
  return statistics.begin()->second;
}

/// The rows of K13's binary files, as the probe would write them for srv1.
Reading reading_of(const std::string& file, std::int64_t second) {
  const auto statistics = parse_kvm_statistics(test::case_text("K13", file));
  REQUIRE(statistics.ok());
  Reading reading;
  for (const KvmStatistic& statistic : statistics->statistics) {
    if (statistic.values.size() == 1)
      reading.add("srv1/vcpu0", statistic.name, statistic.values.front(), statistic.kind);
  }
  const Stamp stamp{second * k_second, second * k_second};
  reading.subjects.push_back({"srv1/vcpu0", statistics->id, stamp, stamp});
  return reading;
}

}  // namespace

TEST_CASE("vCPU statistics: counters that fell are named") {
  const VcpuKvm vcpu = compared(reading_at(100, 900, 5000, 0), reading_at(110, 200, 4000, 0));
  CHECK(vcpu.went_back == std::vector<std::string>{"exits", "halt_wait_ns"});
  CHECK_FALSE(vcpu.halted_ns);
  CHECK(compared(reading_at(100, 900, 5000, 0), reading_at(110, 901, 5000, 0)).went_back.empty());
}

TEST_CASE("vCPU statistics: rates, a halt in progress, and gauges that are no rates", "[K13]") {
  const VcpuKvm vcpu = compared(reading_of("before.bin", 100), reading_of("after.bin", 110));
  CHECK(vcpu.rate("exits") == 25000.0);
  CHECK(vcpu.rate("nested_run") == 2300.0);
  CHECK(vcpu.halted_ns == 4'500'000'000U);
  CHECK(vcpu.halt_in_progress == true);
  CHECK_FALSE(vcpu.rate("blocking"));
  CHECK_FALSE(vcpu.rate("guest_mode"));
}

TEST_CASE("vCPU statistics: halted in both readings without an exit is halted all along") {
  const VcpuKvm parked = compared(reading_at(100, 70, 5, 1), reading_at(110, 70, 5, 1));
  CHECK(parked.halted_ns == 10'000'000'000U);
  CHECK(parked.halt_in_progress == false);
  const VcpuKvm woke = compared(reading_at(100, 70, 5, 1), reading_at(110, 71, 9, 1));
  CHECK(woke.halted_ns == 4U);
  CHECK(woke.halt_in_progress == true);
  const VcpuKvm running = compared(reading_at(100, 70, 5, 1), reading_at(110, 99, 9, 0));
  CHECK(running.halt_in_progress == false);
}

TEST_CASE("vCPU statistics: a counter that went back has no rate, and another vCPU is another subject") {
  const VcpuKvm back = compared(reading_at(100, 70, 5, 0), reading_at(110, 60, 2, 0));
  CHECK_FALSE(back.rate("exits"));
  CHECK_FALSE(back.halted_ns);
  Reading again = reading_at(110, 900, 800, 0);
  again.subjects.front().identity = "kvm-9/vcpu-0";
  const VcpuKvm restarted = compared(reading_at(100, 70, 5, 0), again);
  CHECK_FALSE(restarted.rate("exits"));
  CHECK_FALSE(restarted.halted_ns);
}

TEST_CASE("vCPU statistics: a node gets its vCPUs' exits and their sum") {
  NodeBudget node;
  node.name = "srv1";
  node.state = NodeState::present;
  node.vcpus.resize(1);
  std::vector<NodeBudget> nodes{node};
  VcpuKvmMap statistics;
  statistics[{"srv1", 0}].rates = {{"exits", 300.0}, {"irq_exits", 270.0}};
  take_vcpu_kvm(statistics, nodes);
  CHECK(nodes[0].exits_per_second == 300.0);
  CHECK(nodes[0].vcpus[0].guest_exits_per_second == 30.0);
  REQUIRE(nodes[0].kvm);
  CHECK(nodes[0].kvm->source == "vcpu stats");

  // A vCPU without a thread of that name still counts in the sum; one without the field makes it absent.
  statistics[{"srv1", 1}].rates = {{"irq_exits", 1.0}};
  nodes[0].exits_per_second.reset();
  take_vcpu_kvm(statistics, nodes);
  CHECK_FALSE(nodes[0].exits_per_second);
  nodes[0].vcpus.resize(2);
  nodes[0].vcpus[1].index = 7;  // a vCPU whose statistics were not read
  statistics.erase({"srv1", 1});
  take_vcpu_kvm(statistics, nodes);
  CHECK_FALSE(nodes[0].exits_per_second);
}

namespace {

constexpr const char* k_waits = "log-histogram seconds 10^-9";

/// With a histogram of halts by length.
Reading with_halts(Reading reading, const std::vector<std::uint64_t>& counts, const std::string& kind = k_waits) {
  reading.add("srv1/vcpu0", "halt_wait_hist", kind, Kind::histogram);
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    const std::string field = "halt_wait_hist[" + std::to_string(bucket) + "]";
    reading.add("srv1/vcpu0", field, counts[bucket], Kind::histogram);
  }
  return reading;
}

}  // namespace

TEST_CASE("vCPU statistics: halts by length are those that ended in the window", "[vcpu_kvm]") {
  const Reading before = with_halts(reading_at(100, 10, 20, 0), {5, 7, 0, 1});
  const VcpuKvm vcpu = compared(before, with_halts(reading_at(110, 20, 30, 0), {5, 9, 0, 4}));
  CHECK(vcpu.halts.counts == std::vector<std::uint64_t>{0, 2, 0, 3});
  CHECK(vcpu.halts.ended() == 5);
}

TEST_CASE("vCPU statistics: halts by length are absent where they are not of this window", "[vcpu_kvm]") {
  const Reading before = with_halts(reading_at(100, 10, 20, 0), {5, 7, 0, 1});
  CHECK(compared(before, with_halts(reading_at(110, 20, 30, 0), {5, 6, 0, 4})).halts.counts.empty());  // fell
  CHECK(compared(before, with_halts(reading_at(110, 20, 30, 0), {5, 9, 0})).halts.counts.empty());     // is cut
  CHECK(compared(before, with_halts(reading_at(110, 20, 30, 0), {5, 9, 0, 4, 1})).halts.counts.empty());
  CHECK(compared(before, with_halts(reading_at(110, 20, 10, 0), {5, 9, 0, 4})).halts.counts.empty());  // began anew
  const Reading cycles = with_halts(reading_at(110, 20, 30, 0), {5, 9, 0, 4}, "log-histogram cycles 10^0");
  CHECK(compared(before, cycles).halts.counts.empty());
  CHECK(compared(cycles, cycles).halts.counts.empty());
  CHECK(compared(reading_at(100, 10, 20, 0), reading_at(110, 20, 30, 0)).halts.counts.empty());
}

TEST_CASE("vCPU statistics: the ids name the threads that are vCPUs", "[vcpu_kvm]") {
  Reading reading;
  reading.add("srv1/vcpu1", "exits", std::uint64_t{1}, Kind::cumulative);
  reading.subjects.push_back({"srv1/vcpu1", "kvm-2608/vcpu-1 of process 2605 start 208626", {}, {}});
  reading.subjects.push_back({"srv1/vcpu2", "kvm-x/vcpu-2 of process 2605 start 208626", {}, {}});
  reading.subjects.push_back({"srv1", "kvm-2609/vcpu-3 of process 2605 start 208626", {}, {}});
  reading.subjects.push_back({"srv1/vcpu4", "", {}, {}});
  const ReadSide side{reading, {}, true};
  CHECK(vcpu_threads(difference(side, side, {})) == VcpuThreads{{{2605, 2608}, 1}});
}
