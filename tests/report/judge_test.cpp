// What a capture is, for every row of the outcome tables: decided by the numbers that its own parser read.
#include <string>
#include <vector>

#include "collector/report/capture.hpp"
#include "probes/probe.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

const ReadEnd k_ended{0, "exited 0", ""};
const ReadEnd k_cut{137, "bound reached, ended by SIGKILL", "the read was cut: bound reached, ended by SIGKILL"};

struct Case {
  std::string what;
  std::string text;
  ReadEnd end;
  Outcome outcome;
  std::string names;  ///< what the reason has to name
  bool gauges_only = false;
};

void check(const std::string& capture, const std::vector<Case>& cases) {
  const Legend& legend = *find_legend(capture);
  for (const Case& c : cases) {
    INFO(capture << ": " << c.what);
    const Judgement judgement = judge(find_probe(capture)->parse(c.text), c.end, legend);
    CHECK(outcome_name(judgement.outcome) == outcome_name(c.outcome));
    INFO("the reason is: " << judgement.reason);
    CHECK(judgement.reason.find(c.names) != std::string::npos);
    CHECK(judgement.reason.empty() == (c.outcome == Outcome::complete));
    CHECK(judgement.reason.find('\n') == std::string::npos);
    CHECK(judgement.gauges_only == c.gauges_only);
    CHECK(holds_data(judgement.outcome) == (c.outcome == Outcome::complete || c.outcome == Outcome::partial));
  }
}

const std::string k_thread =
    "815 (CPU 0/KVM) S 1 812 812 0 -1 138412224 6 0 0 0 1012 345 0 0 20 0 5 0 88115 419172352 6743 "
    "18446744073709551615 1 1 0 0 0 "
    "0 0 0 0 1 0 0 -1 1 0 0 0 512 0 0 0 0 0 0 0 0 0\n";
const std::string k_process = "clock ticks per second: 100\nprocess 812 comm qemu-system-x86\n";

}  // namespace

TEST_CASE("the runner's CPU time", "[judge]") {
  const std::string rows = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nbtime 1755760000\n";
  check("runner-kernel-cpu-time",
        {{"read whole", rows, k_ended, Outcome::complete, ""},
         {"rows, then cut", rows, k_cut, Outcome::partial, "bound reached"},
         {"rows, then cut in mid-line", rows + "[cut in mid-line: cpu1 1 2]\n", k_cut, Outcome::partial, "cut"},
         {"the file stalled", "[stalled /proc/stat: no answer within 1000 ms]\n", k_ended, Outcome::unavailable,
          "no answer within 1000 ms"},
         {"no cpu row", "intr 5\nctxt 7\nbtime 1755760000\n", k_ended, Outcome::unavailable, "no cpu row"},
         {"nothing at all", "", k_ended, Outcome::unavailable, "no cpu row"},
         {"nothing, and the read failed", "", k_cut, Outcome::unavailable, "bound reached"},
         {"refused", "[not read /proc/stat: EACCES (Permission denied)]\n", k_ended, Outcome::unavailable, "EACCES"},
         {"a tick rate is no reading", "clock ticks per second: 100\n", k_ended, Outcome::unavailable, "no cpu row"}});
}

TEST_CASE("KVM", "[judge]") {
  const std::string counters =
      "[global] exits 9000 0644\n[vm 2231-14] exits 4000 0644\n[vm 2231-14] guest_mode 1 0444\n";
  const std::string gauges =
      "[global] guest_mode 3 0444\n[vm 2231-14] guest_mode 1 0444\n[vm 2231-14] pages_4k 77 0444\n";
  const std::string lockdown = "[lockdown: 40 counter files were not opened or were refused; mode integrity]\n";
  check("sandbox-kvm-exits",
        {{"all walked", counters, k_ended, Outcome::complete, ""},
         {"no VM", "[global] exits 0 0644\n", k_ended, Outcome::complete, ""},
         {"walk cut", counters, k_cut, Outcome::partial, "bound reached"},
         {"one file stalled", counters + "[stalled /k/2231-14/halt_exits: no answer within 250 ms]\n", k_ended,
          Outcome::partial, "halt_exits"},
         {"a VM left", counters + "[vm 2302-14 left during the walk]\n", k_ended, Outcome::complete, ""},
         {"lockdown", gauges + lockdown, k_ended, Outcome::unavailable,
          "counters refused by kernel lockdown, only gauges were read", true},
         {"gauges for another reason", gauges, k_ended, Outcome::unavailable, "only gauges were read", true},
         {"gauges, and cut", gauges, k_cut, Outcome::unavailable, "bound reached", true},
         {"histograms are no counters", "[vm 1-2] halt_wait_hist 5 0644\n", k_ended, Outcome::unavailable,
          "only gauges", true},
         {"no kvm directory", "NO-KVM-DIR: debugfs has no kvm directory\n", k_ended, Outcome::empty, "NO-KVM-DIR"},
         {"not one counter", "NO-COUNTER-FILES: the kvm directory holds not one counter\n", k_ended, Outcome::empty,
          "NO-COUNTER-FILES"},
         {"no counter, and cut", "NO-COUNTER-FILES: nothing\n", k_cut, Outcome::unavailable, "bound reached"},
         {"mount refused", "NO-DEBUGFS: fsopen: EPERM (Operation not permitted)\n", k_ended, Outcome::unavailable,
          "NO-DEBUGFS: fsopen: EPERM"},
         {"read ended badly", "", k_cut, Outcome::unavailable, "bound reached"},
         {"silence", "", k_ended, Outcome::unavailable, "no counter"},
         {"headings are no counters", "[counters follow: level name value]\n[kernel lockdown: none]\n", k_ended,
          Outcome::unavailable, "no counter"}});
}

TEST_CASE("QEMU's threads", "[judge]") {
  const std::string schedstat = "[thread 812/815 schedstat 5 6 7 voluntary 1 involuntary 2]\n";
  check("sandbox-qemu-thread-cpu",
        {{"walk ended", k_process + k_thread + schedstat, k_ended, Outcome::complete, ""},
         {"no waiting time", k_process + k_thread + "[note: schedstat absent for 1 of 1 threads: ENOENT]\n", k_ended,
          Outcome::complete, ""},
         {"walk cut", k_process + k_thread, k_cut, Outcome::partial, "bound reached"},
         {"a thread stalled", k_process + k_thread + "[stalled thread 812/816 stat: no answer within 250 ms]\n",
          k_ended, Outcome::partial, "812/816"},
         {"a thread ended", k_process + k_thread + "[ended thread 812/816]\n", k_ended, Outcome::complete, ""},
         {"no QEMU", "NO-QEMU-PROCESS: 77 processes were read and none is a QEMU\n", k_ended, Outcome::empty,
          "77 processes"},
         {"guest going", k_process + "NO-THREAD-LINES: 1 QEMU processes were named and no thread could be read\n",
          k_ended, Outcome::empty, "NO-THREAD-LINES"},
         {"no process", "NO-PROC-READ: not one process could be read\n", k_ended, Outcome::unavailable, "NO-PROC-READ"},
         {"failed without a line", k_process, k_cut, Outcome::unavailable, "bound reached"},
         {"silence", "", k_ended, Outcome::unavailable, "no thread line"},
         {"a QEMU is named and the read is cut", k_process + "NO-THREAD-LINES: 1 QEMU\n", k_cut, Outcome::unavailable,
          "bound reached"}});
}

TEST_CASE("the nodes' cgroups", "[judge]") {
  const std::string found = "[process 8 cgroup v2, found: /a]\ncgroup v2 /a\ncpu.stat usage_usec 5\n";
  const std::string outside = "[process 9 cgroup v2, outside of this cgroup namespace: /../x]\n";
  check("sandbox-vm-cgroup-cpu",
        {{"usage", found, k_ended, Outcome::complete, ""},
         {"a cgroup went away", found + "[ended cgroup v2 /b]\n", k_ended, Outcome::complete, ""},
         {"cut", found, k_cut, Outcome::partial, "bound reached"},
         {"one outside", found + outside, k_ended, Outcome::partial, "process 9"},
         {"a file refused", found + "[not read cgroup /a cpu.max: EIO]\n", k_ended, Outcome::partial, "cpu.max"},
         {"outside alone", outside, k_ended, Outcome::unavailable, "outside of this cgroup namespace"},
         {"limits alone", "cgroup v2 /a\ncpu.max max 100000\ncpu.weight 100\n", k_ended, Outcome::unavailable,
          "only gauges", true},
         {"no QEMU", "NO-QEMU-PROCESS: 77 processes were read and none is a QEMU\n", k_ended, Outcome::empty,
          "77 processes"},
         {"no process", "NO-PROC-READ: not one process could be read\n", k_ended, Outcome::unavailable, "NO-PROC-READ"},
         {"silence", "", k_ended, Outcome::unavailable, "no counter of a cgroup"}});
}

TEST_CASE("the runner's shape", "[judge]") {
  check("runner-shape", {{"facts", "kernel-release: 6.18\ncpus-online: 0-1\n", k_ended, Outcome::complete, ""},
                         {"facts that are no numbers will do", "cpu-model: x\n", k_ended, Outcome::complete, ""},
                         {"cut without a reason", "kernel-release: 6.18\n[walk cut: ]\n", k_ended, Outcome::partial,
                          "the walk was cut"},
                         {"cut", "kernel-release: 6.18\n", k_cut, Outcome::partial, "bound reached"},
                         {"nothing", "", k_ended, Outcome::unavailable, "not one fact"}});
}

TEST_CASE("a pipe that was held open is a shortfall", "[judge]") {
  const ReadEnd held{0, "exited 0", "pipe held open by another process after the reader ended"};
  check("runner-kernel-cpu-time", {{"held", "cpu  1 2 3 4\n", held, Outcome::partial, "pipe held open"}});
}

TEST_CASE("many reasons are counted, not listed", "[judge]") {
  std::string text = "[global] exits 9000 0644\n";
  for (int i = 0; i < 50; ++i) text += "[stalled /k/file" + std::to_string(i) + ": no answer]\n";
  const Judgement judgement =
      judge(find_probe("sandbox-kvm-exits")->parse(text), k_cut, *find_legend("sandbox-kvm-exits"));
  CHECK(judgement.outcome == Outcome::partial);
  CHECK(judgement.reason.find("file0") != std::string::npos);
  CHECK(judgement.reason.find("file9") == std::string::npos);
  CHECK(judgement.reason.find("47 more") != std::string::npos);
  CHECK(judgement.reason.find("bound reached") != std::string::npos);
  CHECK(judgement.reason.size() < 1000);
}
