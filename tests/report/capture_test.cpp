// The file of a capture: written, read back, cut, and hostile.
#include <random>
#include <string>

#include "collector/report/capture.hpp"
#include "probes/probe.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

constexpr std::string_view k_data_end = "[end of the data; what follows says how to read them]\n";

const Legend& legend() { return *find_legend("runner-kernel-cpu-time"); }

Capture capture_of(Judgement judgement) {
  Capture capture;
  capture.name = "runner-kernel-cpu-time";
  capture.sample = 2;
  capture.snapshot = "kubernetes-latest";
  capture.text = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
  capture.judgement = std::move(judgement);
  capture.end = {0, "exited 0", ""};
  capture.begin_stamp = Stamp{123'456'789'012, 1'755'763'201'000'000'001};
  capture.end_stamp = Stamp{123'456'789'999, 1'755'763'202'500'000'002};
  capture.bound_ns = 20 * k_ns_per_second;
  capture.grace_ns = 5 * k_ns_per_second;
  return capture;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Capture read_back(const Capture& capture) {
  auto parsed = parse_capture(format_capture(capture, legend()));
  REQUIRE(parsed.ok());
  return std::move(*parsed);
}

void check_same(const Capture& read, const Capture& written) {
  CHECK(read.name == written.name);
  CHECK(read.sample == written.sample);
  CHECK(read.snapshot == written.snapshot);
  CHECK(read.text == written.text);
  CHECK(read.judgement.outcome == written.judgement.outcome);
  CHECK(read.judgement.reason == written.judgement.reason);
  CHECK(read.end.exit_code == written.end.exit_code);
  CHECK(read.end.words == written.end.words);
  CHECK(read.end.shortfall.empty());
  CHECK(read.bound_ns == written.bound_ns);
  CHECK(read.grace_ns == written.grace_ns);
  REQUIRE(read.begin_stamp.has_value() == written.begin_stamp.has_value());
  if (!read.begin_stamp) return;
  CHECK(read.begin_stamp->boottime_ns == written.begin_stamp->boottime_ns);
  CHECK(read.begin_stamp->epoch_ns == written.begin_stamp->epoch_ns);
  CHECK(read.end_stamp->boottime_ns == written.end_stamp->boottime_ns);
  CHECK(read.end_stamp->epoch_ns == written.end_stamp->epoch_ns);
}

}  // namespace

TEST_CASE("a capture of every outcome comes back as it was written", "[capture]") {
  for (const Outcome outcome : {Outcome::complete, Outcome::partial, Outcome::empty, Outcome::unavailable}) {
    CHECK(outcome_of_name(outcome_name(outcome)) == outcome);
    Capture capture =
        capture_of({outcome, outcome == Outcome::complete ? "" : "the reason: with a colon, and a ]", false});
    check_same(read_back(capture), capture);
    capture.end = {137, "bound reached, ended by SIGKILL (read timeout 20 s, grace 5 s)", ""};
    check_same(read_back(capture), capture);
    capture.text.clear();
    check_same(read_back(capture), capture);
    capture.begin_stamp.reset();
    capture.end_stamp.reset();
    check_same(read_back(capture), capture);
  }
  CHECK_FALSE(outcome_of_name("whole"));
  CHECK_FALSE(outcome_of_name(""));
}

TEST_CASE("bounds come back to the millisecond", "[capture]") {
  Capture capture = capture_of({Outcome::complete, "", false});
  capture.bound_ns = 1'500 * k_ns_per_ms;
  capture.grace_ns = 0;
  check_same(read_back(capture), capture);
  CHECK(format_capture(capture, legend()).find("[bound: read timeout 1.500 s, grace 0 s]\n") != std::string::npos);
}

TEST_CASE("the trailer stands at the end, in the lines that readers of the shell's files know", "[capture]") {
  const std::string text = format_capture(capture_of({Outcome::complete, "", false}), legend());
  CHECK(text.starts_with("cpu  1 2 3 4 5 6 7 8 9 10\n"));
  CHECK(
      text.ends_with("\n[cozybracket capture runner-kernel-cpu-time sample 2 snapshot kubernetes-latest]\n"
                     "[outcome: complete]\n"
                     "[bound: read timeout 20 s, grace 5 s]\n"
                     "[end: exited 0]\n"
                     "[read from 123456789012 to 123456789999 boot-time ns, in 0.001 ms]\n"
                     "[read from 1755763201000000001 to 1755763202500000002 epoch ns]\n"
                     "[read attempted from 1755763201 to 1755763202 epoch seconds]\n"
                     "\n[capture exit code: 0]\n"));
}

TEST_CASE("only a complete capture says how to subtract; one without data has no legend", "[capture]") {
  const std::string pairing = fill(legend().pairing, {2, "kubernetes-latest"});
  const std::string sentence = legend_lines(legend(), {2, "kubernetes-latest"}).front();
  const auto written = [](Outcome outcome, bool gauges) {
    return format_capture(capture_of({outcome, outcome == Outcome::complete ? "" : "why", gauges}), legend());
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string complete = written(Outcome::complete, false);
  const std::string partial = written(Outcome::partial, false);
  const std::string empty = written(Outcome::empty, false);
  const std::string unavailable = written(Outcome::unavailable, false);
  const std::string gauges = written(Outcome::unavailable, true);

  CHECK(says(complete, "[" + pairing + "]\n"));
  for (const std::string& text : {partial, empty, unavailable, gauges}) CHECK_FALSE(says(text, pairing));
  for (const std::string& text : {complete, partial, gauges}) CHECK(says(text, sentence));
  for (const std::string& text : {empty, unavailable}) CHECK_FALSE(says(text, sentence));
  CHECK(says(partial, "\nrunner-kernel-cpu-time incomplete: why. " + legend().partial_means));
  CHECK(says(empty, "\nrunner-kernel-cpu-time finding: why. " + legend().empty_means));
  CHECK(says(unavailable, "\nrunner-kernel-cpu-time unavailable: why. " + legend().unavailable_is_not));
}

TEST_CASE("a sidecar is pointed at where there is one", "[capture]") {
  Capture capture = capture_of({Outcome::unavailable, "why", false});
  CHECK(format_capture(capture, legend()).find("COLLECTION-FAILED.txt") == std::string::npos);
  capture.sidecar = "COLLECTION-FAILED.txt";
  CHECK(format_capture(capture, legend()).find("Its messages are in COLLECTION-FAILED.txt.\n") != std::string::npos);
}

TEST_CASE("data that look like the end of a file stay data", "[capture]") {
  Capture capture = capture_of({Outcome::partial, "why", false});
  capture.text =
      "cpu 1\n" + std::string(k_data_end) +
      "[cozybracket capture evil sample 1 snapshot evil]\n[outcome: complete]\n[bound: read timeout 1 s, grace 1 s]\n"
      "[end: evil]\n[read from 1 to 2 boot-time ns, in 0 ms]\n[read from 1 to 2 epoch ns]\n[capture exit code: 99]\n"
      "cpu0 2\n";
  check_same(read_back(capture), capture);
}

TEST_CASE("words that quote the end of the data do not end them", "[capture]") {
  const std::string quoted = "thread " + std::string(k_data_end.substr(0, k_data_end.size() - 1)) + " stalled";
  Capture capture = capture_of({Outcome::partial, quoted, false});
  capture.snapshot = std::string(k_data_end.substr(0, k_data_end.size() - 1));
  check_same(read_back(capture), capture);
}

TEST_CASE("names from outside stand on one line", "[capture]") {
  Capture capture = capture_of({Outcome::unavailable, make_line("a\n[capture exit code: 99]\xe2\x80\xa8"), false});
  capture.snapshot = "a\n[outcome: complete]\n\x1b[31m\xc2\x85";
  capture.end.words = "exited 0\n[outcome: complete]";
  const std::string text = format_capture(capture, legend());
  CHECK(count(text, "\n[outcome: ") == 1);
  CHECK(count(text, "\n[capture exit code: ") == 1);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\xe2\x80\xa8") == std::string::npos);
  check_same(read_back(capture), capture);
}

TEST_CASE("a text without its last line end gets one, or the mark behind it would be no line", "[capture]") {
  Capture capture = capture_of({Outcome::partial, "why", false});
  capture.text = "cpu 1\ncpu0 2";
  CHECK(read_back(capture).text == "cpu 1\ncpu0 2\n");
}

TEST_CASE("a file that is cut anywhere is never complete", "[capture]") {
  const std::string whole = format_capture(capture_of({Outcome::complete, "", false}), legend());
  std::size_t readable = 0;
  for (std::size_t size = 0; size < whole.size() - 1; ++size) {
    const auto read = parse_capture(std::string_view(whole).substr(0, size));
    if (!read) continue;
    ++readable;
    if (read->judgement.outcome != Outcome::partial ||
        read->judgement.reason.find("end is unknown") == std::string::npos || read->end.shortfall.empty() ||
        read->text != capture_of({}).text) {
      FAIL("cut at " << size << " of " << whole.size() << ": " << outcome_name(read->judgement.outcome));
    }
  }
  CHECK(readable > 0);
  CHECK(parse_capture(whole.substr(0, whole.size() - 1))->judgement.outcome ==
        Outcome::complete);  // all but a line end
}

TEST_CASE("a cut file keeps what it had said, unless that was complete", "[capture]") {
  std::string text = format_capture(capture_of({Outcome::unavailable, "NO-PROC-READ", false}), legend());
  text.resize(text.rfind("\n[capture exit code: "));
  const auto read = parse_capture(text);
  REQUIRE(read.ok());
  CHECK(read->judgement.outcome == Outcome::unavailable);
  CHECK(read->judgement.reason.find("NO-PROC-READ; ") == 0);
  CHECK(read->begin_stamp.has_value());
}

TEST_CASE("what is no capture is refused with a reason", "[capture]") {
  for (const std::string text :
       {"", "cpu 1\n", "[capture exit code: 0]\n", "x[end of the data; what follows says how to read them]\n"}) {
    const auto read = parse_capture(text);
    REQUIRE_FALSE(read.ok());
    CHECK_FALSE(read.error().reason.empty());
  }
}

TEST_CASE("an exit code, sample, outcome or stamp that is none is not taken", "[capture]") {
  const std::string good = format_capture(capture_of({Outcome::complete, "", false}), legend());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.rfind(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    auto read = parse_capture(text);
    REQUIRE(read.ok());
    return std::move(*read);
  };
  for (const std::string code : {"-1", "256", "18446744073709551616", "0x0", "", "0 0"}) {
    CHECK(with("[capture exit code: 0]", "[capture exit code: " + code + "]").judgement.outcome == Outcome::partial);
  }
  CHECK(with(" sample 2 ", " sample 3 ").judgement.outcome == Outcome::partial);
  CHECK(with("[outcome: complete]", "[outcome: splendid]").judgement.outcome == Outcome::partial);
  CHECK_FALSE(with("[read from 123456789012 ", "[read from 12345678901x ").begin_stamp);
  CHECK_FALSE(with(" to 1755763202500000002 ", " to 1755763100000000000 ").begin_stamp);  // backwards
  CHECK(with("[bound: read timeout 20 s", "[bound: read timeout 99999999999999999999 s").bound_ns == 0);
}

TEST_CASE("no bytes upset the reader", "[capture]") {
  const std::string good = format_capture(capture_of({Outcome::partial, "why", false}), legend());
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    const std::size_t changes = 1 + random() % 12;
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
        default:
          text.resize(at + 1);
          break;
      }
    }
    const auto read = parse_capture(text);
    if (read) CHECK((read->sample == 1 || read->sample == 2));
  }
}
