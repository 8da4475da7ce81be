#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "sandbox-qemu-thread-cpu";

const NodeEvidence& node(const Reading& reading, std::string_view name) {
  for (const NodeEvidence& one : reading.nodes) {
    if (one.node == name) return one;
  }
  static const NodeEvidence none;
  return none;
}

/// A QEMU with a main thread and one vCPU thread.
void write_qemu(const TemporaryTree& tree, const std::string& pid, const std::string& vcpu_tid,
                const std::string& guest) {
  const std::string process = "proc/" + pid + "/";
  tree.write(process + "comm", "qemu-system-x86\n");
  tree.write(process + "stat", stat_line(pid, "qemu-system-x86", "500", "5001"));
  tree.write(process + "cmdline", "qemu-system-x86_64" + std::string(1, '\0') + "-name" + std::string(1, '\0') +
                                      "guest=" + guest + std::string(1, '\0'));
  for (const std::string& tid : {pid, vcpu_tid}) {
    const std::string task = process + "task/" + tid + "/";
    tree.write(task + "stat", stat_line(tid, tid == pid ? "qemu-system-x86" : "CPU 0/KVM", "300", "5001"));
    tree.write(task + "schedstat", "2000000000 100000000 4000\n");
    tree.write(task + "status", "Name:\tq\\n\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n");
  }
}

}  // namespace

TEST_CASE("P09: which process is which node, by evidence", "[qemu]") {
  const Reading reading = run_on(k_probe, case_path("P09", "root")).reading;
  CHECK(node(reading, "srv1").pid == 902U);
  CHECK(node(reading, "srv1").evidence == std::vector<std::string>{"pid file", "guest name"});
  CHECK(node(reading, "srv2").pid == 901U);
  CHECK(node(reading, "srv2").evidence == std::vector<std::string>{"guest name"});
  CHECK_FALSE(node(reading, "srv3").pid);
  CHECK(mentions(node(reading, "srv3").notes, "kernel thread"));
  CHECK_FALSE(node(reading, "srv4").pid);
  CHECK(mentions(node(reading, "srv4").notes, "not a QEMU"));
  CHECK_FALSE(node(reading, "srv5").pid);
  CHECK(mentions(node(reading, "srv5").notes, "guest name says srv2"));
  CHECK(node(reading, "srv10").pid == 910U);
  CHECK(reading.nodes.back().node == "srv10");
  CHECK(reading.find("thread 900/900", "utime") == nullptr);
  CHECK(reading.number("thread 902/902", "utime") == 100U);
  CHECK(reading.partial.empty());
}

TEST_CASE("P09: of a command line only the guest name is kept", "[qemu]") {
  const ProbeRun run = run_on(k_probe, case_path("P09", "root"));
  for (const char* word : {"-smp", "-pidfile", "sbin", "listener"}) CHECK(run.text.find(word) == std::string::npos);
}

TEST_CASE("P10: a pid file whose process is gone is stale, and the others are sampled", "[qemu]") {
  const Reading reading = run_on(k_probe, case_path("P10", "root")).reading;
  CHECK_FALSE(node(reading, "srv1").pid);
  CHECK(mentions(node(reading, "srv1").notes, "4001"));
  CHECK(mentions(node(reading, "srv1").notes, "stale"));
  CHECK(node(reading, "srv2").pid == 812U);
  CHECK(node(reading, "srv3").pid == 813U);
  CHECK(reading.find("thread 812/812", "utime") != nullptr);
  CHECK(reading.find("thread 813/813", "utime") != nullptr);
  CHECK(reading.partial.empty());
}

TEST_CASE("P01 P04 P06 P07: pid files through the probe", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "123", "124", "other");
  const std::string command_line = "qemu" + std::string(1, '\0');
  tree.write("proc/123/cmdline", command_line);
  const std::tuple<const char*, const char*, bool> table[] = {{"P01", "pidfile-b", true},  {"P03", "pidfile-a", true},
                                                              {"P07", "pidfile-c", true},  {"P04", "pidfile-b", false},
                                                              {"P06", "pidfile-b", false}, {"P07", "pidfile-b", false}};
  for (const auto& [id, file, good] : table) {
    CAPTURE(id, file);
    tree.write("sandbox/srv1/qemu.pid", case_text(id, file));
    FakeCalls calls(tree.directory());
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CHECK(node(run.reading, "srv1").pid == (good ? std::optional<std::uint64_t>(123) : std::nullopt));
    if (!good) CHECK(mentions(node(run.reading, "srv1").notes, "no usable pid file: "));
    CHECK(run.text.find('\r') == std::string::npos);
    for (const std::string& path : calls.opened()) CHECK(path.find("0123") == std::string::npos);
  }
}

TEST_CASE("a pid file that is no file costs nothing but itself", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "902", "903", "srv1");
  std::filesystem::create_directories(tree.path("sandbox/srv1/qemu.pid"));
  std::filesystem::create_directories(tree.path("sandbox/srv2"));
  REQUIRE(::mkfifo(tree.path("sandbox/srv2/qemu.pid").c_str(), 0600) == 0);
  std::filesystem::create_directories(tree.path("sandbox/srv3"));
  tree.write("sandbox/srv4", "a file");
  tree.write("sandbox/srvX/qemu.pid", "902\n");
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(node(run.reading, "srv1").pid == 902U);
  CHECK(mentions(node(run.reading, "srv1").notes, "a directory"));
  CHECK(mentions(node(run.reading, "srv2").notes, "a FIFO"));
  CHECK(mentions(node(run.reading, "srv3").notes, "ENOENT"));
  CHECK(mentions(node(run.reading, "srv4").notes, "ENOTDIR"));
  CHECK(run.reading.nodes.size() == 4);
  CHECK(run.abandoned == 0);
  CHECK(run.reading.partial.empty());
}

TEST_CASE("a pid file that is older than its process is stale", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "902", "903", "");
  tree.write("proc/902/cmdline", "");
  tree.write("sandbox/srv1/qemu.pid", "902\n");
  const auto pid_with = [&](const std::string& btime, std::int64_t written) {
    tree.write("proc/stat", "cpu0 1\nbtime " + btime + "\n");
    const timespec times[] = {{written, 0}, {written, 0}};
    REQUIRE(::utimensat(AT_FDCWD, tree.path("sandbox/srv1/qemu.pid").c_str(), times, 0) == 0);
    return node(run_on(k_probe, tree.directory()).reading, "srv1").pid;
  };
  // 5001 ticks after boot is 50 s at the usual 100 per second.
  CHECK(pid_with("1755760000", 1755760051) == 902U);
  CHECK_FALSE(pid_with("1755760000", 1755760001));
  CHECK(pid_with("x", 1755760001) == 902U);  // when it started is not known then
  CHECK_FALSE(pid_with("9223372036854775807", 1755760001));
  CHECK(pid_with("-9223372036854775808", 1755760001) == 902U);
}

TEST_CASE("T06: threads that end under the reads are counted, and are no error", "[qemu]") {
  const TemporaryTree tree;
  const std::string leader = case_text("T06", "stat-811.txt");
  write_qemu(tree, "811", "813", "srv1");
  tree.write("proc/811/stat", leader);
  tree.write("proc/811/task/811/stat", leader);
  FakeCalls calls(tree.directory());
  calls.replace_listing("proc/811/task", case_text("T06", "listing.txt"));
  calls.fail_all(case_text("T06", "faults.txt"));
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(run.reading.number("thread 811/811", "utime") == 300U);
  CHECK(mentions(run.reading.notes, "thread 811/812 ended"));
  CHECK(mentions(run.reading.notes, "thread 811/813 ended"));
  CHECK(run.reading.find("thread 811/813", "utime") == nullptr);
  CHECK(run.reading.partial.empty());
  CHECK(run.reading.refused.empty());
  CHECK(run.reading.finding.empty());
}

TEST_CASE("T03 T07: a record is written as one line, from one state", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "9", "31", "srv1");
  tree.write("proc/9/task/9/stat", case_text("T03", "stat.txt"));
  tree.write("proc/9/task/31/stat", case_text("T07", "stat-first.txt"));
  FakeCalls calls(tree.directory());
  calls.change_behind("proc/9/task/31/stat", 48, case_text("T07", "stat-then.txt"));
  const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
  CHECK(reading.word("thread 9/9", "comm") == "a\nb");
  CHECK(reading.number("thread 9/9", "utime") == 21U);
  CHECK(reading.word("thread 9/31", "state") == "S");
  CHECK(reading.number("thread 9/31", "utime") == 777U);
  CHECK(reading.number("thread 9/31", "guest_time") == 700U);
}

TEST_CASE("G02: every thread with its own schedstat and switches, and the totals of the process", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "811", "812", "srv1");
  tree.write("proc/811/task/811/schedstat", case_text("G02", "before-811.txt"));
  tree.write("proc/811/task/812/schedstat", case_text("G02", "before-812.txt"));
  const Reading reading = run_on(k_probe, tree.directory()).reading;
  CHECK(reading.number("thread 811/811", "run_delay_ns") == 100000000U);
  CHECK(reading.number("thread 811/812", "run_delay_ns") == 300000000U);
  CHECK(reading.number("thread 811/812", "voluntary_switches") == 12U);
  CHECK(reading.number("thread 811/812", "involuntary_switches") == 34U);
  CHECK(reading.number("process 811", "utime") == 500U);
  CHECK(reading.find("process 811", "run_delay_ns") == nullptr);
  REQUIRE(reading.subject("thread 811/812") != nullptr);
  CHECK(reading.subject("thread 811/812")->begin);

  for (const char* text : {"", "1 2\n", "1 2 x\n", "1 2 3 4\n", "1 2 3\n4\n", "-1 2 3\n"}) {
    CAPTURE(text);
    tree.write("proc/811/task/812/schedstat", text);
    const Reading wrong = run_on(k_probe, tree.directory()).reading;
    CHECK(wrong.find("thread 811/812", "run_delay_ns") == nullptr);
    CHECK(wrong.number("thread 811/812", "utime") == 300U);
    CHECK(mentions(wrong.notes, "schedstat absent for 1 of 2 threads"));
  }
}

TEST_CASE("what is no stat line is named, not written", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "811", "812", "srv1");
  for (const char* text : {"", "\n", "812 (x\n", "garbage\n[process 811 is srv9]\n", "812 (CPU 0/KVM) S 1 2 3\n"}) {
    CAPTURE(text);
    tree.write("proc/811/task/812/stat", text);
    const Reading reading = run_on(k_probe, tree.directory()).reading;
    CHECK(reading.find("thread 811/812", "utime") == nullptr);
    CHECK(reading.number("thread 811/811", "utime") == 300U);
    CHECK(mentions(reading.partial, "thread 811/812 stat: not a whole line"));
    CHECK(node(reading, "srv9").node.empty());
  }
}

TEST_CASE("a stuck thread costs one thread", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "811", "812", "srv1");
  write_qemu(tree, "821", "822", "srv2");
  FakeCalls calls(tree.directory());
  calls.hold("proc/811/task/812/stat");
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  CHECK(mentions(run.reading.stalled, "thread 811/812 stat: no answer within"));
  CHECK(run.reading.find("thread 811/812", "utime") == nullptr);
  for (const char* scope : {"thread 811/811", "thread 821/821", "thread 821/822"})
    CHECK(run.reading.number(scope, "utime") == 300U);
  CHECK(run.abandoned == 1);
}

TEST_CASE("a QEMU is known by what it runs, and a dead one is none", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "811", "812", "x");
  tree.write("proc/811/comm", "renamed\n");
  tree.write("proc/811/cmdline", "anything" + std::string(1, '\0'));
  tree.write("sandbox/srv1/qemu.pid", "811\n");
  CHECK_FALSE(node(run_on(k_probe, tree.directory()).reading, "srv1").pid);
  REQUIRE(::symlink("/usr/bin/qemu-system-x86_64 (deleted)", tree.path("proc/811/exe").c_str()) == 0);
  CHECK(node(run_on(k_probe, tree.directory()).reading, "srv1").pid == 811U);

  std::string zombie = stat_line("811", "qemu-system-x86");
  zombie.replace(zombie.find(") S "), 4, ") Z ");
  tree.write("proc/811/stat", zombie);
  const Reading dead = run_on(k_probe, tree.directory()).reading;
  CHECK_FALSE(node(dead, "srv1").pid);
  CHECK(mentions(node(dead, "srv1").notes, "has ended"));
}

TEST_CASE("nothing read, no QEMU, no thread: each its own word", "[qemu]") {
  const TemporaryTree tree;
  CHECK(run_on(k_probe, tree.directory()).reading.unavailable.starts_with("NO-PROC-READ"));
  tree.write("proc/1/comm", "init\n");
  tree.write("proc/self/comm", "x\n");
  CHECK(run_on(k_probe, tree.directory()).reading.finding.starts_with("NO-QEMU-PROCESS: 1 processes"));

  write_qemu(tree, "811", "812", "srv1");
  FakeCalls gone(tree.directory());
  gone.fail("open", "proc/811/task", ENOENT);
  const Reading ended = run_on(k_probe, tree.directory(), gone).reading;
  CHECK(ended.finding.starts_with("NO-THREAD-LINES"));
  CHECK(node(ended, "srv1").pid == 811U);             // known all the same
  CHECK_FALSE(ended.number("process 811", "utime"));  // its totals alone are no reading of threads
}

TEST_CASE("what could not be read is no finding", "[qemu]") {
  const TemporaryTree tree;
  tree.write("proc/1/comm", "init\n");
  write_qemu(tree, "811", "812", "srv1");
  for (const char* path : {"proc/811/comm", "proc/811/task"}) {
    FakeCalls calls(tree.directory());
    calls.fail("open", path, EACCES);
    const Reading reading = run_on(k_probe, tree.directory(), calls).reading;
    CAPTURE(path);
    CHECK(reading.finding.empty());
    CHECK_FALSE(reading.unavailable.empty());
    CHECK(mentions(reading.partial, "EACCES"));
  }
}

TEST_CASE("the sandbox may be missing, or its nodes be named by the caller", "[qemu]") {
  const TemporaryTree tree;
  write_qemu(tree, "811", "812", "");
  tree.write("proc/811/cmdline", "");
  CHECK(mentions(run_on(k_probe, tree.directory()).reading.notes, "no pid file was looked at"));

  tree.write("somewhere/a.pid", "811\n");
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());
  StringSink sink;
  find_probe(k_probe)->run(
      {Root(tree.directory()), "/nowhere", {{"first", tree.path("somewhere/a.pid")}}, calls, watchdog}, sink);
  sink.flush();
  CHECK(node(find_probe(k_probe)->parse(sink.content), "first").pid == 811U);
}
