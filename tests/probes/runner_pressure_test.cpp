#include <cerrno>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "runner-pressure";

Reading parse(std::string_view text) { return find_probe(k_probe)->parse(text); }

Reading parse_case(std::string_view file) { return parse("[/proc/pressure/cpu]\n" + case_text("G04", file)); }

constexpr const char* k_lines =
    "some avg10=12.78 avg60=9.21 avg300=2.50 total=157276243\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

void write_pressure(const TemporaryTree& tree) {
  for (const char* resource : {"cpu", "memory", "io"}) tree.write(std::string("proc/pressure/") + resource, k_lines);
}

}  // namespace

TEST_CASE("pressure: a file of one line and one of two", "[pressure][G04]") {
  const Reading a = parse_case("pressure-a.txt");
  CHECK(a.number("cpu", "some.total_usec") == 12U);
  CHECK(a.find("cpu", "full.total_usec") == nullptr);
  const Reading b = parse_case("pressure-b.txt");
  CHECK(b.number("cpu", "some.total_usec") == 157276243U);
  CHECK(b.word("cpu", "some.avg10") == "12.78");
  CHECK(b.number("cpu", "full.total_usec") == 0U);
  CHECK(b.find("cpu", "some.total_usec")->kind == Kind::cumulative);
  CHECK(b.find("cpu", "some.avg10")->kind == Kind::instant);
}

TEST_CASE("pressure: PSI that is off is said once, and is no error", "[pressure][G03]") {
  const TemporaryTree tree;
  tree.write("proc/pressure/cpu", "");
  tree.write("proc/pressure/memory", case_text("G03", "pressure-memory.txt"));
  FakeCalls calls(tree.directory());
  calls.fail_all(case_text("G03", "faults.txt"));
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(run.reading.number("memory", "some.total_usec") == 4821U);
  CHECK(run.reading.number("memory", "full.total_usec") == 4100U);
  CHECK(run.reading.find("cpu", "some.total_usec") == nullptr);
  CHECK(run.reading.find("io", "some.total_usec") == nullptr);
  REQUIRE(run.reading.notes.size() == 1);
  CHECK(run.reading.notes[0].find("PSI is off") == 0);
  CHECK(mentions(run.reading.notes, "/proc/pressure/cpu: EOPNOTSUPP"));
  CHECK(mentions(run.reading.notes, "/proc/pressure/io: no such file"));
  CHECK(run.reading.refused.empty());
  CHECK(run.reading.partial.empty());
  CHECK(run.reading.finding.empty());
}

TEST_CASE("pressure: a kernel without any is a finding", "[pressure]") {
  const TemporaryTree tree;
  tree.write("proc/stat", "");
  const ProbeRun run = run_on(k_probe, tree.directory());
  CHECK(run.reading.finding.find("NO-PSI: PSI is off: ") == 0);
  CHECK(run.reading.rows.empty());
  CHECK(run.reading.unavailable.empty());
}

TEST_CASE("pressure: all three resources, each under its name", "[pressure]") {
  const TemporaryTree tree;
  write_pressure(tree);
  const ProbeRun run = run_on(k_probe, tree.directory());
  for (const char* resource : {"cpu", "memory", "io"}) {
    CHECK(run.reading.number(resource, "some.total_usec") == 157276243U);
    CHECK(run.reading.number(resource, "full.total_usec") == 7U);
  }
  CHECK(run.reading.rows.size() == 24);
  CHECK(run.reading.notes.empty());
}

TEST_CASE("pressure: a file that stalls or fails costs itself, and is no PSI that is off", "[pressure]") {
  const TemporaryTree tree;
  write_pressure(tree);
  FakeCalls calls(tree.directory());
  calls.hold("proc/pressure/memory");
  calls.fail("open", "proc/pressure/io", EACCES);
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  CHECK(run.reading.number("cpu", "some.total_usec") == 157276243U);
  CHECK(run.reading.find("memory", "some.total_usec") == nullptr);
  CHECK(run.reading.stalled.size() == 1);
  CHECK(mentions(run.reading.refused, "EACCES"));
  CHECK_FALSE(mentions(run.reading.notes, "PSI"));
}

TEST_CASE("pressure: wrong text is no number", "[pressure]") {
  const Reading reading = parse(
      "[/proc/pressure/cpu]\nsome avg10=nan avg60=-1.00 avg300=1e9 total=-5\nfull avg10=0.001 "
      "total=18446744073709551616\n"
      "[/proc/pressure/<b>]\nsome total=1\n[/proc/pressure/io]\nsome total=9\nsome total=10\nmost total=3\n"
      "[/proc/pressure/io]\nfull total=4\n[/proc/pressure/memory]\nsome total=12[note: x]\n");
  CHECK(reading.number("io", "some.total_usec") == 9U);
  CHECK(reading.rows.size() == 1);
  CHECK(reading.refused.size() == 6);
  CHECK(mentions(reading.partial, "memory some was cut in mid-line"));
  CHECK(parse("some total=5\n").unavailable.find("no line of /proc/pressure") == 0);
  CHECK(parse("").rows.empty());
  using namespace std::string_view_literals;
  CHECK(parse("\0[/proc/pressure/cpu]\nsome\xff total=\n"sv).rows.empty());
}
