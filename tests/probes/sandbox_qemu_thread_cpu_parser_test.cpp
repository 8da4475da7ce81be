#include "probes/text.hpp"
#include "probes/thread_stat.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

Reading parse(std::string_view text) { return find_probe("sandbox-qemu-thread-cpu")->parse(text); }

const NodeEvidence* node(const Reading& reading, std::string_view name) {
  for (const NodeEvidence& one : reading.nodes) {
    if (one.node == name) return &one;
  }
  return nullptr;
}

std::size_t threads(const Reading& reading) {
  std::size_t count = 0;
  for (const Row& row : reading.rows) count += row.field == "utime" && row.scope.starts_with("thread ") ? 1U : 0U;
  return count;
}

/// A heading, and below it the stat lines of a case.
std::string under(std::string_view pid, std::string_view lines) {
  return "process " + std::string(pid) + " comm qemu-system-x86\n" + std::string(lines);
}

}  // namespace

TEST_CASE("a thread's rows are its scope, its identity and its kinds", "[qemu_parser]") {
  const Reading reading = parse(
      "clock ticks per second: 100\n"
      "process 412 comm qemu-system-x86\n"
      "[process 412 start 88110 read from 1000 to 2000 boot-time ns]\n"
      "[process 412 totals " +
      std::string(trim(stat_line("412", "qemu-system-x86", "900", "88110"))) + "]\n" +
      stat_line("419", "CPU 0/KVM", "512", "88123") +
      "[thread 412/419 schedstat 123 456 7 voluntary 10 involuntary 2]\n");
  CHECK(reading.number("kernel", "clock_ticks_per_second") == 100U);
  const std::pair<const char*, std::uint64_t> counters[] = {
      {"utime", 512},        {"stime", 3},      {"guest_time", 7},          {"on_cpu_ns", 123},
      {"run_delay_ns", 456}, {"timeslices", 7}, {"voluntary_switches", 10}, {"involuntary_switches", 2}};
  for (const auto& [field, value] : counters) {
    CAPTURE(field);
    CHECK(reading.number("thread 412/419", field) == value);
    CHECK(reading.find("thread 412/419", field)->kind == Kind::cumulative);
  }
  CHECK(reading.word("thread 412/419", "comm") == "CPU 0/KVM");
  CHECK(reading.find("thread 412/419", "state")->kind == Kind::instant);
  CHECK(reading.word("thread 412/419", "last_cpu") == "3");
  CHECK(reading.number("process 412", "utime") == 900U);

  const Subject* thread = reading.subject("thread 412/419");
  REQUIRE(thread != nullptr);
  CHECK(thread->identity == "start 88123");
  REQUIRE(thread->begin);
  CHECK(thread->begin->boottime_ns == 1000);
  CHECK(thread->end->boottime_ns == 2000);
  CHECK(reading.subject("process 412")->identity == "start 88110");
  CHECK(reading.partial.empty());
}

TEST_CASE("T03: a shell's file with a name that broke the line", "[qemu_parser]") {
  const Reading reading = parse(case_text("T03", "qemu-threads.txt"));
  CHECK(threads(reading) == 1);
  CHECK(reading.number("thread 8/8", "utime") == 900U);
  CHECK(reading.find("thread 8/9", "utime") == nullptr);
  REQUIRE(reading.partial.size() == 1);
  CHECK(reading.partial[0] == "the line of thread 9 was rejected: it is not whole");
  REQUIRE(node(reading, "srv1") != nullptr);
  CHECK(node(reading, "srv1")->pid == 8U);
  CHECK(reading.subject("process 8")->identity == "start 4400");
}

TEST_CASE("T12 T13: names and flags come through as they are", "[qemu_parser]") {
  const Reading names = parse(under("894", case_text("T12", "threads.txt")));
  CHECK(threads(names) == 10);
  CHECK(names.word("thread 894/37", "comm") == "CPU 4/KVM ");
  CHECK(names.word("thread 894/31", "state") == "R");
  CHECK(names.number("thread 894/31", "utime") == 41U);
  const Reading flags = parse(under("1234", case_text("T13", "threads.txt")));
  CHECK(threads(flags) == 7);
  CHECK(flags.number("thread 1234/1238", "flags") == 0x404050U);
}

TEST_CASE("A09 A15: names from outside are data, and come back as the bytes they are", "[qemu_parser]") {
  for (const char* id : {"A09", "A15"}) {
    const std::string raw = case_text(id, "threads.txt");
    std::string text = "process 30 comm qemu-system-x86\n";
    std::size_t lines = 0;
    for (const std::string_view line : split_lines(raw)) {
      text += thread_stat_line(std::string(line) + "\n") + "\n";
      ++lines;
    }
    CAPTURE(id);
    CHECK(threads(parse(text)) == lines);
    CHECK(threads(parse(under("30", raw))) == lines);  // as the shell writes them
    for (const char* never : {"\u2028", "\u2029", "\u0085"}) CHECK(text.find(never) == std::string::npos);
    CHECK(split_lines(text).size() == lines + 1);
    if (id == std::string_view("A09")) {
      CHECK(parse(text).word("thread 30/31", "comm") == "a\u2028::debug::q");
      CHECK(parse(text).word("thread 30/35", "comm") == "plain \u00e9");
    } else {
      CHECK(parse(text).word("thread 30/41", "comm") == "  ::add-mask::a");
      CHECK(parse(text).word("thread 30/43", "comm").size() == 15);
      CHECK(parse(text).number("thread 30/41", "utime") == 300U);
    }
  }
}

TEST_CASE("a thread belongs to the heading above it and to no other", "[qemu_parser]") {
  const std::string line = stat_line("9", "a");
  CHECK(threads(parse(line)) == 0);
  CHECK(mentions(parse(line).partial, "thread 9 was rejected: it stands under no process"));
  for (const char* heading :
       {"process x comm q", "process  comm q", "process -8 comm q", "process 8 comm", "process 8", "process 8 q"}) {
    CAPTURE(heading);
    const Reading reading = parse("process 7 comm q\n" + std::string(heading) + "\n" + line);
    CHECK(threads(reading) == 0);  // not a thread of process 7
    CHECK_FALSE(reading.partial.empty());
  }
  CHECK(threads(parse("process 8 comm \n" + line)) == 1);
  CHECK(parse("process 0008 comm a comm b\n" + line).word("process 8", "comm") == "a comm b");

  const Reading two = parse("process 7 comm q\nprocess 8 comm q\n" + line);
  CHECK(two.number("thread 8/9", "utime") == 12U);
  CHECK(two.word("process 7", "comm") == "q");
  CHECK(two.find("process 7", "utime") == nullptr);
}

TEST_CASE("of a thread or process that stands there twice the first counts, and it is said", "[qemu_parser]") {
  const Reading reading =
      parse(under("8", stat_line("9", "a", "1") + stat_line("9", "b", "2") + stat_line("0009", "c", "3")));
  CHECK(threads(reading) == 1);
  CHECK(reading.number("thread 8/9", "utime") == 1U);
  CHECK(reading.partial.size() == 2);
  const Reading process = parse(under("8", stat_line("9", "a")) + under("8", stat_line("10", "a")));
  CHECK(threads(process) == 1);
  CHECK(mentions(process.partial, "process 8 stands there twice"));
}

TEST_CASE("glued lines are rejected and named", "[qemu_parser]") {
  const std::string whole = stat_line("9", "CPU 0/KVM");
  for (const std::size_t length : {10UL, 30UL, 60UL, 80UL, 100UL, 150UL}) {
    for (const char* rest :
         {"[threads of the node VMs' QEMU processes]", "[a (sentence) 1 2 3]", "process 7 comm q", "[bounds] none]"}) {
      const Reading reading =
          parse(under("8", stat_line("8", "q") + whole.substr(0, length) + rest + "\n" + stat_line("10", "b")));
      CAPTURE(length, rest);
      CHECK(threads(reading) == 2);
      CHECK(reading.find("thread 8/9", "utime") == nullptr);
      CHECK(mentions(reading.partial, "thread 9 was rejected"));
    }
  }
}

TEST_CASE("G02: three zeros on a thread that ran are no accounting, and on one that runs they are zeros",
          "[qemu_parser]") {
  const auto facts = [](std::string_view tid, std::string_view numbers) {
    return "[thread 811/" + std::string(tid) + " schedstat " + std::string(trim(numbers)) + "]\n";
  };
  const Reading read =
      parse(under("811", stat_line("811", "q") + facts("811", case_text("G02", "before-811.txt")) +
                             stat_line("812", "CPU 0/KVM") + facts("812", case_text("G02", "before-812.txt"))));
  CHECK(read.number("thread 811/811", "run_delay_ns") == 100000000U);
  CHECK(read.number("thread 811/812", "run_delay_ns") == 300000000U);
  CHECK(read.number("thread 811/812", "on_cpu_ns") == 8000000000U);
  CHECK(read.number("thread 811/812", "timeslices") == 9000U);

  const std::string idle = "813 (new) S 1 30 30 0 -1 64 0 0 0 0 0 0 0 0 20 0 4 0 5 0\n";
  const Reading off = parse(under("811", stat_line("811", "q") + facts("811", "0 0 0") + idle + facts("813", "0 0 0")));
  CHECK(off.number("thread 811/811", "utime") == 12U);
  for (const char* scope : {"thread 811/811", "thread 811/813"}) {
    for (const char* field : {"on_cpu_ns", "run_delay_ns", "timeslices"}) CHECK(off.find(scope, field) == nullptr);
  }
  CHECK(mentions(off.notes, "keeps no such accounting"));

  const Reading young =
      parse(under("811", stat_line("811", "q") + facts("811", "5 0 1") + idle + facts("813", "0 0 0")));
  CHECK(young.number("thread 811/813", "run_delay_ns") == 0U);
  CHECK(young.number("thread 811/811", "run_delay_ns") == 0U);
  CHECK(young.notes.empty());
}

TEST_CASE("schedstat that is not there is absent", "[qemu_parser]") {
  for (const char* facts :
       {"", "[thread 8/9 voluntary 10 involuntary 2]\n", "[thread 8/9 schedstat 1 2]\n", "[thread 8/9 schedstat]\n",
        "[thread 8/9]\n", "[thread 8/9 schedstat x y z]\n", "[thread 8/9 schedstat -1 -2 -3]\n",
        "[thread 8/10 schedstat 1 2 3]\n", "[thread 7/9 schedstat 1 2 3]\n", "[thread 9 schedstat 1 2 3]\n"}) {
    CAPTURE(facts);
    const Reading reading = parse(under("8", stat_line("9", "a") + facts));
    CHECK(threads(reading) == 1);
    for (const char* field : {"on_cpu_ns", "run_delay_ns", "timeslices"})
      CHECK(reading.find("thread 8/9", field) == nullptr);
  }
  const Reading twice =
      parse(under("8", stat_line("9", "a") + "[thread 8/9 schedstat 1 2 3]\n[thread 8/9 schedstat 4 5 6]\n"));
  CHECK(twice.number("thread 8/9", "run_delay_ns") == 2U);
  CHECK(twice.rows.back().field == "timeslices");
  const Reading before = parse(under("8", "[thread 8/9 schedstat 1 2 3]\n" + stat_line("9", "a")));
  CHECK(before.find("thread 8/9", "run_delay_ns") == nullptr);
}

TEST_CASE("nodes are read with their evidence and their notes", "[qemu_parser]") {
  const Reading reading = parse(
      "[node srv1 is process 902; evidence: pid file, guest name]\n[process 902 is srv1]\n"
      "[node srv2 is process 901; evidence: guest name]\n[process 901 is srv2]\n"
      "[node srv3 has no process]\n[node srv3 note: pid file names 8 (kworker/0:1H), a kernel thread]\n"
      "[process 910 is no known node]\n");
  REQUIRE(reading.nodes.size() == 3);
  CHECK(node(reading, "srv1")->pid == 902U);
  CHECK(node(reading, "srv1")->evidence == std::vector<std::string>{"pid file", "guest name"});
  CHECK(node(reading, "srv2")->evidence == std::vector<std::string>{"guest name"});
  CHECK_FALSE(node(reading, "srv3")->pid);
  CHECK(mentions(node(reading, "srv3")->notes, "a kernel thread"));
}

TEST_CASE("brackets that say nothing known are harmless", "[qemu_parser]") {
  for (const char* line : {"[]",
                           "[ ]",
                           "[node]",
                           "[node srv1]",
                           "[node srv1 note:]",
                           "[node srv1 is]",
                           "[node srv1 is process]",
                           "[node srv1 is process ]",
                           "[node srv1 is process x; evidence: pid file]",
                           "[node srv1 is process 902]",
                           "[node srv1 is process 902; evidence:]",
                           "[node\tsrv1\tnote:\tx]",
                           "[node <b> is process 902; evidence: pid file]",
                           "[node <b> has no process]",
                           "[process]",
                           "[process 8]",
                           "[process 8 is]",
                           "[process x is srv1]",
                           "[process 8 is a/b]",
                           "[process 8 totals]",
                           "[process 8 totals x]",
                           "[process 8\ttotals 1]",
                           "[process 8 start]",
                           "[process 8 start x]",
                           "[process 8 start 5 read from 2 to]",
                           "[process 8 start 5 read from 2 to 1 x]",
                           "[process 8 start 5 read from x to y boot-time ns]",
                           "[ended]",
                           "[ended thread]",
                           "[thread]",
                           "[thread 8/9]",
                           "[thread 8/9 schedstat 1 2 3",
                           "process",
                           "process ",
                           "[process 8 is srv1"}) {
    CAPTURE(line);
    const Reading reading = parse(under("8", stat_line("8", "q") + std::string(line) + "\n"));
    CHECK(threads(reading) == 1);
    CHECK(reading.nodes.empty());
    CHECK_FALSE(reading.subject("process 8")->begin);
    CHECK(reading.partial.empty());
    CHECK(parse(std::string(line) + "\n").rows.empty());
  }
}

TEST_CASE("the three words for nothing, and what could not be read", "[qemu_parser]") {
  CHECK(parse("NO-QEMU-PROCESS: 12 processes were read\n").finding.starts_with("NO-QEMU-PROCESS"));
  CHECK(parse("NO-THREAD-LINES: x\n").finding.starts_with("NO-THREAD-LINES"));
  CHECK(parse("NO-PROC-READ: x\n").unavailable.starts_with("NO-PROC-READ"));
  CHECK(parse("process 8 comm q\n").unavailable == "no thread line in the text");
  const Reading refused =
      parse(under("8", stat_line("9", "a") + "[not read thread 8/10 stat: EIO]\n[ended thread 8/11]\n"));
  CHECK(mentions(refused.partial, "thread 8/10 stat: EIO"));
  CHECK(mentions(refused.notes, "thread 8/11 ended while it was being read"));
}
