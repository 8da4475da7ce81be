// Reports on disk, read back: whole ones, damaged ones, hostile ones.
#include <sys/stat.h>

#include <algorithm>

#include "collector/report/capture.hpp"
#include "collector/report/report.hpp"
#include "tests/report/archive_fixture.hpp"

using namespace archive_tests;
using namespace cozy;

namespace {

const std::string k_rows = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n";

std::string file_text(const std::string& text, int sample, Judgement judgement = {Outcome::complete, "", false}) {
  Capture capture;
  capture.name = "runner-kernel-cpu-time";
  capture.sample = sample;
  capture.snapshot = "kubernetes";
  capture.text = text;
  capture.judgement = std::move(judgement);
  capture.end = {0, "exited 0", ""};
  capture.begin_stamp = Stamp{1000, 2000};
  capture.end_stamp = Stamp{1500, 2500};
  return format_capture(capture, *find_legend(capture.name));
}

std::string path_of(const std::string& snapshot, int sample) {
  return "snapshots/" + snapshot + "/runner-kernel-cpu-time/sample-" + std::to_string(sample) + "/proc-stat.txt";
}

Report opened(const Scratch& scratch) {
  auto report = open_report_directory(scratch.report().string());
  REQUIRE(report.ok());
  return std::move(*report);
}

Judgement judgement_of(const std::string& text) {
  ReportBuilder builder;
  builder.add(path_of("kubernetes", 1), text);
  const Report report = builder.finish("x");
  REQUIRE(report.snapshots.size() == 1);
  const SampleCapture* found = report.snapshots[0].find("runner-kernel-cpu-time", 1);
  REQUIRE(found != nullptr);
  return found->capture.judgement;
}

bool notes_name(const Report& report, const std::string& words) {
  return join(report.notes, "\n").find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a report directory is read back by snapshot, capture and sample", "[report]") {
  const Scratch scratch;
  write(scratch.report() / path_of("kubernetes-latest", 1), file_text(k_rows, 1));
  write(scratch.report() / path_of("kubernetes-latest", 2), file_text(k_rows, 2));
  write(scratch.report() / path_of("kubernetes-previous", 1), file_text(k_rows, 1));
  write(scratch.report() / "snapshots/kubernetes-latest/other/sample-1/x.txt", "not ours");
  write(scratch.report() / "legends/x.json", "{}");
  const Report report = opened(scratch);
  REQUIRE(report.snapshots.size() == 2);
  CHECK(report.snapshots[0].name == "kubernetes-latest");
  CHECK(report.snapshots[0].captures.size() == 2);
  CHECK(report.snapshots[1].find("runner-kernel-cpu-time", 1) != nullptr);
  CHECK(report.snapshots[1].find("runner-kernel-cpu-time", 2) == nullptr);
  const SampleCapture& second = *report.snapshots[0].find("runner-kernel-cpu-time", 2);
  CHECK(second.file == path_of("kubernetes-latest", 2));
  CHECK(second.capture.snapshot == "kubernetes-latest");  // by the path, whatever the file says
  CHECK(second.capture.judgement.outcome == Outcome::complete);
  CHECK(second.reading.number("cpu0", "steal") == 8);
  CHECK(report.notes.empty());
}

TEST_CASE("no report, an empty one, and one that is a file", "[report]") {
  const Scratch scratch;
  const auto missing = open_report_directory(scratch.path("nowhere").string());
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().text().find("nowhere") != std::string::npos);
  write(scratch.path("file"), "x");
  CHECK_FALSE(open_report_directory(scratch.path("file").string()).ok());
  fs::create_directories(scratch.report() / "snapshots");
  CHECK(opened(scratch).snapshots.empty());
}

TEST_CASE("the worse of what was written and what the text shows is taken", "[report]") {
  SECTION("written as complete, but without a row") {
    const Judgement judgement = judgement_of(file_text("intr 5\n", 1));
    CHECK(judgement.outcome == Outcome::unavailable);
    CHECK(judgement.reason.find("no cpu row") != std::string::npos);
  }
  SECTION("written as partial: the text cannot know how its read ended") {
    const Judgement judgement = judgement_of(file_text(k_rows, 1, {Outcome::partial, "bound reached", false}));
    CHECK(judgement.outcome == Outcome::partial);
    CHECK(judgement.reason == "bound reached");
  }
  SECTION("written as unavailable") {
    CHECK(judgement_of(file_text(k_rows, 1, {Outcome::unavailable, "why", false})).outcome == Outcome::unavailable);
  }
  SECTION("cut before its end") {
    std::string text = file_text(k_rows, 1);
    SECTION("before the exit code") { text.resize(text.rfind("[capture exit code")); }
    SECTION("before the outcome") { text.resize(text.rfind("[outcome: ")); }
    SECTION("in the legend") { text.resize(text.find("[end of the data") + 80); }
    const Judgement judgement = judgement_of(text);
    CHECK(judgement.outcome == Outcome::partial);
    CHECK(judgement.reason.find("end is unknown") != std::string::npos);
  }
  SECTION("cut, and without a row") {
    std::string text = file_text("intr 5\n", 1);
    text.resize(text.rfind("[outcome: "));
    CHECK(judgement_of(text).outcome == Outcome::unavailable);
  }
}

TEST_CASE("a path counts wherever the report begins in it, and only as a whole", "[report]") {
  const auto taken = [](const std::string& path) {
    ReportBuilder builder;
    builder.add(path, file_text(k_rows, 1));
    return !builder.finish("x").snapshots.empty();
  };
  CHECK(taken(path_of("a", 1)));
  CHECK(taken("./cozyreport/" + path_of("a", 1)));
  CHECK(taken("/deep/er/" + path_of("a", 2)));
  CHECK_FALSE(taken("snapshots/a/runner-kernel-cpu-time/sample-3/proc-stat.txt"));
  CHECK_FALSE(taken("snapshots/a/runner-kernel-cpu-time/sample-01/proc-stat.txt"));
  CHECK_FALSE(taken("snapshots/a/runner-kernel-cpu-time/sample-1/shape.txt"));
  CHECK_FALSE(taken("snapshots/a/no-such-capture/sample-1/proc-stat.txt"));
  CHECK_FALSE(taken("snapshot/a/runner-kernel-cpu-time/sample-1/proc-stat.txt"));
  CHECK_FALSE(taken("a/runner-kernel-cpu-time/sample-1/proc-stat.txt"));
  CHECK_FALSE(taken(""));
}

TEST_CASE("a file that stands there twice counts once, and it is said", "[report]") {
  ReportBuilder builder;
  builder.add(path_of("a", 1), file_text(k_rows, 1));
  builder.add("./" + path_of("a", 1), file_text("cpu  9 9 9 9\n", 1));
  const Report report = builder.finish("x");
  REQUIRE(report.snapshots.size() == 1);
  CHECK(report.snapshots[0].captures.size() == 1);
  CHECK(report.snapshots[0].find("runner-kernel-cpu-time", 1)->reading.number("cpu", "user") == 1);
  CHECK(notes_name(report, "twice"));
}

TEST_CASE("lines of a timeline that are left out are noted", "[report]") {
  const std::string file = "snapshots/a/timeline/timeline.jsonl";
  const std::string head = R"({"schema":"cozybracket-timeline-1","interval_ns":1000000000})"
                           "\n";
  const auto noted = [&](const std::string& lines) {
    ReportBuilder builder;
    builder.add(file, head + lines);
    return notes_name(builder.finish("x"), "left out");
  };
  CHECK(noted("{\"t\":\n{}\n"));
  CHECK_FALSE(noted(R"({"t":[1,2,3,4],"cpu":[1]})"
                    "\n"));
  CHECK_FALSE(noted(R"({"t":[1,2,3,)"));
}

TEST_CASE("what cannot be read of a report is noted, and the rest is read", "[report]") {
  const Scratch scratch;
  write(scratch.report() / path_of("a", 1), file_text(k_rows, 1));
  write(scratch.report() / path_of("b", 1), "cpu 1 2 3\n");
  fs::create_directories((scratch.report() / path_of("c", 1)).parent_path());
  REQUIRE(::mkfifo((scratch.report() / path_of("c", 1)).c_str(), 0644) == 0);
  fs::create_directories(scratch.report() / path_of("d", 1));
  write(scratch.path("outside"), file_text(k_rows, 1));
  fs::create_directories((scratch.report() / path_of("e", 1)).parent_path());
  fs::create_symlink(scratch.path("outside"), scratch.report() / path_of("e", 1));
  fs::create_directories(scratch.report() / "snapshots/f");
  fs::create_symlink(scratch.report() / "snapshots/a/runner-kernel-cpu-time",
                     scratch.report() / "snapshots/f/runner-kernel-cpu-time");
  fs::create_symlink(scratch.report() / "snapshots/a", scratch.report() / "snapshots/g");
  write(scratch.report() / path_of("h\n::error::", 1), "no capture");
  const Report report = opened(scratch);
  REQUIRE(report.snapshots.size() == 3);
  CHECK(report.snapshots[0].name == "a");
  CHECK(report.snapshots[1].captures.at(0).capture.judgement.outcome == Outcome::partial);  // rows, and no end
  CHECK(report.snapshots[1].captures.at(0).origin == Origin::unknown);
  CHECK(report.snapshots[2].name == "h\n::error::");
  CHECK(report.snapshots[2].captures.at(0).capture.judgement.outcome == Outcome::unavailable);
  CHECK(notes_name(report, "snapshots/c/runner-kernel-cpu-time/sample-1/proc-stat.txt: is a FIFO"));
  CHECK(notes_name(report, "snapshots/d/runner-kernel-cpu-time/sample-1/proc-stat.txt: is a directory"));
  CHECK(notes_name(report, "snapshots/e/runner-kernel-cpu-time/sample-1/proc-stat.txt: ELOOP"));
  CHECK(notes_name(report, "snapshots/f/runner-kernel-cpu-time/sample-1/proc-stat.txt: ELOOP"));
}

TEST_CASE("a folder of snapshots that is a link is not followed", "[report]") {
  const Scratch scratch;
  write(scratch.path("other") / path_of("a", 1), file_text(k_rows, 1));
  fs::create_symlink(scratch.path("other") / "snapshots", scratch.report() / "snapshots");
  const auto report = open_report_directory(scratch.report().string());
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().text().find("symbolic link") != std::string::npos);

  fs::create_directory_symlink(scratch.path("other"),
                               scratch.path("way"));  // the caller's own path may lead through one
  CHECK(open_report_directory(scratch.path("way").string()).ok());
}

TEST_CASE("notes and snapshots have a cap", "[report]") {
  ReportBuilder builder;
  for (int i = 0; i < 300; ++i) {
    builder.add(path_of("s" + std::to_string(i), 1), file_text(k_rows, 1));
    builder.add(path_of("n" + std::to_string(i), 1), "no capture");
  }
  const Report report = builder.finish("x");
  CHECK(report.snapshots.size() == 64);
  CHECK(report.notes.size() == 100);
}
