#include <cerrno>

#include "probes/hypervisor.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "runner-steal-clock";
constexpr const char* k_stat = "cpu  25377 0 11896 184448 569 0 89 24 15284 0\ncpu0 1 0 1 1 0 0 0 24 0 0\n";

Reading machine(std::string_view command_line, std::string_view stat) {
  const TemporaryTree tree;
  tree.write("proc/cmdline", command_line);
  tree.write("proc/stat", stat);
  return run_on(k_probe, tree.directory()).reading;
}

}  // namespace

TEST_CASE("steal clock: one word of the command line, and the steal since boot", "[steal_clock]") {
  const Reading told = machine("root=/dev/vda1 secret=hunter2 no-steal-acc quiet\n", k_stat);
  CHECK(told.word("machine", "no-steal-acc") == "yes");
  CHECK(told.number("machine", "steal-ticks-since-boot") == 24U);
  for (const char* other : {"root=/dev/vda1 quiet\n", "xno-steal-acc no-steal-accx no-steal-acc=1\n", ""})
    CHECK(machine(other, k_stat).word("machine", "no-steal-acc") == "no");
}

TEST_CASE("steal clock: no other word of the command line is kept", "[steal_clock]") {
  const TemporaryTree tree;
  tree.write("proc/cmdline", "root=/dev/vda1 token=hunter2 no-steal-acc");
  tree.write("proc/stat", k_stat);
  CHECK(run_on(k_probe, tree.directory()).text.find("hunter2") == std::string::npos);
}

TEST_CASE("steal clock: what is not there is absent", "[steal_clock]") {
  const TemporaryTree tree;
  tree.write("proc/stat", "cpu  1 2 3 4 5 6 7\n");
  const Reading reading = run_on(k_probe, tree.directory()).reading;
  CHECK(reading.find("machine", "no-steal-acc") == nullptr);
  CHECK(reading.find("machine", "steal-ticks-since-boot") == nullptr);
  CHECK(mentions(reading.refused, "/proc/cmdline"));
  CHECK(mentions(reading.refused, "no steal column"));
  CHECK(mentions(reading.refused, "cpuid: --root names another machine"));
  CHECK(machine("", "intr 1 2 3 4 5 6 7 8 9\n").find("machine", "steal-ticks-since-boot") == nullptr);
  CHECK(machine("", "cpu 1 2 3 4 5 6 7 -8\n").find("machine", "steal-ticks-since-boot") == nullptr);
  CHECK(machine("", "").find("machine", "steal-ticks-since-boot") == nullptr);
}

TEST_CASE("steal clock: a file that stalls costs itself", "[steal_clock]") {
  const TemporaryTree tree;
  tree.write("proc/cmdline", "quiet");
  tree.write("proc/stat", k_stat);
  FakeCalls calls(tree.directory());
  calls.hold("proc/cmdline");
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  CHECK(run.reading.stalled.size() == 1);
  CHECK(run.reading.find("machine", "no-steal-acc") == nullptr);
  CHECK(run.reading.number("machine", "steal-ticks-since-boot") == 24U);
}

TEST_CASE("hypervisor: the processor's word holds together", "[steal_clock]") {
  const auto hypervisor = read_hypervisor();
#if defined(__x86_64__)
  REQUIRE(hypervisor.ok());
  CHECK(hypervisor->signature.size() <= 12);
  if (!hypervisor->present) CHECK(hypervisor->signature.empty());
  if (hypervisor->signature == "KVMKVMKVM") {
    REQUIRE(hypervisor->kvm);
    CHECK(hypervisor->kvm->features_leaf == 0x40000001U);
  }
#else
  CHECK_FALSE(hypervisor.ok());
#endif
  CHECK(KvmLeaves{0x40000001U, 0x01007efbU}.steal_clock());
  CHECK_FALSE(KvmLeaves{0x40000001U, 0x01007edbU}.steal_clock());
}
