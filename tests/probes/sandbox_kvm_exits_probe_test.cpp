#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "sandbox-kvm-exits";
const std::string k_kvm = "sys/kernel/debug/kvm/";

std::size_t opens_of_mode_0644(const FakeCalls& calls) {
  std::size_t count = 0;
  for (const char* name : {"exits", "halt_exits", "max_mmu_rmap_size", "remote_tlb_flush"}) {
    count += calls.opens_of(k_kvm + name) + calls.opens_of(k_kvm + "2231-14/" + name);
  }
  return count;
}

std::size_t values(const Reading& reading) {
  std::size_t count = 0;
  for (const Row& row : reading.rows) count += row.scope != "kernel" ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("K01: under lockdown only gauges are read, and no counter is tried", "[kvm]") {
  const std::string root = case_path("K01", "root");
  FakeCalls calls(root);
  calls.set_modes(case_text("K01", "modes.txt"));
  calls.fail_all(case_text("K01", "faults.txt"));
  const ProbeRun run = run_on(k_probe, root, calls);

  CHECK(opens_of_mode_0644(calls) == 0);
  CHECK(run.reading.counters_refused);
  CHECK(run.reading.word("kernel", "lockdown") == "integrity");
  CHECK(values(run.reading) == 12);
  CHECK(run.reading.number("vm 2231-14", "pages_4k") == 17000U);
  CHECK(run.reading.find("vm 2231-14", "pages_4k")->kind == Kind::instant);
  CHECK(run.reading.find("vm 2231-14", "exits") == nullptr);
  CHECK(run.reading.find("global", "exits") == nullptr);
  CHECK(run.text.find("8 counter files were not opened") != std::string::npos);
  CHECK(run.reading.finding.empty());
  CHECK_FALSE(mentions(run.reading.partial, "EPERM"));
}

TEST_CASE("K01: where the mode cannot be known, one counter is tried", "[kvm]") {
  const std::string root = case_path("K01", "root");
  FakeCalls calls(root);
  calls.set_modes(case_text("K01", "modes.txt"));
  calls.fail_all(case_text("K01", "faults.txt"));
  calls.fail("open", "sys/kernel/security/lockdown", ENOENT);
  const ProbeRun run = run_on(k_probe, root, calls);
  CHECK(opens_of_mode_0644(calls) == 1);
  CHECK(run.reading.counters_refused);
  CHECK(run.text.find("8 counter files were not opened") != std::string::npos);
  CHECK(run.reading.number("global", "pages_4k") == 52000U);
}

TEST_CASE("without lockdown everything is read, once", "[kvm]") {
  const std::string root = case_path("K01", "root");
  FakeCalls calls(root);
  calls.set_modes(case_text("K01", "modes.txt"));
  calls.fail("open", "sys/kernel/security/lockdown", ENOENT);
  const ProbeRun run = run_on(k_probe, root, calls);
  CHECK(opens_of_mode_0644(calls) == 8);
  CHECK_FALSE(run.reading.counters_refused);
  CHECK(run.reading.number("vm 2231-14", "exits") == 30611204U);
  CHECK(run.reading.number("global", "exits") == 91822017U);
  CHECK(run.reading.partial.empty());
  CHECK(run.text.find(
            "[counters read: 10 kernel-wide and 10 per-VM, across 1 per-VM director(ies); 0 file(s) skipped]") !=
        std::string::npos);
}

TEST_CASE("each lockdown mode is told apart", "[kvm]") {
  const std::tuple<const char*, const char*, bool> table[] = {
      {"[none] integrity confidentiality\n", "none", false},
      {"none integrity [confidentiality]\n", "confidentiality", true},
      {"\n", "unknown (\"\")", false},
      {"x\x1b[m", "unknown (\"x\\x1b[m\")", false},
  };
  for (const auto& [text, mode, refused] : table) {
    const TemporaryTree tree;
    tree.write("sys/kernel/security/lockdown", text);
    tree.write(k_kvm + "exits", "5\n");
    FakeCalls calls(tree.directory());
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CAPTURE(text);
    CHECK(run.reading.word("kernel", "lockdown") == mode);
    CHECK(run.reading.counters_refused == refused);
    CHECK(calls.opens_of(k_kvm + "exits") == (refused ? 0U : 1U));
  }
}

TEST_CASE("K03: a counter that cannot be read is absent, with the errno", "[kvm]") {
  const std::string root = case_path("K03", "before");
  CHECK(run_on(k_probe, root).reading.number("vm 2231-14", "exits") == 500U);

  FakeCalls calls(root);
  calls.fail("read", k_kvm + "2231-14/exits", EIO);
  const ProbeRun run = run_on(k_probe, root, calls);
  CHECK(run.reading.find("vm 2231-14", "exits") == nullptr);
  CHECK(run.reading.number("vm 2231-14", "halt_exits") == 90U);
  CHECK(mentions(run.reading.refused, "vm 2231-14 exits: could not be read: EIO"));
  CHECK_FALSE(run.reading.partial.empty());
}

TEST_CASE("K04 K05: every value is a row with its sign", "[kvm]") {
  const Reading before = run_on(k_probe, case_path("K04", "before")).reading;
  CHECK(before.word("vm 2231-14 vcpu0", "tsc-offset") == "-1234567890123");
  CHECK(before.number("vm 2231-14 vcpu1", "tsc-offset") == 0U);
  const Reading after = run_on(k_probe, case_path("K04", "after")).reading;
  CHECK(after.word("vm 2231-14 vcpu1", "tsc-offset") == "-9223372036854775808");

  const Reading gauges = run_on(k_probe, case_path("K05", "after")).reading;
  CHECK(values(gauges) == 10);
  CHECK(gauges.number("vm 2231-14", "exits") == 3000U);
  CHECK(gauges.number("vm 2231-14", "pages_4k") == 90U);
  CHECK(gauges.number("vm 2231-14", "max_mmu_rmap_size") == 14U);
  CHECK(gauges.number("vm 2231-14", "pages_1g") == 0U);
}

TEST_CASE("K06: mmu_rmaps_stat is never opened, wherever it stands", "[kvm]") {
  const std::string root = case_path("K06", "root");
  FakeCalls calls(root);
  const ProbeRun run = run_on(k_probe, root, calls);
  CHECK(calls.opens_of(k_kvm + "2231-14/mmu_rmaps_stat") == 0);
  CHECK(mentions(run.reading.refused, "mmu_rmaps_stat: not opened"));
  CHECK(run.reading.number("vm 2231-14", "exits") == 4000U);
  CHECK(run.reading.number("vm 2231-14", "halt_exits") == 800U);
  CHECK(run.text.find("7041") == std::string::npos);
  CHECK(run.text.find("Rmap_Count") == std::string::npos);
  CHECK(run.reading.partial.empty());

  const TemporaryTree tree;
  for (const char* place : {"", "1-2/", "1-2/vcpu0/"}) tree.write(k_kvm + place + "mmu_rmaps_stat", "1\n");
  tree.write(k_kvm + "1-2/exits", "1\n");
  FakeCalls everywhere(tree.directory());
  everywhere.set_modes("0444 " + k_kvm + "1-2/mmu_rmaps_stat\n");
  run_on(k_probe, tree.directory(), everywhere);
  for (const std::string& path : everywhere.opened()) CHECK(path.find("mmu_rmaps_stat") == std::string::npos);
}

TEST_CASE("K07: a VM that is listed and gone has left, and the capture is whole", "[kvm]") {
  const std::string root = case_path("K07", "root");
  FakeCalls calls(root);
  calls.replace_listing("sys/kernel/debug/kvm", case_text("K07", "listing.txt"));
  calls.fail_all(case_text("K07", "faults.txt"));
  const ProbeRun run = run_on(k_probe, root, calls);
  CHECK(run.reading.number("vm 2231-14", "exits") == 4000U);
  CHECK(run.reading.number("global", "exits") == 9000U);
  CHECK(mentions(run.reading.notes, "vm 2302-14 left during the walk"));
  CHECK(run.reading.partial.empty());
  CHECK(run.reading.refused.empty());
}

TEST_CASE("a VM that leaves while it is read leaves what was read of it, and the capture says whose", "[kvm]") {
  const TemporaryTree tree;
  for (const char* file : {"1-2/exits", "1-2/halt_exits", "1-2/vcpu0/pid", "3-4/exits"})
    tree.write(k_kvm + file, "7\n");
  for (const char* gone : {"1-2/halt_exits", "1-2/vcpu0/pid", "1-2/vcpu0"}) {
    FakeCalls calls(tree.directory());
    calls.fail("open", k_kvm + gone, ENOENT);
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CAPTURE(gone);
    REQUIRE(run.reading.partial.size() == 1);
    CHECK(run.reading.partial[0].starts_with("vm 1-2"));
    CHECK(mentions(run.reading.partial, "left while it was read"));
    CHECK(run.reading.number("vm 3-4", "exits") == 7U);
    CHECK(run.reading.refused.empty());
  }
}

TEST_CASE("P12: one directory, one scope", "[kvm]") {
  const Reading reading = run_on(k_probe, case_path("P12", "root")).reading;
  CHECK(reading.number("vm 234-12", "exits") == 222U);
  CHECK(reading.number("vm 1234-15", "exits") == 111U);
  CHECK(reading.number("vm 2345-9", "exits") == 333U);
  CHECK(reading.number("vm 77-234", "exits") == 444U);
  CHECK(reading.number("global", "exits") == 1110U);
}

TEST_CASE("a VM without vCPU statistics is tied by weaker evidence, or anonymous", "[kvm]") {
  const TemporaryTree tree;
  tree.write("proc/stat", "cpu  1 2 3 4\nbtime 1755760000\n");
  tree.write("proc/812/comm", "qemu-system-x86\n");
  tree.write("proc/812/stat", stat_line("812", "qemu-system-x86", "5", "500000"));  // 5000 s after boot
  tree.write("proc/812/cmdline", std::string("qemu\0-name\0guest=srv1\0", 23));
  std::filesystem::create_directories(tree.path("proc/812/fd"));
  std::filesystem::create_symlink("anon_inode:kvm-vm", tree.path("proc/812/fd/14"));
  tree.write(k_kvm + "2231-14/exits", "5\n");
  tree.write(k_kvm + "2302-9/exits", "6\n");
  const ProbeRun one = run_on(k_probe, tree.directory());
  CHECK(one.reading.word("vm 2231-14", "node") == "srv1");
  CHECK(one.text.find("[vm 2231-14 is srv1; evidence: number of its kvm-vm descriptor]") != std::string::npos);
  CHECK(one.text.find("[vm 2302-9 is anonymous; ") != std::string::npos);
  CHECK(one.reading.find("vm 2302-9", "node") == nullptr);

  tree.write(k_kvm + "2400-14/exits", "7\n");  // another one with that number, born as the process was
  CHECK(run_on(k_probe, tree.directory()).reading.find("vm 2231-14", "node") == nullptr);
  const timespec born[2] = {{1755765000, 40'000'000}, {1755765000, 40'000'000}};
  REQUIRE(::utimensat(AT_FDCWD, tree.path(k_kvm + "2400-14").c_str(), born, 0) == 0);
  const ProbeRun born_then = run_on(k_probe, tree.directory());
  CHECK(born_then.reading.word("vm 2400-14", "node") == "srv1");
  CHECK(born_then.text.find("evidence: birth just after the process's start, number of its") != std::string::npos);

  std::filesystem::create_directories(tree.path("proc/self/ns"));
  std::filesystem::create_symlink("pid:[4026531836]", tree.path("proc/self/ns/pid"));
  CHECK(run_on(k_probe, tree.directory()).reading.find("vm 2400-14", "node") == nullptr);  // 812 is neither number
}

TEST_CASE("A12: a FIFO in place of a counter is named, and all others are read", "[kvm]") {
  const TemporaryTree tree;
  REQUIRE(std::system(("sh " + case_path("A12", "make.sh") + " " + tree.directory()).c_str()) == 0);
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.find("vm 2231-14", "halt_exits") == nullptr);
  CHECK(mentions(run.reading.refused, "vm 2231-14 halt_exits: could not be read: is a FIFO"));
  CHECK_FALSE(run.reading.partial.empty());
  CHECK(run.reading.number("vm 2231-14", "exits") == 4000U);
  CHECK(run.reading.number("vm 2231-14", "nested_run") == 70U);
  CHECK(run.reading.number("vm 2302-14", "exits") == 5000U);
  CHECK(run.reading.number("global", "exits") == 9000U);
  CHECK(run.abandoned == 0);

  const ProbeRun runner = run_on("runner-kernel-cpu-time", tree.directory());
  CHECK(runner.reading.partial.empty());
  CHECK(runner.reading.number("cpu0", "steal") == 8U);
}

TEST_CASE("a stuck counter costs one file and is named by its path", "[kvm]") {
  const TemporaryTree tree;
  for (const char* file : {"exits", "1-2/exits", "1-2/halt_exits", "3-4/exits"}) tree.write(k_kvm + file, "7\n");
  for (const char* stuck : {"exits", "1-2/halt_exits"}) {  // the first counter of all, and one amid others
    FakeCalls calls(tree.directory());
    calls.hold(k_kvm + stuck);
    const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
    CAPTURE(stuck);
    CHECK(run.abandoned == 1);
    CHECK(calls.opens_of(k_kvm + stuck) == 0);
    REQUIRE(run.reading.stalled.size() == 1);
    CHECK(run.reading.stalled[0].starts_with("kvm/" + std::string(stuck) + ": no answer within"));
    CHECK(values(run.reading) == 3);
    CHECK_FALSE(run.reading.partial.empty());
  }
}

TEST_CASE("only an integer is a value", "[kvm]") {
  const TemporaryTree tree;
  const std::pair<const char*, std::optional<std::string>> table[] = {{"no_newline", "5"},
                                                                      {"with_newline", "5\n"},
                                                                      {"negative", "-5\n"},
                                                                      {"empty", ""},
                                                                      {"newline", "\n"},
                                                                      {"text", "Y\n"},
                                                                      {"two", "5 6\n"},
                                                                      {"too_big", "18446744073709551616\n"},
                                                                      {"hex", "0x5\n"},
                                                                      {"lines", "5\n6\n"},
                                                                      {"nul", std::string("5\0\n", 3)},
                                                                      {"plus", "+5\n"},
                                                                      {"huge", std::string(10000, '9')},
                                                                      {"biggest", "18446744073709551615\n"}};
  for (const auto& [name, text] : table) tree.write(k_kvm + "1-2/" + name, *text);
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.word("vm 1-2", "no_newline") == "5");
  CHECK(run.reading.word("vm 1-2", "with_newline") == "5");
  CHECK(run.reading.word("vm 1-2", "negative") == "-5");
  CHECK(run.reading.word("vm 1-2", "biggest") == "18446744073709551615");
  CHECK(values(run.reading) == 4);
  for (const char* name : {"empty", "newline", "text", "two", "too_big", "hex", "lines", "nul", "plus", "huge"}) {
    CAPTURE(name);
    CHECK(mentions(run.reading.refused, std::string("vm 1-2 ") + name + ": not a single integer"));
  }
  CHECK(run.reading.partial.empty());
}

TEST_CASE("what is no VM directory makes no VM", "[kvm]") {
  const TemporaryTree tree;
  tree.write(k_kvm + "2231-14", "a file\n");
  tree.write(k_kvm + "exits", "5\n");
  tree.write(k_kvm + "1-2/vcpu0", "a file as well\n");
  tree.write(k_kvm + "1-2/exits", "6\n");
  tree.write(k_kvm + "1-2/other/exits", "7\n");
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.number("global", "exits") == 5U);
  CHECK(run.reading.number("vm 1-2", "exits") == 6U);
  CHECK(values(run.reading) == 2);
  CHECK(mentions(run.reading.refused, "global 2231-14: not a single integer"));
}

TEST_CASE("no KVM, no counter, no debugfs: each its own word", "[kvm]") {
  const TemporaryTree tree;
  CHECK(run_on(k_probe, tree.directory()).reading.unavailable.starts_with("NO-DEBUGFS"));
  std::filesystem::create_directories(tree.path("sys/kernel/debug"));
  CHECK(run_on(k_probe, tree.directory()).reading.finding.starts_with("NO-KVM-DIR"));
  std::filesystem::create_directories(tree.path(k_kvm));
  const Reading empty = run_on(k_probe, tree.directory()).reading;
  CHECK(empty.finding.starts_with("NO-COUNTER-FILES"));
  tree.write(k_kvm + "text", "x\n");
  CHECK(run_on(k_probe, tree.directory()).reading.finding.starts_with("NO-COUNTER-FILES"));
}

TEST_CASE("counters that could not be read are no finding", "[kvm]") {
  const TemporaryTree tree;
  tree.write(k_kvm + "exits", "5\n");
  FakeCalls unread(tree.directory());
  unread.fail("read", k_kvm + "exits", EIO);
  const Reading failed = run_on(k_probe, tree.directory(), unread).reading;
  CHECK(failed.finding.empty());
  CHECK_FALSE(failed.unavailable.empty());

  FakeCalls unlisted(tree.directory());
  unlisted.fail("open", "sys/kernel/debug/kvm", EACCES);
  const Reading refused = run_on(k_probe, tree.directory(), unlisted).reading;
  CHECK(refused.finding.empty());
  CHECK(mentions(refused.refused, "kvm: EACCES"));
  CHECK_FALSE(refused.unavailable.empty());
}

TEST_CASE("names of files and directories cannot break a line", "[kvm]") {
  const TemporaryTree tree;
  tree.write(k_kvm + "a\nb", "5\n");
  tree.write(k_kvm + "[global] fake 1", "6\n");
  tree.write(k_kvm + "1\n2/exits", "7\n");
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.text.find("a\\x0ab 5") != std::string::npos);
  CHECK(run.reading.number("global", "a\\x0ab") == 5U);
  CHECK(run.reading.find("global", "fake") == nullptr);
  CHECK(run.reading.number("vm 1\\x0a2", "exits") == 7U);
}
