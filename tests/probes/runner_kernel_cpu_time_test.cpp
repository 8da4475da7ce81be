#include <cerrno>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "runner-kernel-cpu-time";

Reading parse(std::string_view text) { return find_probe(k_probe)->parse(text); }

std::size_t rows_of(const Reading& reading, std::string_view scope) {
  std::size_t count = 0;
  for (const Row& row : reading.rows) count += row.scope == scope ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("S17: every column has its place", "[cpu_time]") {
  const Reading reading = parse(case_text("S17", "stat.txt"));
  const char* columns[] = {"user", "nice",    "system", "idle",  "iowait",
                           "irq",  "softirq", "steal",  "guest", "guest_nice"};
  for (const char* scope : {"cpu", "cpu0"}) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      CAPTURE(scope, columns[i]);
      CHECK(reading.number(scope, columns[i]) == i + 1);
      CHECK(reading.find(scope, columns[i])->kind == Kind::cumulative);
    }
  }
  CHECK(reading.number("kernel", "btime") == 1755760000U);
  CHECK(reading.find("kernel", "btime")->kind == Kind::instant);
  CHECK(reading.number("kernel", "intr.total") == 91233445U);
  CHECK(reading.partial.empty());
  CHECK(reading.unavailable.empty());
}

TEST_CASE("old kernels have fewer columns, new ones may have more", "[cpu_time]") {
  const Reading reading =
      parse("cpu0 1 2 3 4\ncpu1 1 2 3 4 5 6 7\ncpu2 1 2 3 4 5 6 7 8 9 10\ncpu3 1 2 3 4 5 6 7 8 9 10 11 12\n");
  CHECK(rows_of(reading, "cpu0") == 4);
  CHECK(rows_of(reading, "cpu1") == 7);
  CHECK_FALSE(reading.number("cpu1", "steal"));
  CHECK(rows_of(reading, "cpu2") == 10);
  CHECK(rows_of(reading, "cpu3") == 10);
  CHECK(reading.number("cpu3", "guest_nice") == 10U);
  CHECK(reading.refused.empty());
}

TEST_CASE("S21: 64 bits unsigned, and what does not fit is absent, with the reason", "[cpu_time]") {
  const Reading before = parse(case_text("S21", "before.txt"));
  CHECK(before.number("cpu0", "user") == 18446744073709551611U);
  CHECK(parse(case_text("S21", "after.txt")).number("cpu0", "user") == 3U);
  CHECK(before.find("cpu2", "user") == nullptr);
  CHECK(before.number("cpu2", "system") == 10U);
  CHECK(mentions(before.refused, "cpu2 user: \"18446744073709551616\""));

  const Reading wrong = parse("cpu0 -1 +2 0x3 4.5 1e3 six 7\n");
  CHECK(rows_of(wrong, "cpu0") == 1);
  CHECK(wrong.number("cpu0", "softirq") == 7U);
  CHECK(wrong.refused.size() == 6);
  CHECK(wrong.unavailable.empty());
}

TEST_CASE("S13: a long line is a line like any other", "[cpu_time]") {
  for (const char* file : {"stat-1957.txt", "stat-4095.txt", "stat-4096.txt", "stat-4097.txt"}) {
    CAPTURE(file);
    const Reading reading = parse(case_text("S13", file));
    CHECK(reading.number("cpu0", "user") == 900U);
    CHECK(reading.number("cpu1", "idle") == 8100U);
    CHECK(reading.number("kernel", "ctxt") == 183422119U);
    CHECK(reading.number("kernel", "btime") == 1755760000U);
    CHECK(reading.number("kernel", "processes") == 120331U);
    CHECK(reading.number("kernel", "procs_running") == 3U);
    CHECK(reading.number("kernel", "procs_blocked") == 0U);
    CHECK(reading.number("kernel", "softirq.total") == 8812345U);
    CHECK(rows_of(reading, "cpu2") == 0);
    CHECK(reading.partial.empty());
  }
}

TEST_CASE("S15: a row that stands there twice is nobody's", "[cpu_time]") {
  const Reading reading = parse(case_text("S15", "before.txt"));
  CHECK(rows_of(reading, "cpu") == 0);
  CHECK(reading.number("cpu0", "user") == 260U);
  CHECK_FALSE(reading.number("kernel", "btime"));
  CHECK(mentions(reading.notes, "view: container; the row \"cpu\""));
  CHECK(reading.unavailable.empty());

  const Reading twice = parse("cpu0 1 2 3 4\ncpu1 1 2 3 4\ncpu0 1 2 3 4\ncpu0 5 6 7 8\n");
  CHECK(rows_of(twice, "cpu0") == 0);
  CHECK(rows_of(twice, "cpu1") == 4);
  const Reading none = parse("cpu  1 2 3 4\ncpu  1 2 3 4\nctxt 5\n");
  CHECK_FALSE(none.unavailable.empty());
  CHECK(none.number("kernel", "ctxt") == 5U);
}

TEST_CASE("S15: the mount that makes the view is named", "[cpu_time]") {
  const TemporaryTree tree;
  tree.write("proc/stat", case_text("S15", "before.txt"));
  tree.write("proc/self/mountinfo", case_text("S15", "mountinfo.txt"));
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(mentions(run.reading.notes, "view: container; /proc/stat is a mount of type fuse.lxcfs"));

  tree.write("proc/self/mountinfo",
             "211 105 0:47 / /proc/stats rw - fuse.lxcfs lxcfs rw\n105 98 0:5 / /proc rw - proc proc rw\nx\n\n");
  CHECK_FALSE(mentions(run_on(k_probe, tree.directory()).reading.notes, "is a mount of type"));
  tree.write("proc/self/mountinfo", "211 105 0:47 /proc/stat /proc/stat rw shared:1 master:2 - fuse.\\x]y z rw\n");
  CHECK(mentions(run_on(k_probe, tree.directory()).reading.notes, "type fuse.\\x5cx]y"));
}

TEST_CASE("only what the kernel calls a CPU is one", "[cpu_time]") {
  const Reading reading = parse(
      "cpus 1 2\ncpu-1 1 2\ncpu+1 1 2\ncpux 1 2\ncpu01 1 2\nCPU0 1 2\n cpu7 1 2\ncpu18446744073709551616 1 "
      "2\ncpu9\ncpu\n");
  CHECK(reading.rows.size() == 2);
  CHECK(reading.number("cpu7", "user") == 1U);
  CHECK(parse("cpu4095 1\ncpu0 2\ncpu12 3\n").number("cpu4095", "user") == 1U);
}

TEST_CASE("a text without a usable row is unavailable, whatever else it holds", "[cpu_time]") {
  for (const char* text : {"intr 5 0 0\nctxt 7\n", "cpu0 x y z\n", "cpu\n", "garbage\n\xff\xfe\n", "[note: x]\n",
                           "cpu0 12[legend of the rows]\n", "[not read /proc/stat: EACCES (Permission denied)]\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse(text).unavailable.empty());
  }
}

TEST_CASE("rows behind garbage are read, and garbage is no row", "[cpu_time]") {
  const Reading reading =
      parse("\xff\xfe cpu0 9 9\n(x) cpu1 9\n\ncpu0 1 2 3 4\nctxt x\nctxt 5\nctxt 6\nbtime -1\nintr\n");
  CHECK(rows_of(reading, "cpu0") == 4);
  CHECK(rows_of(reading, "cpu1") == 0);
  CHECK(reading.number("kernel", "ctxt") == 5U);
  CHECK_FALSE(reading.number("kernel", "btime"));
  CHECK_FALSE(reading.number("kernel", "intr.total"));
}

TEST_CASE("a row that was cut in mid-line is dropped and said", "[cpu_time]") {
  const Reading reading =
      parse("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu7 120 0 3[rows belong to the runner]\nclock ticks per second: 100\n");
  CHECK(rows_of(reading, "cpu7") == 0);
  CHECK(rows_of(reading, "cpu0") == 4);
  CHECK(mentions(reading.partial, "cpu7"));
  CHECK(reading.number("kernel", "clock_ticks_per_second") == 100U);
  CHECK_FALSE(parse("cpu0 1\nclock ticks per second: unavailable\n").number("kernel", "clock_ticks_per_second"));
}

TEST_CASE("the probe writes /proc/stat as it is, and the length of a tick", "[cpu_time]") {
  const TemporaryTree tree;
  const std::string stat = case_text("S17", "stat.txt");
  tree.write("proc/stat", stat);
  FakeCalls calls(tree.directory());
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(run.text.starts_with(stat + "clock ticks per second: "));
  CHECK(run.reading.number("kernel", "clock_ticks_per_second").value_or(0) > 0);
  CHECK(run.reading.number("cpu", "steal") == 8U);
  CHECK(run.reading.partial.empty());
  CHECK(mentions(run.reading.notes, "mountinfo"));  // absent in this tree: whose view it is stays open
  CHECK(calls.opens_of("proc/stat") == 1);

  tree.write("proc/stat", "cpu0 1 2 3 4");  // its newline is missing
  CHECK(run_on(k_probe, tree.directory()).text.starts_with("cpu0 1 2 3 4\nclock"));
}

TEST_CASE("a /proc/stat that is missing, refused or stuck is said, and is no idle machine", "[cpu_time]") {
  const TemporaryTree tree;
  const ProbeRun missing = run_on(k_probe, tree.directory());
  CHECK(mentions(missing.reading.refused, "/proc/stat: ENOENT"));
  CHECK_FALSE(missing.reading.unavailable.empty());
  CHECK(missing.reading.find("cpu", "user") == nullptr);

  tree.write("proc/stat", "cpu0 1 2 3 4\n");
  FakeCalls refused(tree.directory());
  refused.fail("read", "proc/stat", EIO);
  CHECK(mentions(run_on(k_probe, tree.directory(), refused).reading.refused, "/proc/stat: EIO"));

  FakeCalls stuck(tree.directory());
  stuck.hold("proc/stat");
  const ProbeRun run = run_on(k_probe, tree.directory(), stuck, impatient());
  CHECK(mentions(run.reading.stalled, "/proc/stat: no answer within"));
  CHECK_FALSE(run.reading.unavailable.empty());
  CHECK(run.abandoned == 1);
}

TEST_CASE("a stuck mountinfo does not cost the rows", "[cpu_time]") {
  const TemporaryTree tree;
  tree.write("proc/stat", "cpu0 1 2 3 4\n");
  FakeCalls calls(tree.directory());
  calls.hold("proc/self/mountinfo");
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  CHECK(run.reading.number("cpu0", "user") == 1U);
  CHECK(mentions(run.reading.notes, "mountinfo: no answer within"));
}
