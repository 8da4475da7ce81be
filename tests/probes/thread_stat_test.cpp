#include "probes/thread_stat.hpp"

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

ThreadStat parsed(std::string_view text) {
  const auto stat = parse_thread_stat(text);
  REQUIRE(stat);
  return *stat;
}

}  // namespace

TEST_CASE("T01: a name may hold blanks and be longer than 15 bytes", "[thread_stat]") {
  const ThreadStat a = parsed(case_text("T01", "stat-a.txt"));
  CHECK(a.tid == 25097);
  CHECK(a.comm == "sle ep");
  CHECK(a.state == 'S');
  CHECK(a.ppid == 1);
  CHECK(a.utime_ticks == 12);
  CHECK(a.stime_ticks == 3);
  CHECK(a.start_ticks == 990011);
  const ThreadStat b = parsed(case_text("T01", "stat-b.txt"));
  CHECK(b.tid == 318);
  CHECK(b.comm == "UVM deferred release queue");
  CHECK(b.comm.size() == 26);
  CHECK(b.ppid == 2);
  CHECK(b.utime_ticks == 0);
  CHECK(b.stime_ticks == 41);
  CHECK(b.start_ticks == 702);
  CHECK(b.kernel_thread());
}

TEST_CASE("T03: a newline inside the name", "[thread_stat]") {
  const std::string text = case_text("T03", "stat.txt");
  const ThreadStat stat = parsed(text);
  CHECK(stat.tid == 9);
  CHECK(stat.comm == "a\nb");
  CHECK(stat.state == 'S');
  CHECK(stat.ppid == 1);
  CHECK(stat.utime_ticks == 21);
  CHECK(stat.stime_ticks == 2);
  CHECK(stat.start_ticks == 4411);

  const std::string line = thread_stat_line(text);
  CHECK(line.starts_with("9 (a\\x0ab) S 1 "));
  CHECK(line.find('\n') == std::string::npos);
  CHECK_FALSE(parse_thread_stat("9 (a\n"));
}

TEST_CASE("T04: bytes in, escaped text out", "[thread_stat]") {
  CHECK(parsed(case_text("T04", "stat-a.txt")).comm == "caf\xc3");
  CHECK(thread_stat_line(case_text("T04", "stat-a.txt")).starts_with("9 (caf\\xc3) S"));
  const ThreadStat b = parsed(case_text("T04", "stat-b.txt"));
  CHECK(b.comm == "process-name-t\xc3");
  CHECK(b.comm.size() == 15);
  CHECK(escape(b.comm) == "process-name-t\\xc3");
  const ThreadStat c = parsed(case_text("T04", "stat-c.txt"));
  CHECK(c.comm == "caf\u00e9 \u6771\u4eac");
  CHECK(escape(c.comm) == c.comm);
  CHECK(c.utime_ticks == 7);
}

TEST_CASE("whatever a thread is called, its fields stay in their places", "[thread_stat]") {
  for (const std::string name : {"",
                                 ")",
                                 "(",
                                 "((",
                                 "))",
                                 "()",
                                 ") R 1 2",
                                 ") R 1 30 30 0 -1 0 0 0 0 0 99 99 0 0 20 0 1 0 1 0",
                                 "a) S 1",
                                 " ",
                                 "\t",
                                 "\n",
                                 "\n\n",
                                 "9 (x) S",
                                 "CPU 0/KVM",
                                 "\x01\xff\\x41",
                                 "::error::x",
                                 "[process 8 is srv1]",
                                 "UVM deferred release queue",
                                 "kworker/u64:12-events_unbound"}) {
    CAPTURE(escape(name));
    const std::string text = stat_line("31", name);
    const ThreadStat stat = parsed(text);
    CHECK(stat.tid == 31);
    CHECK(stat.comm == name);
    CHECK(stat.state == 'S');
    CHECK(stat.utime_ticks == 12);
    CHECK(stat.start_ticks == 990011);
    CHECK(stat.last_cpu == 3);
    CHECK(stat.guest_time_ticks == 7U);

    const std::string line = thread_stat_line(text);
    CHECK(escape(unescape(line)) == line);
    CHECK(unescape(parsed(line + "\n").comm) == name);
  }
}

TEST_CASE("a text that was cut gives a line that says no more than the text", "[thread_stat]") {
  const std::string whole = stat_line("31", "CPU 0/KVM");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const std::string text = whole.substr(0, length);
    const auto stat = parse_thread_stat(text);
    const auto of_line = parse_thread_stat(thread_stat_line(text) + "\n");
    REQUIRE(of_line.ok() == stat.ok());
    if (!stat) continue;
    CHECK(of_line->start_ticks == stat->start_ticks);
    CHECK(of_line->last_cpu == stat->last_cpu);
    CHECK(of_line->guest_time_ticks == stat->guest_time_ticks);
  }
  CHECK_FALSE(parse_thread_stat("\n" + whole));
}

TEST_CASE("what the kernel does not write is no stat text", "[thread_stat]") {
  const std::string whole = stat_line("31", "x");
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = whole;
    return text.replace(text.find(part), part.size(), other);
  };
  REQUIRE(with(") S ", ") R ") != whole);
  CHECK(parse_thread_stat(with(") S ", ") R ")));
  for (const std::string state : {"\\", "_", "`", "[", "1", "SS", ""})
    CHECK_FALSE(parse_thread_stat(with(") S ", ") " + state + " ")));
  CHECK_FALSE(parse_thread_stat(with(") S ", ")\tS ")));
  CHECK_FALSE(parse_thread_stat(with(") S ", ") S\t")));
  CHECK_FALSE(parse_thread_stat(with("31 (", "31\t(")));
  CHECK_FALSE(parse_thread_stat(with("31 (", "31(")));
  CHECK_FALSE(parse_thread_stat(with("31 (", " 31 (")));
}

TEST_CASE("T11: the start time is field 22", "[thread_stat]") {
  CHECK(parsed(case_text("T11", "before.txt")).start_ticks == 12345);
  CHECK(parsed(case_text("T11", "after.txt")).start_ticks == 12345);
}

TEST_CASE("T12: a vCPU is a whole name", "[thread_stat]") {
  std::vector<std::pair<std::uint64_t, std::optional<std::uint64_t>>> found;
  const std::string text = case_text("T12", "threads.txt");
  for (const std::string_view line : split_lines(text)) {
    const ThreadStat stat = parsed(std::string(line) + "\n");
    found.emplace_back(stat.tid, vcpu_of_name(stat.comm));
  }
  const decltype(found) right = {{894, {}}, {31, 0},  {32, 10}, {33, {}}, {34, {}},
                                 {35, {}},  {36, {}}, {37, {}}, {38, {}}, {39, 255}};
  CHECK(found == right);
  for (const std::string_view name : {"", "CPU", "CPU ", "CPU 0", "CPU 0/KVM\n", "CPU  0/KVM", "CPU 00/KVM",
                                      "CPU 03/KVM", "CPU -1/KVM", "CPU +1/KVM", "CPU 1 /KVM", "cpu 1/KVM", "CPU 1/kvm",
                                      "/KVM", "CPU /KVM/KVM", "CPU 18446744073709551616/KVM", "CPU 1/KVM/KVM"}) {
    CAPTURE(name);
    CHECK_FALSE(vcpu_of_name(name));
  }
}

TEST_CASE("T13: field 9 tells the threads that the kernel made", "[thread_stat]") {
  const std::string text = case_text("T13", "threads.txt");
  for (const std::string_view line : split_lines(text)) {
    const ThreadStat stat = parsed(std::string(line) + "\n");
    CAPTURE(stat.tid);
    CHECK(stat.kernel_made() == (stat.tid >= 1236 && stat.tid <= 1238));
    CHECK_FALSE(stat.kernel_thread());
    if (stat.tid == 1236) CHECK(stat.flags == 0x404040);
    if (stat.tid == 1238) CHECK(stat.flags == 0x404050);
    if (stat.tid == 1235) CHECK(stat.flags == 0x400040);
  }
}

TEST_CASE("a text that was cut gives no number that may be cut short", "[thread_stat]") {
  const std::string text = stat_line("31", "CPU 0/KVM", "41", "88123");
  const ThreadStat whole = parsed(text);
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto stat = parse_thread_stat(std::string_view(text).substr(0, length));
    if (!stat) continue;
    ++accepted;
    CAPTURE(length);
    CHECK(stat->comm == whole.comm);
    CHECK(stat->utime_ticks == whole.utime_ticks);
    CHECK(stat->start_ticks == whole.start_ticks);
    CHECK((!stat->last_cpu || stat->last_cpu == whole.last_cpu));
    CHECK((!stat->guest_time_ticks || stat->guest_time_ticks == whole.guest_time_ticks));
  }
  CHECK(accepted > 0);
}

TEST_CASE("a line with other words in it is refused, not filled up", "[thread_stat]") {
  const std::string head = "31 (CPU 0/KVM) S 1 30 30 0 -1 4194624 912 0 0 0 41 3 0 0 20 0 4 0 88123 268";
  for (const std::string& wrong :
       {std::string(), std::string("\n"), std::string("31\n"), std::string("31 (x\n"), std::string("31 x) S 1\n"),
        std::string("31 )x( S 1\n"), std::string("(x) S 1 2\n"),
        std::string("-31 (x) S 1 30 30 0 -1 0 0 0 0 0 1 1 0 0 20 0 4 0 5 0\n"), head + "[threads of the node VMs]\n",
        head + "[a sentence (with a name) 1 2 3]\n",
        std::string("31 (x) SS 1 30 30 0 -1 0 0 0 0 0 1 1 0 0 20 0 4 0 5 0\n"),
        std::string("31 (x) 1 1 30 30 0 -1 0 0 0 0 0 1 1 0 0 20 0 4 0 5 0\n"),
        std::string("31 (x) S 1 30 30 0 -1 0 0 0 0 0 -1 1 0 0 20 0 4 0 5 0\n"),
        std::string("31 (x) S 1 30 30 0 -1 0 0 0 0 0 1 1 0 0 20 0 4 0\n"),
        std::string("31 (x) S 1 30 30 0 -1 0 0 0 0 0 99999999999999999999 1 0 0 20 0 4 0 5 0\n")}) {
    CAPTURE(wrong);
    const auto stat = parse_thread_stat(wrong);
    CHECK_FALSE(stat);
    if (!stat) CHECK_FALSE(stat.error().reason.empty());
  }
}

TEST_CASE("fields that old kernels lack are absent, not zero", "[thread_stat]") {
  const ThreadStat stat = parsed("31 (x) S 1 30 30 0 -1 64 0 0 0 0 1 2 0 0 20 0 4 0 5 0 0\n");
  CHECK(stat.start_ticks == 5);
  CHECK_FALSE(stat.last_cpu);
  CHECK_FALSE(stat.guest_time_ticks);
}
