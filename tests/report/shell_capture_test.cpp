// Files of the shell collectors: every row of their outcome tables, and what surrounds the data.
#include "collector/report/shell_capture.hpp"

#include "collector/analyse/interval.hpp"
#include "collector/report/shell_frame.hpp"
#include "tests/report/made_archives.hpp"

using namespace cozy;
using namespace made_archives;

namespace {

const std::string k_stamp = "[read attempted from 1755763201 to 1755763202 epoch seconds]\n";
const std::string k_legend = "[rows of the runner VM's kernel; what is unknown stays unknown: see there]\n";
const std::string k_pairing = "[to get a rate: subtract the other sample and the stamps]\n";
const std::string k_rows =
    "cpu  812340 1200 141023 5120044 20311 0 4412 912 600120 0\ncpu0 406170 600 70511 2560022 10155 0 2206 456 300060 "
    "0\n";
const std::string k_counters =
    "[counters follow: level name value]\n[global] exits 91822017\n[global] guest_mode 3\n"
    "[skipped vm 23140-14] mmu_rmaps_stat: not opened (denied by name)\n[vm 23140-14] exits 30611204\n[vm 23140-14] "
    "guest_mode 1\n";
const std::string k_totals =
    "[counters read: 2 kernel-wide and 2 per-VM, across 1 per-VM director(ies); 1 file(s) skipped]\n"
    "[not read here: vCPU folders]\n[note: no kind of a counter stands in this file]\n";
const std::string k_threads =
    "clock ticks per second: 100\nprocess 412 comm qemu-system-x86\n"
    "412 (qemu-system-x86) S 1 412 412 0 -1 4194560 9121 0 3 0 812 1930 0 0 20 0 75 0 88110 26843545600 3145728 "
    "18446744073709551615 1 1 0 0 0 0 0 4096 17442 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "419 (CPU 0/KVM) R 1 412 412 0 -1 4194368 912 0 0 0 51234 8811 0 0 20 0 75 0 88123 26843545600 3145728 "
    "18446744073709551615 1 1 0 0 0 0 0 4096 17442 0 0 0 -1 11 0 0 0 48120 0 0 0 0 0 0 0 0 0\n";
const std::string k_map = "[pid file map; an entry does not prove that the process lives]\n[process 412 is srv1]\n";

std::string trailer(int code) { return "\n[capture exit code: " + std::to_string(code) + "]\n"; }

SampleCapture read_as(const std::string& capture, const std::string& text) {
  SampleCapture file = read_shell_capture(text, *find_probe(capture), *find_legend(capture));
  file.capture.name = capture;
  return file;
}

struct Row {
  std::string what;
  std::string text;
  Outcome outcome;
  std::string reason;  ///< words of it
};

void check_rows(const std::string& capture, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(capture << ": " << row.what);
    const SampleCapture file = read_as(capture, row.text);
    INFO(file.capture.judgement.reason);
    CHECK(file.capture.judgement.outcome == row.outcome);
    CHECK(has(file.capture.judgement.reason, row.reason));
    CHECK(file.capture.judgement.reason.empty() == (row.outcome == Outcome::complete));
    CHECK(file.capture.judgement.reason.find('\n') == std::string::npos);
  }
}

Report built(const std::vector<ReportFile>& files) {
  ReportBuilder builder;
  for (const ReportFile& file : files) builder.add(file);
  return builder.finish("x");
}

}  // namespace

TEST_CASE("every outcome of the runner's CPU time", "[report][shell]") {
  check_rows(
      "runner-kernel-cpu-time",
      {
          {"whole", k_rows + k_legend + k_pairing + k_stamp + trailer(0), Outcome::complete, ""},
          {"unbounded", k_rows + "[bounds] timeout is not here]\n" + k_legend + k_pairing + k_stamp + trailer(0),
           Outcome::complete, ""},
          {"ended, no row", "intr 5\nrunner CPU time unavailable: no row\n" + k_stamp + trailer(0),
           Outcome::unavailable, "no row"},
          {"cut, rows", k_rows + k_legend + "CPU time incomplete: cut, see read-error.log\n" + k_stamp + trailer(124),
           Outcome::partial, "exit code 124: a bound fired, or the reader itself ended so"},
          {"cut in mid-line",
           k_rows + "cpu1 120 0 3" + k_legend + "CPU time incomplete: cut\n" + k_stamp + trailer(137), Outcome::partial,
           "the row cpu1 was cut in mid-line"},
          {"cut, no row", "runner CPU time unavailable: see COLLECTION-FAILED.txt\n" + k_stamp + trailer(1),
           Outcome::unavailable, "exit code 1"},
          {"silent", "runner CPU time unavailable: nothing on either stream\n" + k_stamp + trailer(143),
           Outcome::unavailable, "signal 15"},
          {"statement glued to data", "intr 91233unavailable: no row\n" + k_stamp + trailer(1), Outcome::unavailable,
           "the file says unavailable: no row"},
          {"no stamp", k_rows + k_legend + trailer(0), Outcome::partial, "no stamps: its end is unknown"},
          {"no trailer", k_rows + k_legend + k_stamp, Outcome::partial, "no exit code: its end is unknown"},
          {"trailer cut", k_rows + k_legend + k_stamp + "\n[capture exit code: 12", Outcome::partial, "no exit code"},
          {"neither", k_rows, Outcome::partial, "no stamps and no exit code: its end is unknown"},
          {"nothing", "", Outcome::unavailable, "end is unknown"},
          {"incomplete with code 0", k_rows + k_legend + "it is incomplete: cut\n" + k_stamp + trailer(0),
           Outcome::partial, "says incomplete: cut"},
          {"against its own rows", k_rows + k_legend + "unavailable: no row\n" + k_stamp + trailer(0),
           Outcome::unavailable, "and yet rows stand in it"},
          {"impossible code", k_rows + k_stamp + trailer(300), Outcome::partial, "no exit code"},
      });
}

TEST_CASE("a whole file of the runner: rows, stamps, and no word of its sentences", "[report][shell]") {
  const std::string text = k_rows + "intr 91233445 0 9\nbtime 1755760000\n[bounds] no timeout]\n" + k_legend +
                           "[note: a legend is no note]\n[stalled is nothing: here]\n" + k_pairing + k_stamp +
                           trailer(0);
  const SampleCapture file = read_as("runner-kernel-cpu-time", text);
  CHECK(file.origin == Origin::shell);
  CHECK(file.reading.number("cpu0", "steal") == 456);
  CHECK(file.reading.number("kernel", "btime") == 1755760000);
  CHECK(file.reading.notes == std::vector<std::string>{"no bound was in force while it was read"});
  CHECK(file.reading.stalled.empty());
  CHECK(file.reading.partial.empty());
  REQUIRE(file.capture.begin_stamp.has_value());
  CHECK(file.capture.begin_stamp->boottime_ns == 0);
  CHECK(file.capture.begin_stamp->epoch_ns == 1755763201LL * k_ns_per_second);
  CHECK(file.capture.end_stamp->epoch_ns == 1755763202LL * k_ns_per_second);
  CHECK(file.capture.end.exit_code == 0);
  // A sentence that begins like a row is none.
  const SampleCapture worded =
      read_as("runner-kernel-cpu-time", k_rows + "cpu rows are incomplete: cut\n" + k_stamp + trailer(1));
  CHECK(worded.reading.number("cpu", "user") == 812340);
}

TEST_CASE("the interval of two shell files is above A2 - B1 - 1 and below B2 + 1 - A1", "[report][shell]") {
  const auto stamp = [](int from, int to) {
    return "[read attempted from " + std::to_string(from) + " to " + std::to_string(to) + " epoch seconds]\n";
  };
  const SampleCapture first = read_as("runner-kernel-cpu-time", k_rows + stamp(1000, 1002) + trailer(0));
  const SampleCapture second = read_as("runner-kernel-cpu-time", k_rows + stamp(1400, 1401) + trailer(0));
  const auto interval = interval_between({first.capture.begin_stamp, first.capture.end_stamp},
                                         {second.capture.begin_stamp, second.capture.end_stamp});
  REQUIRE(interval.has_value());
  CHECK(interval->wall_clock);
  CHECK(interval->length_ns - interval->error_ns == 397 * k_ns_per_second);
  CHECK(interval->length_ns + interval->error_ns == 402 * k_ns_per_second);
}

TEST_CASE("every outcome of the KVM counters", "[report][shell]") {
  const std::string end = k_legend + k_pairing + k_stamp;
  check_rows(
      "sandbox-kvm-exits",
      {
          {"whole", k_counters + k_totals + end + trailer(0), Outcome::complete, ""},
          {"some files could not be read",
           k_counters + "[skipped vm 23140-14] x: could not be read (shape not known)\n" + k_totals + end + trailer(0),
           Outcome::complete, ""},
          {"mount refused", "KVM counters unavailable: see COLLECTION-FAILED.txt\n" + k_stamp + trailer(3),
           Outcome::unavailable, "debugfs could not be mounted"},
          {"no directory", "NO-KVM-DIR: this kernel runs no KVM\n" + k_stamp + trailer(4), Outcome::empty,
           "NO-KVM-DIR: this kernel runs no KVM"},
          {"no counter", "[counters follow: level name value]\nNO-COUNTER-FILES: nothing\n" + k_stamp + trailer(5),
           Outcome::empty, "NO-COUNTER-FILES"},
          {"the token cut away", k_stamp + trailer(4), Outcome::empty, "exit code 4"},
          {"the token without its code", "NO-KVM-DIR: x\n" + k_stamp, Outcome::unavailable, "end is unknown"},
          {"cut, counters", k_counters + k_legend + "KVM counters incomplete: cut\n" + k_stamp + trailer(124),
           Outcome::partial, "exit code 124"},
          {"cut in mid-line",
           k_counters + "[vm 23140-14] io_exits 306" + k_legend + "incomplete: cut\n" + k_stamp + trailer(137),
           Outcome::partial, "io_exits 306\" was cut in mid-line"},
          {"cut, none",
           "[counters follow: level name value]\nKVM counters unavailable: see read-error.log\n" + k_stamp + trailer(1),
           Outcome::unavailable, "see read-error.log"},
          {"no trailer", k_counters + k_totals + end, Outcome::partial, "end is unknown"},
      });
  const SampleCapture whole = read_as("sandbox-kvm-exits", k_counters + k_totals + end + trailer(0));
  CHECK(whole.reading.number("vm 23140-14", "exits") == 30611204);
  CHECK(whole.reading.notes.empty());
  CHECK(whole.reading.partial.empty());
}

TEST_CASE("gauges alone are recognised, whatever the exit code says", "[report][shell]") {
  std::string text = "[counters follow: level name value]\n";
  for (const std::string scope : {"global", "vm 23140-14", "vm 23150-15", "vm 23160-16"}) {
    for (const std::string gauge :
         {"guest_mode", "blocking", "pages_4k", "pages_2m", "pages_1g", "nx_lpage_splits", "some_new_gauge"}) {
      text += "[" + scope + "] " + gauge + " 17\n";
    }
    for (const std::string counter : {"exits", "halt_exits", "io_exits"})
      text += "[skipped " + scope + "] " + counter + ": could not be read\n";
  }
  text += k_totals + k_legend + k_pairing + k_stamp + trailer(0);
  const SampleCapture file = read_as("sandbox-kvm-exits", text);
  CHECK(file.capture.judgement.outcome == Outcome::unavailable);
  CHECK(file.capture.judgement.gauges_only);
  CHECK(has(file.capture.judgement.reason, "only gauges were read"));
  CHECK(file.reading.number("vm 23140-14", "blocking") == 17);
  const std::string known = text.substr(0, text.find("[global] some_new_gauge")) + k_stamp + trailer(0);
  CHECK(read_as("sandbox-kvm-exits", known).capture.judgement.gauges_only);
}

TEST_CASE("every outcome of the QEMU threads", "[report][shell]") {
  const std::string end = k_legend + k_map + k_pairing + k_stamp;
  const std::string ticks = "clock ticks per second: unavailable\n";
  check_rows(
      "sandbox-qemu-thread-cpu",
      {
          {"whole", k_threads + end + trailer(0), Outcome::complete, ""},
          {"no QEMU",
           ticks + "NO-QEMU-PROCESS: 12 processes read\n" + k_map + "threads unavailable: no QEMU\n" + k_stamp +
               trailer(0),
           Outcome::empty, "NO-QEMU-PROCESS: 12 processes read"},
          {"going",
           ticks + "process 412 comm qemu-system-x86\nNO-THREAD-LINES: gone\n" + k_map + "threads unavailable: gone\n" +
               k_stamp + trailer(0),
           Outcome::empty, "NO-THREAD-LINES"},
          {"no process",
           ticks + "NO-PROC-READ: nothing\n" + k_map + "threads unavailable: nothing\n" + k_stamp + trailer(0),
           Outcome::unavailable, "NO-PROC-READ"},
          {"cut, threads", k_threads + k_legend + k_map + "threads incomplete: cut\n" + k_stamp + trailer(124),
           Outcome::partial, "exit code 124"},
          {"cut in mid-line",
           k_threads + "420 (CPU 1/KVM) R 1 41" + k_legend + k_map + "threads incomplete: cut\n" + k_stamp +
               trailer(137),
           Outcome::partial, "the line of thread 420 was rejected"},
          {"cut, none", ticks + k_map + "threads unavailable: see COLLECTION-FAILED.txt\n" + k_stamp + trailer(1),
           Outcome::unavailable, "exit code 1"},
          {"the token with another code", ticks + "NO-QEMU-PROCESS: x\n" + k_stamp + trailer(1), Outcome::unavailable,
           "exit code 1"},
          {"no trailer", k_threads + end, Outcome::partial, "no exit code"},
      });
  const SampleCapture whole = read_as("sandbox-qemu-thread-cpu", k_threads + end + trailer(0));
  REQUIRE(whole.reading.nodes.size() == 1);
  CHECK(whole.reading.nodes[0].node == "srv1");
  CHECK(whole.reading.nodes[0].pid == 412);
  CHECK(whole.reading.number("thread 412/419", "guest_time") == 48120);
  CHECK_FALSE(whole.reading.number("thread 412/419", "run_delay_ns").has_value());
}

TEST_CASE("words of a statement count in a statement alone", "[report][shell]") {
  CHECK_FALSE(parse_statement("clock ticks per second: unavailable"));
  CHECK_FALSE(parse_statement("[legend incomplete: x]"));
  CHECK_FALSE(parse_statement("it was incomplete"));
  CHECK_FALSE(parse_statement("wholly uncomplete: x"));
  CHECK_FALSE(parse_statement("reincomplete: x"));
  CHECK(parse_statement("node srv1 unknown: not read")->word == ShellStatement::Word::unknown);
  CHECK(parse_statement("incomplete:")->reason.empty());
  // Names of threads and processes are data.
  std::string text = k_threads;
  text.replace(text.find("CPU 0/KVM"), 9, "unavailable: x");
  text.replace(text.find("qemu-system-x86"), 15, "qemu-unknown: x");
  CHECK(read_as("sandbox-qemu-thread-cpu", text + k_map + k_stamp + trailer(0)).capture.judgement.outcome ==
        Outcome::complete);
}

TEST_CASE("the last stamp and the last exit code count, also behind data", "[report][shell]") {
  const std::string first = "[read attempted from 1 to 2 epoch seconds]\n[capture exit code: 7]\n";
  CHECK(find_shell_stamps(first + k_stamp)->begin.epoch_ns == 1755763201LL * k_ns_per_second);
  CHECK(find_shell_exit_code(first + "x[capture exit code: 0]") == 0);
  CHECK_FALSE(find_shell_stamps("[read attempted from  to 2 epoch seconds]"));
  CHECK_FALSE(find_shell_stamps("[read attempted from 1 to 99999999999999999999 epoch seconds]"));
  CHECK_FALSE(find_shell_stamps("[read attempted from 1 to 2 epoch sec"));
  CHECK_FALSE(find_shell_exit_code("[capture exit code: ]"));
  const SampleCapture glued = read_as("sandbox-kvm-exits", "NO-KVM-DIR: a kernel wi" + k_stamp + trailer(4));
  CHECK(glued.capture.judgement.outcome == Outcome::empty);
  CHECK(glued.capture.begin_stamp.has_value());
}

TEST_CASE("T03: of a name with a newline the first line was kept: rejected, and nothing invented", "[report][shell]") {
  const SampleCapture file = read_as("sandbox-qemu-thread-cpu", fixture("T03/qemu-threads.txt"));
  CHECK(file.reading.find("thread 8/9", "utime") == nullptr);
  CHECK(file.reading.number("thread 8/8", "utime") == 900);
  REQUIRE(file.reading.partial.size() == 1);
  CHECK(has(file.reading.partial[0], "thread 9"));
  CHECK(file.capture.judgement.outcome == Outcome::partial);
  CHECK(has(file.capture.judgement.reason, "thread 9 was rejected"));
}

TEST_CASE("a file of ours that was cut in its data is of unknown origin, and its data are read", "[report][shell]") {
  const SampleCapture file = read_as("sandbox-qemu-thread-cpu",
                                     k_threads + "[thread 412/419 schedstat 5 6 7 voluntary 1 involuntary 2]\n420 (CP");
  CHECK(file.origin == Origin::unknown);
  CHECK(file.reading.number("thread 412/419", "run_delay_ns") == 6);
  CHECK(file.capture.judgement.outcome == Outcome::partial);
  CHECK(has(file.capture.judgement.reason, "end is unknown"));
}

TEST_CASE("files beside a capture", "[report][shell]") {
  const std::string folder = "snapshots/s/runner-kernel-cpu-time/sample-1/";
  const std::string whole = k_rows + k_legend + k_stamp + trailer(0);
  const auto judgement_of = [](const Report& report) {
    const SampleCapture* file = runner_of(report);
    REQUIRE(file != nullptr);
    return file->capture.judgement;
  };
  SECTION("COLLECTION-FAILED.txt alone: it was never collected") {
    const Report report = built({{folder + "COLLECTION-FAILED.txt", "unshare is not here\nmore\n"}});
    CHECK(judgement_of(report).outcome == Outcome::unavailable);
    CHECK(judgement_of(report).reason == "never collected: unshare is not here");
    CHECK(runner_of(report)->file == folder + "COLLECTION-FAILED.txt");
  }
  SECTION("beside data, without times that differ: it is said, and nothing is complete") {
    for (const std::optional<std::int64_t> time : {std::optional<std::int64_t>(), std::optional<std::int64_t>(5)}) {
      const Report report =
          built({{folder + "proc-stat.txt", whole, "", time}, {folder + "COLLECTION-FAILED.txt", "x", "", time}});
      CHECK(judgement_of(report).outcome == Outcome::partial);
      CHECK(has(judgement_of(report).reason, "their times do not tell which"));
    }
  }
  SECTION("older than the data: left by an earlier run") {
    const Report report =
        built({{folder + "COLLECTION-FAILED.txt", "x", "", 5}, {folder + "proc-stat.txt", whole, "", 6}});
    CHECK(judgement_of(report).outcome == Outcome::complete);
    CHECK(has(runner_of(report)->reading.notes.at(0), "is older"));
  }
  SECTION("newer than the data: those are of an earlier run") {
    const Report report =
        built({{folder + "COLLECTION-FAILED.txt", "x", "", 7}, {folder + "proc-stat.txt", whole, "", 6}});
    CHECK(judgement_of(report).outcome == Outcome::unavailable);
    CHECK(has(judgement_of(report).reason, "of an earlier run"));
  }
  SECTION("messages") {
    const Report report = built({{folder + "proc-stat.txt", whole}, {folder + "READ-WARNINGS.txt", "w"}});
    CHECK(judgement_of(report).outcome == Outcome::complete);
    CHECK(runner_of(report)->capture.sidecar == "READ-WARNINGS.txt");
    CHECK(report.snapshots[0].marker("runner-kernel-cpu-time", 1, "READ-WARNINGS.txt")->text == "w");
  }
  SECTION("of the snapshot, and of captures that are not read") {
    const Report report = built({{"a/snapshots/s/SOFT-RED-node-join.txt", "waited"},
                                 {"a/snapshots/s/tenant-block-io/COLLECTION-TRUNCATED.txt", "3 of 5"},
                                 {"a/snapshots/s/tenant-thread-cpu/sample-2/COLLECTION-FAILED.txt", "x"}});
    REQUIRE(report.snapshots.size() == 1);
    CHECK(report.snapshots[0].markers.size() == 3);
    CHECK(report.snapshots[0].captures.empty());
    CHECK(report.snapshots[0].marker("", 0, "SOFT-RED-node-join.txt")->text == "waited");
  }
}

TEST_CASE("the canary: what each arm can say", "[report][canary]") {
  const auto arm = [](const std::string& name, const std::string& end) {
    return "\n=== arm: " + name +
           ", the label ===\ncommand: awk BEGIN { ... }\nwork: 30000000 iterations\nrate: 9 lies per second\n" + end;
  };
  const std::string end =
      "\n[fixed work at the layer of the runner VM]\n[read attempted from 1755763150 to 1755763152 epoch seconds]\n";
  struct Case {
    std::string arm;
    std::string end;
    CanaryResult result;
    bool reading;
    bool alert;
  };
  const std::vector<Case> cases{
      {"compute", "elapsed: 1260 ms\nrate: 23809523 iterations per second\n", CanaryResult::rated, true, false},
      {"compute", "elapsed: 12600 ms\nrate: 2999999 iterations per second\n", CanaryResult::rated, true, true},
      {"memory", "elapsed: 10 ms\nrate: 500 MiB per second\n", CanaryResult::rated, true, false},
      {"memory", "elapsed: 10 ms\nrate: 499 MiB per second\n", CanaryResult::rated, true, true},
      {"compute", "elapsed: 99999 ms\nrate: under one iterations per second\n", CanaryResult::under_one, true, true},
      {"compute", "elapsed: 0 ms\nno rate: the clock did not move\n", CanaryResult::too_fast, true, false},
      {"memory", "elapsed: 20010 ms\nthis arm did not finish: its ceiling\n", CanaryResult::not_finished, true, true},
      {"memory", "elapsed: 10 ms\nthis arm produced no reading\n", CanaryResult::no_reading, false, false},
      {"memory", "this arm produced no reading: the clock went back\n", CanaryResult::no_reading, false, false},
      {"memory", "elapsed: 10 ms\n", CanaryResult::cut, false, false},
      {"memory", "elapsed: 640 ms\nrate: 128", CanaryResult::cut, false, false},
      {"memory", "elapsed: 99999999999999999999 ms\nrate: 5 MiB per second\n", CanaryResult::cut, false, false},
  };
  for (const Case& c : cases) {
    INFO(c.arm << " " << c.end);
    const Canary canary = parse_canary(arm(c.arm, c.end) + (c.end.ends_with('\n') ? end : ""));
    REQUIRE(canary.arms.size() == 1);
    CHECK(canary.arms[0].name == c.arm);
    CHECK(canary.arms[0].label == "the label");
    CHECK(canary.arms[0].work == "30000000 iterations");
    CHECK(canary.arms[0].result == c.result);
    CHECK(canary.arms[0].is_reading() == c.reading);
    CHECK(canary.arms[0].is_alert() == c.alert);
  }
  const Canary both =
      parse_canary(arm("compute", cases[0].end) + arm("memory", cases[2].end) + "[bounds] none]\n" + end);
  REQUIRE(both.arms.size() == 2);
  CHECK(both.arms[0].rate_per_second == 23809523);
  CHECK(both.arms[0].elapsed_ms == 1260);
  CHECK(both.arms[0].unit == "iterations");
  CHECK(both.arms[1].unit == "MiB");
  CHECK(both.unbounded);
  CHECK(both.begin_stamp->epoch_ns == 1755763150LL * k_ns_per_second);
}

TEST_CASE("the outcome of a canary: two readings, one, none, and an end that is not there", "[report][canary]") {
  const std::string good = "=== arm: compute, x ===\nwork: 1 i\nelapsed: 10 ms\nrate: 23809523 iterations per second\n";
  const std::string bad = "=== arm: memory, x ===\nwork: 1 i\nthis arm produced no reading\n";
  const std::string end = "\n[read attempted from 1 to 2 epoch seconds]\n";
  CHECK(parse_canary(good + good + end).outcome() == Outcome::complete);
  CHECK(parse_canary(good + bad + end).outcome() == Outcome::partial);
  CHECK(parse_canary(bad + bad + end).outcome() == Outcome::unavailable);
  CHECK(parse_canary(good + good).outcome() == Outcome::partial);
  CHECK(parse_canary("").outcome() == Outcome::unavailable);
  const Report report = built({{"snapshots/s/runner-canary/sample-2/fixed-work.txt", good + bad + end}});
  REQUIRE(report.snapshots.size() == 1);
  REQUIRE(report.snapshots[0].canary(2) != nullptr);
  CHECK(report.snapshots[0].canary(2)->arms.size() == 2);
  CHECK(report.snapshots[0].canary(1) == nullptr);
  CHECK(report.origin == Origin::shell);
}
