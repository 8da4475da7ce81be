// Reports as they come: directories, archives, archives in archives, cut and hostile ones.
#include "collector/report/open.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "collector/report/archive.hpp"
#include "tests/report/archive_fixture.hpp"
#include "tests/report/made_archives.hpp"

using namespace cozy;
using namespace made_archives;
using archive_tests::Scratch;
namespace fs = std::filesystem;

namespace {

const std::string k_inside = "snapshots/kubernetes-latest/";

std::uint64_t delta(const Report& report, const std::string& field) {
  const SampleCapture* before = runner_of(report, 1);
  const SampleCapture* after = runner_of(report, 2);
  REQUIRE(before != nullptr);
  REQUIRE(after != nullptr);
  return after->reading.number("cpu", field).value_or(0) - before->reading.number("cpu", field).value_or(0);
}

std::string report_tar(const std::string& prefix = "./cozyreport/") {
  return tar_member(prefix + k_inside + k_runner, proc_stat(1)) +
         tar_member(prefix + k_inside + k_runner_2, proc_stat(7)) + k_tar_end;
}

}  // namespace

TEST_CASE("A01, A02, A04: links, devices and names that lead out are refused by name, the rest is read",
          "[report][open]") {
  struct Case {
    std::string id;
    std::string refused;
  };
  const std::vector<Case> cases{{"A01", "moo, ./cozyreport/snapshots/kubernetes-latest/logs"},
                                {"A02", "a/b, a/c, a/null, a/pipe"},
                                {"A04", "../report-evil/x.txt"}};
  for (const Case& c : cases) {
    INFO(c.id);
    const Report report = report_of(fixture(c.id + "/report.tgz"));
    CHECK(refused_names(report) == c.refused);
    CHECK_FALSE(report.truncated);
    CHECK(report.origin == Origin::shell);
    CHECK(delta(report, "user") == 1200);  // 60.0 % of 2000
    CHECK(delta(report, "system") == 200);
    CHECK(delta(report, "idle") == 600);
  }
}

TEST_CASE("A05: a member of 101 MiB between the captures is passed by", "[report][open]") {
  const std::string base = "./cozyreport/" + k_inside;
  std::string console = tar_header(base + "tenant-serial-console/console.log", 101ULL << 20U);
  console.resize(console.size() + (101UL << 20U));
  const std::string tgz = gzip(tar_member(base + k_runner, fixture("A05/proc-stat-1.txt")) + console +
                               tar_member(base + k_runner_2, fixture("A05/proc-stat-2.txt")) + k_tar_end);
  console.clear();
  const Report report = report_of(tgz);
  CHECK_FALSE(report.truncated);
  CHECK(delta(report, "user") == 1200);
  CHECK(report.notes.empty());
}

TEST_CASE("A11: a sample that was never collected is unavailable and says why", "[report][open]") {
  const auto report = open_report(std::string(COZY_FIXTURES) + "/cases/A11/report");
  REQUIRE(report.ok());
  REQUIRE(report->snapshots.size() == 1);
  const Snapshot& snapshot = report->snapshots[0];
  const SampleCapture* second = snapshot.find("runner-kernel-cpu-time", 2);
  REQUIRE(second != nullptr);
  CHECK(snapshot.find("runner-kernel-cpu-time", 1)->capture.judgement.outcome == Outcome::complete);
  CHECK(second->capture.judgement.outcome == Outcome::unavailable);
  CHECK(has(second->capture.judgement.reason, "the read gave no row"));
  CHECK(second->capture.sidecar == "COLLECTION-FAILED.txt");
  CHECK(second->reading.rows.empty());
  const Marker* marker = snapshot.marker("runner-kernel-cpu-time", 2, "COLLECTION-FAILED.txt");
  REQUIRE(marker != nullptr);
  CHECK(marker->text == "cat: /proc/stat: Input/output error\n");
  const SampleCapture* threads = snapshot.find("sandbox-qemu-thread-cpu", 2);
  REQUIRE(threads != nullptr);
  CHECK(threads->capture.judgement.outcome == Outcome::complete);
  CHECK(threads->reading.number("thread 412/419", "utime") == 51534);
}

TEST_CASE("A14: all members whole and the checksum missing is truncated all the same", "[report][open]") {
  const Report report = report_of(fixture("A14/report.tgz"));
  CHECK(report.truncated);
  CHECK(has(report.truncated_why, "checksum"));
  REQUIRE(report.snapshots.size() == 1);
  CHECK(report.snapshots[0].captures.size() == 4);
  for (const SampleCapture& file : report.snapshots[0].captures)
    CHECK(file.capture.judgement.outcome == Outcome::complete);
  CHECK(delta(report, "user") == 1200);
}

TEST_CASE("a report is found wherever it begins in its archive", "[report][open]") {
  for (const std::string prefix : {"", "./", "cozyreport/", "./cozyreport/", "a/b/cozyreport/", "./snapshots/"}) {
    INFO(prefix);
    const Report report = report_of(report_tar(prefix));
    CHECK(user_of(report) == 1);
    CHECK(user_of(report, 2) == 7);
    CHECK(runner_of(report)->file == k_inside + k_runner);
    CHECK(report.notes.empty());
  }
}

TEST_CASE("two reports in one archive are not mixed", "[report][open]") {
  const std::string old_1 = tar_member("cozyreport/a/cozyreport/" + k_inside + k_runner, proc_stat(90));
  const std::string ours_2 = tar_member("./cozyreport/" + k_inside + k_runner_2, proc_stat(2));
  const std::string other_1 = tar_member("other/" + k_inside + k_runner, proc_stat(50));
  SECTION("the one that begins highest is read") {
    const Report report = report_of(old_1 + ours_2 + k_tar_end);
    CHECK(runner_of(report, 1) == nullptr);
    CHECK(user_of(report, 2) == 2);
    CHECK(has(notes_of(report), "a second report begins at cozyreport/a/cozyreport: it is left out, 1 file"));
  }
  SECTION("of two at one height, the first") {
    const Report report = report_of(ours_2 + other_1 + k_tar_end);
    CHECK(runner_of(report, 1) == nullptr);
    CHECK(user_of(report, 2) == 2);
    CHECK(has(notes_of(report), "a second report begins at other"));
  }
  SECTION("files beside an archive and in it are two reports too") {
    const Report report =
        report_of(Zip().add("r.tgz", gzip(old_1 + k_tar_end)).add("x/" + k_inside + k_runner, proc_stat(3)).bytes());
    CHECK(user_of(report) == 3);
    CHECK(has(notes_of(report), "r.tgz: cozyreport/a/cozyreport"));
  }
}

TEST_CASE("of a file that stands there twice the first counts", "[report][open]") {
  const Report report = report_of(tar_member(k_inside + k_runner, proc_stat(1)) +
                                  tar_member("./" + k_inside + "/" + k_runner, proc_stat(2)) + k_tar_end);
  CHECK(user_of(report) == 1);
  CHECK(has(notes_of(report), "stands there twice, the first counts"));
}

TEST_CASE("a zip around a tgz, around files, stored or deflated, from a pipe or not", "[report][open]") {
  for (const bool deflate : {false, true}) {
    for (const bool behind : {false, true}) {
      for (const bool wide : {false, true}) {
        const ZipForm form{deflate, behind, wide, 0x0800};
        INFO("deflate " << deflate << " sizes behind " << behind << " zip64 " << wide);
        const std::string wrapped =
            Zip(form).add("readme.txt", "x").add("cozyreport.tgz", gzip(report_tar())).add("empty", "").bytes();
        const Report inner = report_of(wrapped);
        CHECK(user_of(inner, 2) == 7);
        CHECK_FALSE(inner.truncated);
        CHECK(inner.refused.empty());
        const Report plain = report_of(
            Zip(form).add("cozyreport/", "", 040755).add("cozyreport/" + k_inside + k_runner, proc_stat(5)).bytes());
        CHECK(user_of(plain) == 5);
        CHECK_FALSE(plain.truncated);
      }
    }
  }
  CHECK(user_of(report_of(Zip().add("cozyreport.tar", report_tar()).bytes())) == 1);
}

TEST_CASE("an archive deeper than one level is named and not opened", "[report][open]") {
  const std::string tgz = gzip(report_tar());
  const std::string zip = Zip().add("cozyreport.tgz", tgz).bytes();
  SECTION("zip, zip, tgz") {
    const Report report = report_of(Zip().add("inner.zip", zip).bytes());
    CHECK(report.snapshots.empty());
    CHECK(refused_names(report) == "inner.zip: cozyreport.tgz");
    CHECK(has(report.refused[0].reason, "not opened"));
  }
  SECTION("zip, tgz, tgz") {
    const Report report = report_of(Zip().add("a.tgz", gzip(tar_member("b.tgz", tgz) + k_tar_end)).bytes());
    CHECK(report.snapshots.empty());
    CHECK(refused_names(report) == "a.tgz: b.tgz");
  }
  SECTION("in a tar it is other people's") {
    const Report report =
        report_of(gzip(tar_member("support.tgz", tgz) + tar_member("support.zip", zip) + report_tar()));
    CHECK(user_of(report) == 1);
    CHECK(refused_names(report) == "support.tgz, support.zip");
  }
  SECTION("a compressed log is no archive") {
    const Report report = report_of(Zip().add("log.gz", gzip(std::string(5000, 'l'))).add("r.tgz", tgz).bytes());
    CHECK(user_of(report) == 1);
    CHECK(report.refused.empty());
    CHECK_FALSE(report.truncated);
  }
}

TEST_CASE("a link in a zip is known by the directory at its end", "[report][open]") {
  const Report report = report_of(Zip()
                                      .add(k_inside + k_runner, proc_stat(1))
                                      .add(k_inside + k_runner_2, "../../../../../../etc/passwd", 0120777)
                                      .add("pipe", "", 010644)
                                      .bytes());
  CHECK(user_of(report) == 1);
  CHECK(runner_of(report, 2) == nullptr);
  CHECK(refused_names(report) == k_inside + k_runner_2 + ", pipe");
}

TEST_CASE("names are bytes, and are shown escaped", "[report][open]") {
  const std::string name = "cozyreport/snapshots/k\xc3\xa9\xff\n\xe2\x80\xa8::error::/" + k_runner;
  const std::string escaped = "k\xc3\xa9\\xff\\x0a\\xe2\\x80\\xa8::error::";
  const auto check = [&](const Report& report) {
    REQUIRE(report.snapshots.size() == 1);
    CHECK(escape(report.snapshots[0].name) == escaped);
    CHECK(user_of(report) == 4);
  };
  SECTION("tar") { check(report_of(tar_member(name, proc_stat(4)) + k_tar_end)); }
  SECTION("zip, whatever it says of its names") {
    check(report_of(Zip().add(name, proc_stat(4)).bytes()));
    check(report_of(Zip({true, true, false, 0}).add(name, proc_stat(4)).bytes()));
  }
  SECTION("pax, whose names are UTF-8 by its rules") {
    const std::string utf8 = "cozyreport/snapshots/k\xc3\xa9/" + k_runner;
    const std::string record = " path=" + utf8 + "\n";
    const std::string length = std::to_string(record.size() + 2);
    const Report report =
        report_of(tar_member("x", length + record, 'x') + tar_member("short", proc_stat(4)) + k_tar_end);
    REQUIRE(report.snapshots.size() == 1);
    CHECK(report.snapshots[0].name == "k\xc3\xa9");
  }
  SECTION("what is refused") {
    const Report report = report_of(tar_member("/etc/\x1b[31m\xff", "x") + k_tar_end);
    CHECK(refused_names(report) == "/etc/\\x1b[31m\\xff");
    CHECK(report.refused[0].reason == "an absolute name");
  }
}

TEST_CASE("a long name is shown up to a whole character", "[report][open]") {
  std::string euros;
  while (euros.size() < 300) euros += "\xe2\x82\xac";
  const std::string name = GENERATE("", "a", "ab") + euros;
  const std::string zip = Zip({false, false}).add(name, std::string(4096, 'x')).bytes();
  const std::string tar = tar_member("././@LongLink", name + '\0', 'L') + tar_member("x", std::string(4096, 'x'));
  for (const std::string& whole : {zip, tar}) {
    const Report report = report_of(whole.substr(0, 2000));
    CHECK(report.truncated_why.find("in the member ") != std::string::npos);
    CHECK(make_line(report.truncated_why) == report.truncated_why);
  }
}

TEST_CASE("what is refused is a matter of components", "[report][open]") {
  std::string tar;
  for (const std::string name :
       {"..", "a/../b", "a/..", "./../b", "/a", "//a", "a/..b", "a../b", "...", "a/.", "./a"}) {
    tar += tar_member(name, "x");
  }
  CHECK(refused_names(report_of(tar + k_tar_end)) == ".., a/../b, a/.., ./../b, /a, //a");
}

TEST_CASE("what packing makes, opening reads: our own report, out of its directory and out of its archive",
          "[report][open]") {
  const Scratch scratch;
  Capture capture;
  capture.name = "runner-kernel-cpu-time";
  capture.snapshot = "s";
  capture.text = "cpu  1 2 3 4 5 6 7 8 9 10\n";
  capture.judgement.outcome = Outcome::complete;
  capture.end = {0, "exited 0", ""};
  capture.begin_stamp = Stamp{1000, 2000};
  capture.end_stamp = Stamp{1500, 2500};
  const std::string text = format_capture(capture, *find_legend(capture.name));
  archive_tests::write(scratch.report() / "snapshots/s" / k_runner, text);
  archive_tests::write(scratch.report() / "sandbox-host/runner-identity.txt", "shape: large\n");
  REQUIRE(pack(scratch.report().string(), scratch.output()).ok());
  for (const std::string& path :
       {scratch.report().string(), scratch.output(), scratch.report().parent_path().string()}) {
    INFO(path);
    const auto report = open_report(path);
    REQUIRE(report.ok());
    CHECK(report->path == path);
    CHECK(report->origin == Origin::cozybracket);
    CHECK_FALSE(report->truncated);
    CHECK(report->runner_identity == "shape: large\n");
    REQUIRE(runner_of(*report) != nullptr);
    CHECK(runner_of(*report)->capture.judgement.outcome == Outcome::complete);
    CHECK(runner_of(*report)->capture.begin_stamp->boottime_ns == 1000);
    CHECK(runner_of(*report)->file == "snapshots/s/" + k_runner);
  }
}

TEST_CASE("standard input, a pipe, and what is no report", "[report][open]") {
  const Scratch scratch;
  SECTION("standard input") {
    const std::string said = archive_tests::in_child([&]() -> std::string {
      archive_tests::write(scratch.path("r"), gzip(report_tar()));
      const int file = ::open(scratch.path("r").c_str(), O_RDONLY);
      ::dup2(file, STDIN_FILENO);
      const auto report = open_report("-");
      return report && !report->snapshots.empty() && !report->truncated ? "read" : "not read";
    });
    CHECK(said == "read");
  }
  SECTION("a FIFO without a writer is not waited for") {
    REQUIRE(::mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
    const auto report = open_report(scratch.path("fifo").string());
    REQUIRE_FALSE(report.ok());
    CHECK(has(report.error().text(), "is empty"));
  }
  SECTION("errors name the path") {
    archive_tests::write(scratch.path("text"), "this is no archive\n" + std::string(5000, 'x'));
    archive_tests::write(scratch.path("empty"), "");
    fs::create_directories(scratch.path("bare/a/b"));
    for (const std::string name : {"text", "empty", "nowhere", "bare"}) {
      const auto report = open_report(scratch.path(name).string());
      REQUIRE_FALSE(report.ok());
      CHECK(has(report.error().text(), name));
    }
  }
  SECTION("an archive without a report is no error") {
    const Report report = report_of(tar_member("a.txt", "x") + k_tar_end);
    CHECK(report.snapshots.empty());
    CHECK(report.origin == Origin::unknown);
  }
}

TEST_CASE("a directory with the report further below, and none behind a link", "[report][open]") {
  const Scratch scratch;
  archive_tests::write(scratch.path("top/x/cozyreport/snapshots/s") / k_runner, proc_stat(3));
  fs::create_directories(scratch.path("links"));
  fs::create_directory_symlink(scratch.path("top/x/cozyreport"), scratch.path("links/cozyreport"));
  const auto report = open_report(scratch.path("top").string());
  REQUIRE(report.ok());
  CHECK(user_of(*report) == 3);
  CHECK(has(notes_of(*report), "the report begins at"));
  CHECK_FALSE(open_report(scratch.path("links").string()).ok());
  archive_tests::write(scratch.path("top/y/cozyreport/snapshots/s") / k_runner, proc_stat(4));
  const auto two = open_report(scratch.path("top").string());
  REQUIRE(two.ok());
  CHECK(user_of(*two) == 3);
  CHECK(has(notes_of(*two), "a second report begins at"));
}

TEST_CASE("a report of both writers says so", "[report][open]") {
  Capture capture;
  capture.name = "runner-kernel-cpu-time";
  capture.text = "cpu 1 2 3 4\n";
  capture.judgement.outcome = Outcome::complete;
  const std::string ours = format_capture(capture, *find_legend(capture.name));
  const Report report =
      report_of(tar_member(k_inside + k_runner, ours) + tar_member(k_inside + k_runner_2, proc_stat(1)) + k_tar_end);
  CHECK(report.origin == Origin::unknown);
  CHECK(runner_of(report, 1)->origin == Origin::cozybracket);
  CHECK(runner_of(report, 2)->origin == Origin::shell);
  CHECK(has(notes_of(report), "some by the shell collectors"));
}
