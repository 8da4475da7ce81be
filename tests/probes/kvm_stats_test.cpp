#include "probes/kvm_stats.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "probes/probe.hpp"
#include "tests/catch.hpp"
#include "tests/probes/kvm_tables.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

const KvmStatistic* find(const KvmStatistics& statistics, std::string_view name) {
  const auto found = std::find_if(statistics.statistics.begin(), statistics.statistics.end(),
                                  [&](const KvmStatistic& s) { return s.name == name; });
  return found == statistics.statistics.end() ? nullptr : &*found;
}

/// Overwrites a field of the binary file at an offset.
template <class Number>
std::string with(std::string bytes, std::size_t offset, Number value) {
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

constexpr std::size_t k_name_size = 4;
constexpr std::size_t k_count = 8;
constexpr std::size_t k_id_offset = 12;
constexpr std::size_t k_description_offset = 16;
constexpr std::size_t k_data_offset = 20;
constexpr std::size_t k_first = 72;  // the first description in K12's files

}  // namespace

TEST_CASE("KVM statistics: a file as kernels lay it out", "[K13]") {
  const auto read = parse_kvm_statistics(case_text("K13", "after.bin"));
  REQUIRE(read.ok());
  CHECK(read->id == "kvm-22061/vcpu-0");
  CHECK(read->tid == 22061);
  CHECK(read->vcpu == 0);
  REQUIRE(find(*read, "exits") != nullptr);
  CHECK(find(*read, "exits")->kind == Kind::cumulative);
  CHECK(find(*read, "exits")->values == std::vector<std::uint64_t>{1250000});
  const KvmStatistic* halt = find(*read, "halt_wait_ns");
  REQUIRE(halt != nullptr);
  CHECK(halt->unit == "seconds");
  CHECK(halt->exponent == -9);
  const KvmStatistic* histogram = find(*read, "halt_wait_hist");
  REQUIRE(histogram != nullptr);
  CHECK(histogram->kind == Kind::histogram);
  CHECK(histogram->type == "log-histogram");
  CHECK(histogram->values == std::vector<std::uint64_t>{0, 0, 0, 0, 1, 5, 13, 44});
  REQUIRE(find(*read, "blocking") != nullptr);
  CHECK(find(*read, "blocking")->kind == Kind::instant);
  CHECK(find(*read, "blocking")->unit == "boolean");
  CHECK(read->left_out.empty());
}

TEST_CASE("KVM statistics: what does not fit the bytes that came is refused or left out", "[K12]") {
  const auto read = [](std::string_view file) { return parse_kvm_statistics(case_text("K12", file)); };
  REQUIRE(read("good.bin").ok());
  CHECK(find(*read("good.bin"), "halt_exits")->values.front() == 300);
  for (const std::string_view file :
       {"short-24.bin", "bad-id.bin", "far-desc.bin", "num-desc.bin", "name-size.bin", "empty.bin"}) {
    INFO(file);
    const auto refused = read(file);
    REQUIRE_FALSE(refused.ok());
    CHECK_FALSE(refused.error().reason.empty());
  }
  const auto cut = read("cut-data.bin");
  REQUIRE(cut.ok());
  CHECK(find(*cut, "halt_exits") == nullptr);
  CHECK(mentions(cut->left_out, "halt_exits"));
  const auto outside = read("value-offset.bin");
  REQUIRE(outside.ok());
  CHECK(find(*outside, "exits") == nullptr);
}

TEST_CASE("KVM statistics: odd headers and descriptions") {
  const std::string good = case_text("K12", "good.bin");
  REQUIRE(parse_kvm_statistics(good).ok());
  const std::uint32_t most = 0xffffffffU;
  for (const std::size_t field : {k_name_size, k_count, k_id_offset, k_description_offset}) {
    INFO("header field at " << field);
    CHECK_FALSE(parse_kvm_statistics(with(good, field, most)).ok());
  }
  CHECK_FALSE(parse_kvm_statistics(with(good, k_name_size, std::uint32_t{0})).ok());
  const auto nothing = parse_kvm_statistics(with(good, k_count, std::uint32_t{0}));
  REQUIRE(nothing.ok());
  CHECK(nothing->statistics.empty());

  const auto far_data = parse_kvm_statistics(with(good, k_data_offset, most));
  REQUIRE(far_data.ok());
  CHECK(far_data->statistics.empty());
  CHECK(far_data->left_out.size() == 2);

  const auto size = [&](std::uint16_t values) { return parse_kvm_statistics(with(good, k_first + 6, values)); };
  for (const std::uint16_t values : std::initializer_list<std::uint16_t>{0, 2, 0xffff}) {
    INFO("size " << values);
    REQUIRE(size(values).ok());
    CHECK(find(*size(values), "exits") == nullptr);
    CHECK(find(*size(values), "halt_exits") != nullptr);
  }
  // An unknown type is named and never subtracted; an unknown unit and base are named.
  const auto unknown = parse_kvm_statistics(with(good, k_first, std::uint32_t{0x597}));
  REQUIRE(unknown.ok());
  REQUIRE(find(*unknown, "exits") != nullptr);
  CHECK(find(*unknown, "exits")->kind == Kind::histogram);
  CHECK(find(*unknown, "exits")->type == "type-7");
  CHECK(find(*unknown, "exits")->unit == "unit-9");
  CHECK(find(*unknown, "exits")->base == "base-5");

  std::string no_end = good;
  std::fill_n(no_end.begin() + static_cast<std::ptrdiff_t>(k_first) + 16, 48, 'x');  // a name without its NUL
  const auto long_name = parse_kvm_statistics(no_end);
  REQUIRE(long_name.ok());
  CHECK(find(*long_name, std::string(48, 'x')) != nullptr);
  std::string wild = good;
  wild[k_first + 16] = '\n';
  const auto no_name = parse_kvm_statistics(wild);
  REQUIRE(no_name.ok());
  CHECK(mentions(no_name->left_out, "is no name"));
}

TEST_CASE("KVM statistics: sizes of another kernel are taken from the header") {
  const std::vector<TableEntry> entries{
      {"exits", 0, {1250000}}, {"halt_wait_ns", 0x20, {77}, -9}, {"halt_wait_hist", 0x24, {1, 2, 3}}};
  for (const TableLayout layout :
       {TableLayout{48, 0}, TableLayout{16, 0}, TableLayout{33, 7}, TableLayout{1024, 4096}}) {
    CAPTURE(layout.name_size, layout.gap);
    const auto read = parse_kvm_statistics(kvm_table("kvm-7/vcpu-3", entries, layout));
    REQUIRE(read.ok());
    CHECK(read->tid == 7);
    CHECK(read->vcpu == 3);
    REQUIRE(read->statistics.size() == 3);
    CHECK(find(*read, "exits")->values == std::vector<std::uint64_t>{1250000});
    CHECK(find(*read, "halt_wait_ns")->exponent == -9);
    CHECK(find(*read, "halt_wait_hist")->values == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(read->left_out.empty());
  }
  CHECK_FALSE(parse_kvm_statistics(kvm_table("kvm-7/vcpu-3", entries, {1025, 0})).ok());
}

TEST_CASE("KVM statistics: cut at any byte, what is whole is whole and the rest is left out or refused") {
  const std::string good = kvm_table("kvm-7/vcpu-3", {{"exits", 0, {11}}, {"halt_exits", 0, {22}}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto read = parse_kvm_statistics(good.substr(0, size));
    CAPTURE(size);
    if (!read) continue;
    CHECK(size >= good.size() - 16);  // no table of descriptions is believed that did not come whole
    CHECK((find(*read, "exits") != nullptr) == (size >= good.size() - 8));
    CHECK(find(*read, "halt_exits") == nullptr);
    CHECK(mentions(read->left_out, "halt_exits: its value lies outside"));
  }
}

TEST_CASE("KVM statistics: ids, and the table of a VM") {
  for (const char* id : {"kvm-7", "kvm-/vcpu-1", "kvm-7/vcpu-", "kvm-7/vcpu-x", "7/vcpu-1", "vcpu-1", "", "kvm-7/cpu-1",
                         "kvm-7/vcpu--1", "kvm-18446744073709551616/vcpu-1", "kvm-7/vcpu-1 "}) {
    CAPTURE(id);
    CHECK_FALSE(parse_kvm_statistics(kvm_table(id, {{"exits", 0, {1}}})).ok());
  }
  const auto vm = parse_kvm_table(kvm_table("kvm-7", {{"remote_tlb_flush", 0, {1}}, {"max_mmu_rmap_size", 2, {9}}}));
  REQUIRE(vm.ok());
  CHECK(vm->id == "kvm-7");
  CHECK(find(*vm, "max_mmu_rmap_size")->kind == Kind::peak);
  CHECK_FALSE(parse_kvm_table("kvm").ok());
}

TEST_CASE("KVM statistics: hostile bytes neither crash nor read outside", "[hostile]") {
  const std::string good = case_text("K13", "after.bin");
  std::mt19937 random(20261201);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (unsigned flips = random() % 8; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto read = parse_kvm_statistics(bytes);
    if (read) CHECK(read->statistics.size() <= 4096);
  }
}

TEST_CASE("KVM capture: rows of vCPUs carry the kernel's own kind") {
  const std::string text =
      "[kernel lockdown: integrity]\n"
      "[vcpu srv1/vcpu0 is kvm-2607/vcpu-0 of process 2605 start 208626 read from 100 to 200 boot-time ns]\n"
      "[vcpu srv1/vcpu0] exits 30611204 cumulative none 10^0\n"
      "[vcpu srv1/vcpu0] blocking 1 instant boolean 10^0\n"
      "[vcpu srv1/vcpu0] max_thing 7 peak none 10^0\n"
      "[vcpu srv1/vcpu0] halt_wait_hist 0,3,10 log-histogram seconds 10^-9\n"
      "[vcpu srv1/vcpu0] odd 9 type-7 none 10^0\n"
      "[vcpu srv1/vcpu0] cut 12[counters of the kernel\n"
      "[vcpu statistics read: 1 vCPUs, 7 values, of 1 QEMU processes; 0 failed]\n"
      "[global] blocking 1 0444\n"
      "[vm 2605-11] pages_4k 0 0444\n"
      "[vm 2605-11 vcpu0] pid 2607 0444\n"
      "[vm 2605-11 is srv1; evidence: thread number of a vCPU's statistics]\n"
      "[counters read: 1 kernel-wide and 2 per-VM, across 1 per-VM director(ies); 53 file(s) skipped]\n"
      "[lockdown: 53 counter files were not opened or were refused; mode integrity]\n";
  const Reading reading = find_probe("sandbox-kvm-exits")->parse(text);
  REQUIRE(reading.find("srv1/vcpu0", "exits") != nullptr);
  CHECK(reading.find("srv1/vcpu0", "exits")->kind == Kind::cumulative);
  CHECK(reading.find("srv1/vcpu0", "blocking")->kind == Kind::instant);
  CHECK(reading.find("srv1/vcpu0", "max_thing")->kind == Kind::peak);
  CHECK(reading.number("srv1/vcpu0", "halt_wait_hist[2]") == 10U);
  CHECK(reading.find("srv1/vcpu0", "halt_wait_hist[2]")->kind == Kind::histogram);
  CHECK(reading.find("srv1/vcpu0", "odd[0]")->kind == Kind::histogram);
  CHECK(reading.find("srv1/vcpu0", "cut") == nullptr);
  CHECK(mentions(reading.partial, "cut 12"));
  CHECK(reading.word("vm 2605-11", "node") == "srv1");
  const Subject* subject = reading.subject("srv1/vcpu0");
  REQUIRE(subject != nullptr);
  CHECK(subject->identity == "kvm-2607/vcpu-0 of process 2605 start 208626");
  REQUIRE(subject->begin);
  CHECK(subject->begin->boottime_ns == 100);
  CHECK(reading.counters_refused);
  CHECK(mentions(reading.notes, "refused by kernel lockdown"));
}

TEST_CASE("KVM capture: vCPU statistics and a debugfs that says otherwise are both told") {
  const Reading reading = find_probe("sandbox-kvm-exits")
                              ->parse(
                                  "[vcpu srv1/vcpu0] exits 5 cumulative none 10^0\n"
                                  "NO-KVM-DIR: debugfs has no kvm directory: this kernel runs no KVM\n");
  CHECK(reading.finding.empty());
  CHECK(reading.unavailable.empty());
  CHECK(mentions(reading.notes, "NO-KVM-DIR"));
  CHECK(reading.number("srv1/vcpu0", "exits") == 5U);
}
