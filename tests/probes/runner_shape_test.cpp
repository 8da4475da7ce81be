#include <cerrno>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "runner-shape";

Reading parse(std::string_view text) { return find_probe(k_probe)->parse(text); }

void write_machine(const TemporaryTree& tree) {
  tree.write("proc/sys/kernel/osrelease", "6.18.0-x\n");
  tree.write("sys/devices/system/cpu/online", "0-23\n");
  tree.write("sys/devices/system/cpu/possible", "0-127\n");
  tree.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,24\n");
  tree.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.write("sys/module/kvm/parameters/halt_poll_ns", "200000\n");
  tree.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  tree.write("proc/meminfo", "MemTotal:       98765432 kB\nMemFree: 1 kB\n");
  tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU \x1b[m @ 2 GHz\nflags\t\t: fpu hypervisor lm\n");
}

}  // namespace

TEST_CASE("facts are words, or numbers where they are one", "[shape]") {
  const Reading reading = parse(
      "cpus-online: 0-23\nkvm-halt-poll-ns: 200000\ncpu-model: A: B\\x1b[m\nempty: \nno colon\n[not read x: ENOENT]\n");
  CHECK(reading.word("machine", "cpus-online") == "0-23");
  CHECK(reading.number("machine", "kvm-halt-poll-ns") == 200000U);
  CHECK(reading.word("machine", "cpu-model") == "A: B\x1b[m");
  CHECK(reading.find("machine", "empty") == nullptr);
  CHECK(reading.rows.size() == 3);
  for (const Row& row : reading.rows) CHECK(row.kind == Kind::instant);
  CHECK(reading.partial.empty());
  CHECK(reading.refused.size() == 1);
}

TEST_CASE("a fact is taken once, under a name that is one", "[shape]") {
  const Reading reading = parse("lockdown: none\nlockdown: integrity\n<b>: 1\na b: 2\n: 3\nA: 4\n\x1b[m: 5\n");
  CHECK(reading.word("machine", "lockdown") == "none");
  CHECK(reading.rows.size() == 1);
}

TEST_CASE("the probe reads small files, and names those that are not there", "[shape]") {
  const TemporaryTree tree;
  write_machine(tree);
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.word("machine", "kernel-release") == "6.18.0-x");
  CHECK(run.reading.word("machine", "cpus-online") == "0-23");
  CHECK(run.reading.number("machine", "threads-per-core") == 2U);
  CHECK(run.reading.word("machine", "transparent-hugepages") == "madvise");
  CHECK(run.reading.word("machine", "lockdown") == "integrity");
  CHECK(run.reading.word("machine", "memory-total") == "98765432 kB");
  CHECK(run.reading.word("machine", "cpu-model") == "A CPU \x1b[m @ 2 GHz");
  CHECK(run.text.find('\x1b') == std::string::npos);
  CHECK(run.reading.word("machine", "hypervisor-flag") == "yes");
  CHECK(run.reading.find("machine", "hypervisor") == nullptr);  // CPUID is this machine's, the tree another's
  CHECK(mentions(run.reading.refused, "cpuid"));
  CHECK(mentions(run.reading.refused, "/sys/module/kvm_amd/parameters/nested: ENOENT"));
  CHECK(run.reading.partial.empty());
}

TEST_CASE("threads per core are counted from a list that is one", "[shape]") {
  const TemporaryTree tree;
  const std::pair<const char*, std::optional<std::uint64_t>> table[] = {
      {"0\n", 1},    {"0-1\n", 2}, {"0,24\n", 2},   {"0-1,24-25\n", 4},
      {"1-0\n", {}}, {"x\n", {}},  {"0-1-2\n", {}}, {"0-18446744073709551615\n", {}},
      {"\n", {}},    {"", {}},     {"0,\n", {}},    {"-1\n", {}},
  };
  for (const auto& [text, count] : table) {
    CAPTURE(text);
    tree.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", text);
    CHECK(run_on(k_probe, tree.directory()).reading.number("machine", "threads-per-core") == count);
  }
}

TEST_CASE("a machine that says nothing has no shape", "[shape]") {
  const TemporaryTree tree;
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.rows.empty());
  CHECK_FALSE(run.reading.unavailable.empty());
}

TEST_CASE("a stuck file costs one fact", "[shape]") {
  const TemporaryTree tree;
  write_machine(tree);
  FakeCalls calls(tree.directory());
  calls.hold("sys/devices/system/cpu/online");
  calls.fail("read", "proc/meminfo", EIO);
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  CHECK(mentions(run.reading.stalled, "/sys/devices/system/cpu/online"));
  CHECK(run.reading.find("machine", "cpus-online") == nullptr);
  CHECK(run.reading.find("machine", "memory-total") == nullptr);
  CHECK(run.reading.word("machine", "cpus-possible") == "0-127");
  CHECK(mentions(run.reading.refused, "/proc/meminfo: EIO"));
}
