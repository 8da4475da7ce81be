#include "collector/render/node_kvm_text.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace cozy;

namespace {

NodeBudget node_with(std::vector<std::uint64_t> counts) {
  NodeBudget node;
  node.name = "srv1";
  node.kvm.emplace();
  node.kvm->halts.counts = std::move(counts);
  return node;
}

std::vector<std::uint64_t> buckets(std::initializer_list<std::pair<std::size_t, std::uint64_t>> filled) {
  std::vector<std::uint64_t> counts(32, 0);
  for (const auto& [bucket, count] : filled) counts[bucket] = count;
  return counts;
}

}  // namespace

TEST_CASE("halt chart: bars by length, from the first that has halts to the last") {
  const auto chart = halt_chart(node_with(buckets({{11, 1}, {12, 5}, {15, 60}, {16, 60}})));
  REQUIRE(chart);
  CHECK(chart->heading == "srv1: 126 halts ended in the window, by their length");
  CHECK(chart->lines == std::vector<std::string>{"1.0 us to 4.1 us    6  ##", "4.1 us to 16 us     0",
                                                 "16 us to 66 us    120  " + std::string(30, '#')});
}

TEST_CASE("halt chart: the shortest and the longest halts have one bar each") {
  const auto chart = halt_chart(node_with(buckets({{0, 1}, {10, 1}, {31, 100}})));
  REQUIRE(chart);
  REQUIRE(chart->lines.size() == 12);
  CHECK(chart->lines.front() == "below 1.0 us        2  #");
  CHECK(chart->lines.back() == "1.1 s and longer  100  " + std::string(30, '#'));
  CHECK(chart->lines[10] == "268 ms to 1.1 s     0");
}

TEST_CASE("halt chart: other numbers of buckets") {
  REQUIRE(halt_chart(node_with({3, 4})));
  CHECK(halt_chart(node_with({3, 4}))->lines ==
        std::vector<std::string>{"below 1.0 ns       3  #######################",
                                 "1.0 ns and longer  4  " + std::string(30, '#')});
  std::vector<std::uint64_t> many(64, 1);
  CHECK_FALSE(halt_chart(node_with(many)));
  many.resize(63);
  REQUIRE(halt_chart(node_with(many)));
}

TEST_CASE("halt chart: none where nothing is known or nothing ended") {
  CHECK_FALSE(halt_chart(NodeBudget()));
  CHECK_FALSE(halt_chart(node_with({})));
  CHECK_FALSE(halt_chart(node_with(buckets({}))));
  CHECK_FALSE(halt_chart(node_with({5})));
}

TEST_CASE("values of a VM stand as both samples had them") {
  NodeBudget node = node_with({});
  CHECK(vm_values_text(node).empty());
  node.kvm->vm = "894-12";
  node.kvm->values = {{"pages_4k", std::uint64_t{512}, std::uint64_t{514}},
                      {"pages_2m", std::uint64_t{7}, std::uint64_t{7}},
                      {"mmu_unsync", std::uint64_t{1}, std::nullopt}};
  CHECK(vm_values_text(node) == "srv1 (vm 894-12): pages_4k 512 -> 514, pages_2m 7, mmu_unsync 1 -> absent");
}

TEST_CASE("values of a VM: hostile bytes are neutral and the list is bounded") {
  NodeBudget node = node_with({});
  node.name = "srv1\x1b[31m";
  node.kvm->values.assign(20, {"a\nb", std::uint64_t{1}, std::uint64_t{1}});
  const std::string text = vm_values_text(node);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.ends_with(", 8 more"));
}

TEST_CASE("values of KVM: VMs that are tied to no node, and gauges alone, are shown as well") {
  Analysis analysis;
  CHECK(other_vm_values(analysis).empty());
  CHECK(kvm_gauges(analysis).empty());

  SECTION("of no node") {
    analysis.kvm.emplace();
    for (const char* name : {"902-12", "922-12", "942-12"}) {
      VmRate vm{name, Change::absent, std::nullopt};
      vm.values = {{"pages_4k", Value(std::uint64_t{512}), Value(std::uint64_t{514})}};
      analysis.kvm->vms.push_back(vm);
    }
    analysis.kvm->vms[2].node = "srv3";  // which was started anew, so that it is not the same VM
    analysis.nodes.push_back(node_with({}));
    analysis.nodes[0].kvm->vm = "902-12";
    CHECK(other_vm_values(analysis) == std::vector<std::string>{"vm 922-12 (tied to no node): pages_4k 512 -> 514",
                                                                "vm 942-12 (of srv3): pages_4k 512 -> 514"});
  }
  SECTION("gauges alone") {
    const auto row = [](const char* scope, const char* field, Value before, std::optional<Value> after) {
      return ComparedRow{scope, field, Kind::instant, Change::not_a_rate, std::move(before), std::move(after), {}};
    };
    const Value three = std::uint64_t{3};
    analysis.kvm_gauges = ComparedRows({row("kernel", "lockdown", std::string("integrity"), std::nullopt),
                                        row("global", "guest_mode", three, std::uint64_t{2}),
                                        row("vm 5-12", "blocking", three, std::nullopt),
                                        row("vm 5-12", "node", std::string("srv1\x1b"), std::nullopt)});
    CHECK(other_vm_values(analysis) ==
          std::vector<std::string>{"kernel-wide, gauges alone: guest_mode 3 -> 2",
                                   "vm 5-12 (srv1\\x1b), gauges alone: blocking 3 -> absent"});
    REQUIRE(kvm_gauges(analysis).size() == 2);
    CHECK(kvm_gauges(analysis)[1].scope == "vm 5-12");
  }
}
