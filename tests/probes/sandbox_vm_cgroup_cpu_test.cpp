#include <algorithm>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "sandbox-vm-cgroup-cpu";
constexpr const char* k_vm1 = "cgroup /lane.slice/vm-1.scope";

std::string fixture(std::string_view tree) { return std::string(COZY_FIXTURES) + "/cgroups/" + std::string(tree); }

using Number = std::optional<std::uint64_t>;

/// A QEMU in a cgroup of version 2, and the machine around it.
void write_qemu(const TemporaryTree& tree, std::string_view cgroup) {
  tree.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("proc/811/comm", "qemu-system-x86\n");
  tree.write("proc/811/stat", stat_line("811", "qemu-system-x86"));
  tree.write("proc/811/cmdline", std::string("qemu-system-x86_64\0-name\0guest=srv1\0", 36));
  tree.write("proc/811/cgroup", cgroup);
}

bool opened_below(const FakeCalls& calls, std::string_view folder) {
  const auto opened = calls.opened();
  return std::any_of(opened.begin(), opened.end(), [&](const std::string& path) { return path.starts_with(folder); });
}

}  // namespace

TEST_CASE("version 2: a node's cgroup and all above it, each value under its name", "[cgroup]") {
  const Reading reading = run_on(k_probe, fixture("v2")).reading;
  CHECK(reading.partial.empty());
  CHECK(reading.word("process 811", "node") == "srv1");
  CHECK(reading.word("process 811", "cgroup") == "/lane.slice/vm-1.scope");
  CHECK(reading.word("process 811", "cgroup_state") == "found");
  CHECK(reading.number("process 811", "utime") == Number(210));
  CHECK(reading.number(k_vm1, "version") == Number(2));
  CHECK(reading.word(k_vm1, "directory") == "/sys/fs/cgroup/lane.slice/vm-1.scope");
  CHECK(reading.number(k_vm1, "usage_usec") == Number(2520000));
  CHECK(reading.number(k_vm1, "nr_throttled") == Number(7));
  CHECK(reading.number(k_vm1, "throttled_usec") == Number(1500000));
  CHECK(reading.number(k_vm1, "local.throttled_usec") == Number(2000000));
  CHECK(reading.word(k_vm1, "cpu.max") == "200000 100000");
  CHECK(reading.number(k_vm1, "cpu.max.burst") == Number(100000));
  CHECK(reading.number(k_vm1, "cpu.weight") == Number(39));
  CHECK(reading.word(k_vm1, "cpuset.cpus.effective") == "0-1");
  CHECK(reading.number(k_vm1, "pressure.some.total") == Number(777000));
  CHECK(reading.word("cgroup /lane.slice", "cpu.max") == "150000 100000");
  CHECK(reading.number("cgroup /lane.slice", "nr_throttled") == Number(60));
  CHECK(reading.number("cgroup /", "usage_usec") == Number(90000000));
  CHECK(reading.find("cgroup /", "nr_periods") == nullptr);
  CHECK(reading.find("cgroup /", "cpu.max") == nullptr);
  CHECK(reading.notes.size() == 1);  // of the sandbox, which the tree has not
  const Subject* subject = reading.subject(k_vm1);
  REQUIRE(subject != nullptr);
  CHECK(subject->identity.starts_with("inode "));
  REQUIRE(subject->begin);
  CHECK(subject->begin->boottime_ns <= subject->end->boottime_ns);
  // Usage and what the process used were read together.
  REQUIRE(reading.subject("process 811") != nullptr);
  CHECK(reading.subject("process 811")->begin->boottime_ns == subject->begin->boottime_ns);
}

TEST_CASE("version 2: a name with blanks and colons, a cgroup without a limit", "[cgroup]") {
  const Reading reading = run_on(k_probe, fixture("v2")).reading;
  const char* scope = "cgroup /lane.slice/vm 2:a.scope";
  CHECK(reading.word("process 812", "cgroup") == "/lane.slice/vm 2:a.scope");
  CHECK(reading.word(scope, "cpu.max") == "max 100000");
  CHECK(reading.number(scope, "nr_periods") == Number(0));
  CHECK(reading.find(scope, "cpu.max.burst") == nullptr);
  CHECK(reading.find(scope, "local.throttled_usec") == nullptr);
}

TEST_CASE("version 1: nanoseconds stay nanoseconds, a cgroup of two is written once", "[cgroup]") {
  const ProbeRun run = run_on(k_probe, fixture("v1"));
  const Reading& reading = run.reading;
  CHECK(reading.partial.empty());
  CHECK(reading.number("cgroup /lane", "version") == Number(1));
  CHECK(reading.number("cgroup /lane", "throttled_time") == Number(1306147419));
  CHECK(reading.find("cgroup /lane", "throttled_usec") == nullptr);
  CHECK(reading.number("cgroup /lane", "cpu.cfs_quota_us") == Number(50000));
  CHECK(reading.word("cgroup /", "cpu.cfs_quota_us") == "-1");
  CHECK(reading.number("cgroup /lane", "cpu.shares") == Number(1024));
  CHECK(reading.number("cpuacct /lane", "cpuacct.usage") == Number(1570000000));
  CHECK(reading.find("cgroup /lane", "usage_usec") == nullptr);
  const auto lines = split_lines(run.text);
  CHECK(std::count(lines.begin(), lines.end(), "cgroup v1 /lane") == 1);
}

TEST_CASE("hybrid: the hierarchies of version 1 that carry cpu and cpuacct", "[cgroup]") {
  FakeCalls calls(fixture("hybrid"));
  const Reading reading = run_on(k_probe, fixture("hybrid"), calls).reading;
  CHECK(reading.partial.empty());
  CHECK(reading.number("cgroup /lane/vm1", "version") == Number(1));
  CHECK(reading.number("cgroup /lane/vm1", "nr_throttled") == Number(40));
  CHECK(reading.find("cgroup /lane", "nr_periods") != nullptr);
  CHECK(reading.find("cgroup /", "nr_periods") != nullptr);
  CHECK(reading.word("process 811", "cpuacct") == "/");
  CHECK(reading.number("cpuacct /", "cpuacct.usage") == Number(20270693978264U));
  CHECK_FALSE(opened_below(calls, "sys/fs/cgroup/unified"));
}

TEST_CASE("G08: nothing is opened for a path outside of the namespace", "[cgroup]") {
  for (const char* variant : {"cgroup-a.txt", "cgroup-b.txt", "cgroup-c.txt"}) {
    CAPTURE(variant);
    const TemporaryTree tree;
    write_qemu(tree, case_text("G08", variant));
    for (const char* file : {"root/sys/fs/cgroup/cpu.stat", "root/sys/kubepods/x/cpu.stat"}) {
      tree.write(std::string(file).substr(5), case_text("G08", file));
    }
    FakeCalls calls(tree.directory());
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CHECK(run.reading.word("process 811", "cgroup_state") == "outside of this cgroup namespace");
    CHECK(mentions({run.reading.unavailable}, "outside of this cgroup namespace"));
    CHECK_FALSE(opened_below(calls, "sys/"));
    CHECK(run.text.find("666000000") == std::string::npos);
    for (const Row& row : run.reading.rows) CHECK(row.kind != Kind::cumulative);
  }
}

TEST_CASE("a node whose cgroup cannot be read beside one whose cgroup can: partial", "[cgroup]") {
  const TemporaryTree tree;
  write_qemu(tree, "0::/a\n");
  tree.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\n");
  tree.write("proc/812/comm", "qemu-system-x86\n");
  tree.write("proc/812/stat", stat_line("812", "qemu-system-x86"));
  tree.write("proc/812/cmdline", "q");
  tree.write("proc/812/cgroup", "0::/gone.scope (deleted)\n");
  const Reading reading = run_on(k_probe, tree.directory()).reading;
  CHECK(reading.number("cgroup /a", "usage_usec") == Number(5));
  CHECK(mentions(reading.partial, "the cgroup of process 812 is removed"));
  CHECK(reading.word("process 812", "cgroup") == "/gone.scope");
  CHECK(reading.word("process 812", "node").empty());
}

TEST_CASE("a cgroup, a process or a file that goes away is no error", "[cgroup]") {
  const TemporaryTree tree;
  write_qemu(tree, "0::/a\n");
  tree.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\n");
  tree.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  SECTION("a cgroup that is there and has none of the files has not gone away") {
    tree.write("sys/fs/cgroup/cgroup.procs", "");
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK_FALSE(mentions(reading.notes, "cgroup v2 / went away"));
  }
  SECTION("the cgroup, between listing and read") {
    for (const char* code : {"ENOENT", "ENODEV"}) {
      CAPTURE(code);
      FakeCalls calls(tree.directory());
      calls.fail("open", "sys/fs/cgroup/a/cpu.stat", errno_of_name("ENOENT"));
      calls.fail("read", "sys/fs/cgroup/a/cpu.max", errno_of_name(code));
      calls.fail("open", "sys/fs/cgroup/a", errno_of_name("ENOENT"));
      const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
      CHECK(mentions(reading.notes, "cgroup v2 /a went away"));
      CHECK(reading.refused.empty());
      CHECK_FALSE(reading.unavailable.empty());
    }
  }
  SECTION("one file of it") {
    FakeCalls calls(tree.directory());
    calls.fail("read", "sys/fs/cgroup/a/cpu.max", errno_of_name("ENODEV"));
    const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
    CHECK(reading.partial.empty());
    CHECK(reading.number("cgroup /a", "usage_usec") == Number(5));
    CHECK(reading.find("cgroup /a", "cpu.max") == nullptr);
  }
  SECTION("the process") {
    FakeCalls calls(tree.directory());
    calls.fail("read", "proc/811/cgroup", errno_of_name("ESRCH"));
    const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
    CHECK(mentions(reading.notes, "process 811 went away"));
    CHECK(reading.partial.empty());
    CHECK(reading.finding == "NO-QEMU-PROCESS: 1 processes were read and none is a QEMU that is alive: 1 ended");
  }
  SECTION("the process ended and nobody has waited for it") {
    std::string zombie = stat_line("811", "qemu-system-x86");
    zombie.replace(zombie.find(") ") + 2, 1, "Z");
    tree.write("proc/811/stat", zombie);
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(reading.finding.ends_with("1 ended"));
    CHECK(reading.find("process 811", "cgroup") == nullptr);
  }
  SECTION("a file that answers with an error is named, and costs itself alone") {
    FakeCalls calls(tree.directory());
    calls.fail("read", "sys/fs/cgroup/a/cpu.max", errno_of_name("EIO"));
    const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
    CHECK(mentions(reading.partial, "cgroup /a cpu.max: EIO"));
    CHECK(reading.number("cgroup /a", "usage_usec") == Number(5));
  }
  SECTION("pressure that is off is a state, said once") {
    tree.write("sys/fs/cgroup/a/cpu.pressure", "x\n");
    tree.write("sys/fs/cgroup/cpu.pressure", "x\n");
    FakeCalls calls(tree.directory());
    for (const char* path : {"sys/fs/cgroup/a/cpu.pressure", "sys/fs/cgroup/cpu.pressure"})
      calls.fail("read", path, errno_of_name("EOPNOTSUPP"));
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CHECK(run.reading.partial.empty());
    CHECK(mentions(run.reading.notes, "no pressure accounting"));
    CHECK(run.text.find("not read") == std::string::npos);
  }
}

TEST_CASE("what cannot be found is said, and where nothing is, nothing is made up", "[cgroup]") {
  const TemporaryTree tree;
  SECTION("no mountinfo") {
    write_qemu(tree, "0::/a\n");
    FakeCalls calls(tree.directory());
    calls.fail("open", "proc/self/mountinfo", errno_of_name("EACCES"));
    const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
    CHECK(mentions(reading.refused, "/proc/self/mountinfo: EACCES"));
    CHECK(mentions({reading.unavailable}, "not mounted here"));
  }
  SECTION("no controller") {
    write_qemu(tree, "5:cpuacct:/acct\n7:name=cpu:/x\n");
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(mentions({reading.unavailable}, "in no hierarchy with the controller"));
    CHECK(reading.find("process 811", "cgroup") == nullptr);
  }
  SECTION("no QEMU") {
    tree.write("proc/5/comm", "sh\n");
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(reading.finding.starts_with("NO-QEMU-PROCESS: "));
  }
  SECTION("no process") {
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(reading.unavailable.starts_with("NO-PROC-READ: "));
  }
  SECTION("the top of what is mounted has a limit: there is more above") {
    write_qemu(tree, "0::/\n");
    tree.write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
    tree.write("sys/fs/cgroup/cpu.max", "max 100000\n");
    CHECK(mentions(run_on(k_probe, tree.directory()).reading.notes, "cannot be seen from here"));
  }
}

TEST_CASE("hostile cgroups", "[cgroup][hostile]") {
  const TemporaryTree tree;
  SECTION("a name with control bytes stays one line, and comes back whole") {
    const std::string name = "a\x1b[31m\xff::error::x";
    write_qemu(tree, "0::/" + name + "\n");
    tree.write("sys/fs/cgroup/" + name + "/cpu.stat", "usage_usec 5\nx\x1b[2J 7\n");
    const ProbeRun run = run_on(k_probe, tree.directory());
    CHECK(run.reading.number("cgroup /" + name, "usage_usec") == Number(5));
    CHECK(run.text.find('\x1b') == std::string::npos);
  }
  SECTION("a file that is too large is not taken") {
    write_qemu(tree, "0::/a\n");
    tree.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\n" + std::string(1UL << 20U, 'x') + "\n");
    tree.write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    const ProbeRun run = run_on(k_probe, tree.directory());
    CHECK(run.text.size() < 100'000);
    CHECK(mentions(run.reading.partial, "cgroup /a cpu.stat"));
    CHECK(run.reading.find("cgroup /a", "usage_usec") == nullptr);
  }
  SECTION("a knob with other words is not taken") {
    write_qemu(tree, "0::/a\n");
    tree.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 18446744073709551616\nuser_usec 3\n");
    tree.write("sys/fs/cgroup/a/cpu.max", "max\n");
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(mentions(reading.partial, "cgroup /a cpu.max holds \"max\""));
    CHECK(mentions(reading.partial, "usage_usec is no number of 64 bits"));
    CHECK(reading.find("cgroup /a", "cpu.max") == nullptr);
    CHECK(reading.find("cgroup /a", "usage_usec") == nullptr);
    CHECK(reading.number("cgroup /a", "user_usec") == Number(3));
  }
  SECTION("a file that does not answer costs itself") {
    write_qemu(tree, "0::/a\n");
    tree.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\n");
    tree.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    FakeCalls calls(tree.directory());
    calls.hold("sys/fs/cgroup/a/cpu.max");
    const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
    CHECK(mentions(run.reading.stalled, "cgroup /a cpu.max"));
    CHECK(run.reading.number("cgroup /a", "usage_usec") == Number(5));
    CHECK(run.abandoned == 1);
  }
}

TEST_CASE("what a text says under no heading, or twice, is nobody's", "[cgroup]") {
  const auto parse = [](const std::string& text) { return find_probe(k_probe)->parse(text); };
  CHECK(parse("cpu.stat usage_usec 5\n").rows.empty());
  CHECK(parse("cgroup v3 /a\ncpu.stat usage_usec 5\n").rows.empty());
  CHECK(parse("cgroup v2 a\ncpu.stat usage_usec 5\n").rows.empty());
  const Reading twice = parse("cgroup v2 /a\ncpu.stat usage_usec 5\ncgroup v2 /a\ncpu.stat usage_usec 6\n");
  CHECK(twice.number("cgroup /a", "usage_usec") == Number(5));
  CHECK(mentions(twice.partial, "stands there twice"));
  CHECK(parse("cgroup v2 /a\nmemory.stat anon 5\n").find("cgroup /a", "anon") == nullptr);
  CHECK(parse("[process 5 totals 6 (q) S 1 2]\n").rows.empty());
}
