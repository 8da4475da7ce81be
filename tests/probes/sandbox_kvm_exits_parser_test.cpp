#include <limits>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

Reading parse(std::string_view text) { return find_probe("sandbox-kvm-exits")->parse(text); }

std::size_t values(const Reading& reading) {
  std::size_t count = 0;
  for (const Row& row : reading.rows) count += row.scope != "kernel" ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("a value has a scope, a name, a number and perhaps a mode", "[kvm_parser]") {
  const Reading reading = parse(
      "[counters follow: level name value mode]\n"
      "[global] exits 91822017 0644\n"
      "[vm 2231-14] exits 30611204\n"
      "[vm 2231-14] pages_4k 17000 0444\n"
      "[vm 2231-14] halt_wait_hist 3 0644\n"
      "[vm 2231-14 vcpu0] pid 896 0444\n"
      "[counters read: 1 kernel-wide and 4 per-VM, across 1 per-VM director(ies); 0 file(s) skipped]\n");
  CHECK(reading.number("global", "exits") == 91822017U);
  CHECK(reading.find("global", "exits")->kind == Kind::unknown);  // the legend tells counters from peaks
  CHECK(reading.number("vm 2231-14", "exits") == 30611204U);
  CHECK(reading.find("vm 2231-14", "pages_4k")->kind == Kind::instant);
  CHECK(reading.find("vm 2231-14", "halt_wait_hist")->kind == Kind::histogram);
  CHECK(reading.number("vm 2231-14 vcpu0", "pid") == 896U);
  CHECK(values(reading) == 5);
  CHECK(reading.partial.empty());
  CHECK(reading.notes.empty());
  CHECK(reading.unavailable.empty());
}

TEST_CASE("K04: numbers keep their sign and their size", "[kvm_parser]") {
  const Reading reading = parse(
      "[vm 1-2 vcpu0] tsc-offset -1234567890123 0444\n"
      "[vm 1-2 vcpu1] tsc-offset -9223372036854775808 0444\n"
      "[vm 1-2 vcpu2] tsc-offset 0 0444\n"
      "[vm 1-2] big 18446744073709551615 0644\n"
      "[vm 1-2] too_big 18446744073709551616 0644\n"
      "[vm 1-2] too_small -9223372036854775809 0644\n");
  CHECK(reading.word("vm 1-2 vcpu0", "tsc-offset") == "-1234567890123");
  CHECK(reading.find("vm 1-2 vcpu1", "tsc-offset")->value == Value(std::numeric_limits<std::int64_t>::min()));
  CHECK(reading.number("vm 1-2 vcpu2", "tsc-offset") == 0U);
  CHECK(reading.number("vm 1-2", "big") == std::numeric_limits<std::uint64_t>::max());
  CHECK(reading.find("vm 1-2", "too_big") == nullptr);
  CHECK(reading.find("vm 1-2", "too_small") == nullptr);
  CHECK(reading.partial.size() == 2);
}

TEST_CASE("P12: scopes are whole tokens", "[kvm_parser]") {
  const Reading reading =
      parse("[vm 1234-15] exits 111\n[vm 234-12] exits 222\n[vm 2345-9] exits 333\n[vm 77-234] exits 444\n");
  CHECK(reading.number("vm 234-12", "exits") == 222U);
  CHECK(reading.number("vm 1234-15", "exits") == 111U);
  for (const char* scope : {"vm 234", "vm 4", "vm 23", "vm 234-1", "vm 234-123", "vm"})
    CHECK(reading.find(scope, "exits") == nullptr);
}

TEST_CASE("of a value that stands there twice the first counts, and it is said", "[kvm_parser]") {
  const Reading reading = parse("[vm 1-2] exits 5 0644\n[vm 1-2] exits 9 0644\n[vm 1-3] exits 7 0644\n");
  CHECK(reading.number("vm 1-2", "exits") == 5U);
  CHECK(values(reading) == 2);
  CHECK(mentions(reading.partial, "stands there twice"));
}

TEST_CASE("a line that was cut in mid-line is dropped and said", "[kvm_parser]") {
  for (const char* line :
       {"[global] exits 918[counters of the kernel that hosts the nodes]", "[global] exits 918 06[counters]",
        "[global] exits 918 0644[counters of the kernel]", "[global] exits -[counters]"}) {
    CAPTURE(line);
    const Reading reading = parse("[vm 1-2] exits 5 0644\n" + std::string(line) + "\n");
    CHECK(reading.find("global", "exits") == nullptr);
    CHECK(values(reading) == 1);
    CHECK(mentions(reading.partial, "was rejected"));
  }
}

TEST_CASE("sentences in brackets are no values", "[kvm_parser]") {
  const Reading reading = parse(
      "[vm 1-2] exits 5\n"
      "[global] is the sum over the VMs alive\n"
      "[global]\n[global] \n[global] exits\n[global] exits five\n[vm] exits 5\n[vms 1-2] exits 5\n[Global] exits 5\n"
      "global exits 5\n [global] exits 5\n[bounds] no ceiling 5]\n[]\n[\n] exits 5\n[read attempted from 1 to 2 epoch "
      "seconds]\n");
  CHECK(values(reading) == 1);
  CHECK(reading.partial.empty());
}

TEST_CASE("what was skipped is named, and what could not be read makes the reading partial", "[kvm_parser]") {
  const Reading reading = parse(
      "[vm 1-2] exits 5\n"
      "[skipped vm 1-2] mmu_rmaps_stat: not opened (denied by name)\n"
      "[skipped vm 1-2] text: not a single integer\n"
      "[skipped vm 1-2] halt_exits: could not be read: EIO (Input/output error)\n"
      "[skipped vm 1-2]\n[skipped ] x\n[skipped vm 1-2] x\n");
  CHECK(reading.refused.size() == 3);
  REQUIRE(reading.partial.size() == 1);
  CHECK(reading.partial[0] == "vm 1-2 halt_exits: could not be read: EIO (Input/output error)");
  CHECK(reading.find("vm 1-2", "halt_exits") == nullptr);
}

TEST_CASE("no VM is said only of a walk that was whole and met none", "[kvm_parser]") {
  const std::string none =
      "[counters read: 1 kernel-wide and 0 per-VM, across 0 per-VM director(ies); 0 file(s) skipped]\n";
  const std::string one =
      "[counters read: 1 kernel-wide and 0 per-VM, across 1 per-VM director(ies); 0 file(s) skipped]\n";
  CHECK(mentions(parse("[global] exits 5\n" + none).notes, "no VM is alive"));
  CHECK_FALSE(mentions(parse("[global] exits 5\n").notes, "no VM is alive"));
  CHECK_FALSE(mentions(parse("[global] exits 5\n" + one).notes, "no VM is alive"));
  CHECK_FALSE(mentions(parse("[global] exits 5\n[not read vm 1-2: EACCES]\n" + one).notes, "no VM is alive"));
}

TEST_CASE("findings, refusals and lockdown are three things", "[kvm_parser]") {
  CHECK(parse("NO-KVM-DIR: debugfs has no kvm directory\n").finding.starts_with("NO-KVM-DIR"));
  CHECK(parse("NO-KVM-DIR: x\n").unavailable.empty());
  CHECK(parse("[counters follow]\nNO-COUNTER-FILES: x\n").finding.starts_with("NO-COUNTER-FILES"));
  CHECK(parse("NO-DEBUGFS: EPERM\n").unavailable.starts_with("NO-DEBUGFS"));
  CHECK(parse("NO-DEBUGFS: EPERM\n").finding.empty());

  const Reading gauges = parse(
      "[kernel lockdown: integrity]\n[vm 1-2] pages_4k 17000 0444\n"
      "[skipped vm 1-2] 4 files: not opened (kernel lockdown)\n"
      "[lockdown: 4 counter files were not opened or were refused; mode integrity]\n");
  CHECK(gauges.counters_refused);
  CHECK(gauges.word("kernel", "lockdown") == "integrity");
  CHECK(gauges.number("vm 1-2", "pages_4k") == 17000U);
  CHECK(gauges.find("vm 1-2", "exits") == nullptr);
  CHECK_FALSE(parse("[kernel lockdown: none]\n[vm 1-2] exits 1 0644\n").counters_refused);
}

TEST_CASE("a histogram of a vCPU stands as its buckets, beside what they are of", "[kvm_parser]") {
  const Reading reading = parse(
      "[vcpu srv1/vcpu0] halt_wait_hist 0,2,1 log-histogram seconds 10^-9\n"
      "[vcpu srv1/vcpu0] halt_wait_hist 0,2,1 log-histogram seconds 10^-9\n");
  CHECK(reading.word("srv1/vcpu0", "halt_wait_hist") == "log-histogram seconds 10^-9");
  CHECK(reading.number("srv1/vcpu0", "halt_wait_hist[1]") == 2U);
  CHECK(reading.find("srv1/vcpu0", "halt_wait_hist[2]")->kind == Kind::histogram);
  CHECK(reading.partial.size() == 1);  // it stands there twice
}

TEST_CASE("a VM that left before it was read is a note; one that left in the midst makes the reading partial",
          "[kvm_parser]") {
  const Reading midst = parse("[vm 1-2] exits 5\n[srv2 left while it was read]\n");
  REQUIRE(midst.partial.size() == 1);
  CHECK(midst.partial[0].starts_with("srv2 left while it was read"));
  CHECK(midst.partial[0].find("may be paired") != std::string::npos);
  CHECK(midst.number("vm 1-2", "exits") == 5U);

  const Reading reading = parse("[vm 1-2] exits 5\n[vm 3-4 left during the walk]\n");
  CHECK(mentions(reading.notes, "vm 3-4 left during the walk"));
  CHECK(reading.partial.empty());
}

TEST_CASE("a row without the name of its VM or vCPU is rejected", "[kvm_parser]") {
  for (const std::string line : {"[vm ] exits 5 0644\n", "[vm   ] exits 5 0644\n", "[vm  1-2] exits 5 0644\n",
                                 "[vm  is srv1; evidence: x]\n", "[vcpu ] exits 5 cumulative none 10^0\n",
                                 "[vcpu  is kvm-1/vcpu-0 of process 1 start 2 read from 1 to 2 boot-time ns]\n"}) {
    CAPTURE(line);
    const Reading reading = parse(line + "[global] exits 5 0644\n");
    CHECK(reading.rows.size() == 1);
    CHECK(reading.subjects.empty());
    CHECK(reading.partial.size() == (line.find(" 5 ") == std::string::npos ? 0U : 1U));
  }
}
