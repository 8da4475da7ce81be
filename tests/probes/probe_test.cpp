#include "probes/probe.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

TEST_CASE("the table holds each probe once, by the names of the captures", "[probe]") {
  std::set<std::string_view> names;
  for (const Probe& probe : probes()) {
    CAPTURE(probe.name);
    CHECK(names.insert(probe.name).second);
    CHECK(probe.name.find('_') == std::string_view::npos);
    CHECK(probe.run != nullptr);
    CHECK(find_probe(probe.name) == &probe);
    std::string underscores(probe.name);
    std::replace(underscores.begin(), underscores.end(), '-', '_');
    CHECK(find_probe(underscores) == &probe);
  }
  for (const char* name : {"runner-kernel-cpu-time", "sandbox-qemu-thread-cpu", "sandbox-kvm-exits",
                           "sandbox-vm-cgroup-cpu", "runner-shape"}) {
    CHECK(names.contains(name));
  }
  for (const char* name : {"", "runner", "runner-kernel-cpu-time ", "RUNNER-SHAPE", "../x"})
    CHECK(find_probe(name) == nullptr);
}

TEST_CASE("an empty text is unavailable to every parser, with a reason", "[probe]") {
  for (const Probe& probe : probes()) {
    CAPTURE(probe.name);
    for (const char* text : {"", "\n", "\n\n\n"}) {
      const Reading reading = probe.parse(text);
      CHECK(reading.rows.empty());
      CHECK_FALSE(reading.unavailable.empty());
      CHECK(reading.finding.empty());
    }
  }
}

TEST_CASE("every parser takes the lines that every probe may write", "[probe]") {
  const std::string text =
      "[stalled sys/x: no answer within 500 ms]\n"
      "[not read sys/y: EIO (Input/output error)]\n"
      "[walk cut: 65536 names]\n"
      "[note: a sentence]\n";
  for (const Probe& probe : probes()) {
    CAPTURE(probe.name);
    const Reading reading = probe.parse(text);
    CHECK(reading.stalled == std::vector<std::string>{"sys/x: no answer within 500 ms"});
    CHECK(reading.refused == std::vector<std::string>{"sys/y: EIO (Input/output error)"});
    CHECK(mentions(reading.partial, "stalled: sys/x"));
    CHECK(mentions(reading.partial, "65536 names"));
    CHECK(reading.notes == std::vector<std::string>{"a sentence"});
    CHECK(reading.rows.empty());
    CHECK_FALSE(reading.unavailable.empty());
  }
}

TEST_CASE("a last line without its end is no data", "[probe]") {
  const std::pair<const char*, const char*> table[] = {
      {"runner-kernel-cpu-time", "cpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3 4 5 6 7 8 9 1"},
      {"sandbox-kvm-exits", "[vm 1-2] exits 12 0644\n[vm 1-2] halt_exits 34"},
      {"sandbox-qemu-thread-cpu", "process 8 comm q\n9 (a) S 1 8 8 0 -1 0 0 0 0 0 1 2 0 0 20 0 2 0 44 0"},
      {"sandbox-vm-cgroup-cpu", "cgroup v2 /a\ncpu.stat usage_usec 12\ncpu.stat user_usec 3"},
      {"runner-shape", "cpus-online: 0-3\ncpus-possible: 0-1"},
  };
  for (const auto& [name, text] : table) {
    CAPTURE(name);
    const Reading reading = find_probe(name)->parse(text);
    CHECK(mentions(reading.partial, "cut in mid-line"));
    for (const Row& row : reading.rows) {
      CHECK(row.scope != "cpu1");
      CHECK(row.field != "halt_exits");
      CHECK(row.field != "utime");
      CHECK(row.field != "cpus-possible");
      CHECK(row.field != "user_usec");
    }
    CHECK(find_probe(name)->parse(std::string(text) + "\n").partial.empty());
  }
}

TEST_CASE("a list of words is bounded and says where it ends", "[reading]") {
  std::vector<std::string> list;
  for (int i = 0; i < 10000; ++i) add_words(list, std::to_string(i));
  CHECK(list.size() < 5000);
  CHECK(list.back().find("more") != std::string::npos);
}

TEST_CASE("rows are found by scope and field, and absent is not zero", "[reading]") {
  Reading reading;
  reading.add("cpu0", "user", std::uint64_t{0}, Kind::cumulative);
  reading.add("vm 1-2 vcpu0", "tsc-offset", std::int64_t{-5}, Kind::instant);
  reading.add("machine", "model", std::string("x"), Kind::instant);
  CHECK(reading.number("cpu0", "user") == 0U);
  CHECK_FALSE(reading.number("cpu0", "nice"));
  CHECK_FALSE(reading.number("vm 1-2 vcpu0", "tsc-offset"));
  CHECK(reading.word("vm 1-2 vcpu0", "tsc-offset") == "-5");
  CHECK(reading.word("machine", "model") == "x");
  CHECK(reading.word("machine", "nothing").empty());
  CHECK(reading.find("cpu", "user") == nullptr);
  CHECK(reading.subject("cpu0") == nullptr);
  for (const char* name : {"unknown", "cumulative", "instant", "peak", "histogram"}) {
    REQUIRE(kind_of_name(name));
    CHECK(kind_name(*kind_of_name(name)) == name);
  }
  CHECK_FALSE(kind_of_name("Cumulative"));
}

TEST_CASE("common lines are whole lines in brackets", "[reading]") {
  Reading reading;
  for (const char* line : {"", "[", "]", "[]", "[note: x", "note: x]", "[stalled]", "[notes: x]", " [note: x]"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_common_line(line, reading));
  }
  CHECK(reading.notes.empty());
  CHECK(parse_common_line("[note: ]", reading));
}

TEST_CASE("what a sink says of a file is one line, whatever the file is called", "[sink]") {
  StringSink sink;
  Watchdog::Answer answer;
  answer.state = Watchdog::State::failed;
  answer.error = {"", "EIO\n::error::", EIO};
  sink.not_read("a\nb", answer);
  answer.state = Watchdog::State::stalled;
  answer.error.reason = "no answer within 500 ms";
  sink.not_read("c\u2028d", answer);
  sink.note("x\ry");
  sink.flush();
  CHECK(
      sink.content ==
      "[not read a\\x0ab: EIO\\x0a::error::]\n[stalled c\\xe2\\x80\\xa8d: no answer within 500 ms]\n[note: x\\x0dy]\n");
}

TEST_CASE("a sink keeps order and delivers at the latest at the flush", "[sink]") {
  StringSink sink;
  sink.text("a");
  sink.line("b");
  CHECK(sink.content.empty());
  sink.line(std::string(40000, 'x'));
  CHECK(sink.content.size() == 40004);
  sink.line("c");
  sink.flush();
  sink.flush();
  CHECK(sink.content.ends_with("x\nc\n"));
  CHECK(sink.open());
}

TEST_CASE("a sink whose reader is gone takes nothing more", "[sink]") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  DescriptorSink sink(ends[1]);
  sink.line("kept");
  sink.flush();
  CHECK(sink.open());
  char buffer[16] = {};
  CHECK(::read(ends[0], buffer, sizeof buffer) == 5);
  CHECK(std::string_view(buffer) == "kept\n");

  const auto before = std::signal(SIGPIPE, SIG_IGN);
  ::close(ends[0]);
  sink.line("lost");
  sink.flush();
  CHECK_FALSE(sink.open());
  sink.line("lost as well");
  sink.flush();
  CHECK_FALSE(sink.open());
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
}

TEST_CASE("a probe's text stands between two marks with its own stamps", "[probe]") {
  const TemporaryTree tree;
  tree.write("proc/stat", "cpu  1 2 3 4\n");
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());
  StringSink sink;
  const Stamp before = now();
  REQUIRE(run_probe(*find_probe("runner-kernel-cpu-time"), {Root(tree.directory()), ".", {}, calls, watchdog}, sink));
  const Stamp after = now();

  const auto lines = split_lines(sink.content);
  REQUIRE(lines.size() >= 3);
  const auto begin = parse_mark(lines.front(), k_begin_mark);
  const auto end = parse_mark(lines.back(), k_end_mark);
  REQUIRE(begin);
  REQUIRE(end);
  CHECK(before.boottime_ns <= begin->boottime_ns);
  CHECK(begin->boottime_ns <= end->boottime_ns);
  CHECK(end->boottime_ns <= after.boottime_ns);
  CHECK(lines[1] == "cpu  1 2 3 4");
}

TEST_CASE("a mark is a whole line with two numbers", "[probe]") {
  const auto stamp = parse_mark("[cozybracket begin 12 34]", k_begin_mark);
  REQUIRE(stamp);
  CHECK(stamp->boottime_ns == 12);
  CHECK(stamp->epoch_ns == 34);
  for (const char* line :
       {"", "[cozybracket begin ", "[cozybracket begin ]", "[cozybracket begin 12]", "[cozybracket begin 12 34",
        "[cozybracket begin 12 34 56]", "[cozybracket begin x 34]", "[cozybracket end 12 34]",
        " [cozybracket begin 12 34]", "[cozybracket begin 99999999999999999999 1]"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_mark(line, k_begin_mark));
  }
}

TEST_CASE("a root is joined to every path, with or without a slash at its end", "[root]") {
  CHECK(Root("/").is_machine());
  CHECK(Root("//").is_machine());
  CHECK(Root("/").path("proc/stat") == "/proc/stat");
  CHECK(Root("/").directory() == "/");
  CHECK_FALSE(Root("/tree/").is_machine());
  CHECK(Root("/tree//").path("proc/stat") == "/tree/proc/stat");
  CHECK(Root("tree").path("proc") == "tree/proc");
}
