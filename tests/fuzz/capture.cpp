#include "collector/report/capture.hpp"

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

/// What was read of a whole file, written and read again.
void write_and_read(const Capture& capture) {
  const auto read = parse_capture(format_capture(capture, legends().front()));
  require(read.ok(), "a capture that was written can be read");
  require(read->name == capture.name && read->sample == capture.sample, "a capture keeps its name and sample");
  require_for(read->snapshot == capture.snapshot, "a capture keeps the name of its snapshot", capture.snapshot);
  require(read->text == capture.text, "a capture keeps its text");
  require(read->judgement.outcome == capture.judgement.outcome, "a capture keeps its outcome");
  require_for(read->judgement.reason == capture.judgement.reason, "a capture keeps its reason",
              capture.judgement.reason);
  require_for(read->end.words == capture.end.words, "a capture keeps how its read ended", capture.end.words);
  require(read->end.exit_code == capture.end.exit_code, "a capture keeps its exit code");
  require(read->bound_ns == capture.bound_ns && read->grace_ns == capture.grace_ns, "a capture keeps its bounds");
  require(read->begin_stamp.has_value() == capture.begin_stamp.has_value(), "a capture keeps its stamps");
  if (!capture.begin_stamp) return;
  require(read->begin_stamp->boottime_ns == capture.begin_stamp->boottime_ns &&
              read->end_stamp->epoch_ns == capture.end_stamp->epoch_ns,
          "a stamp is read as it was written");
}

}  // namespace

void capture(std::string_view bytes) {
  const auto read = parse_capture(bytes);
  if (!read) return require_harmless_line(read.error().text());
  require(bytes.starts_with(read->text), "the data of a file are its begin");
  require(read->sample == 1 || read->sample == 2, "a sample is 1 or 2");
  require(read->begin_stamp.has_value() == read->end_stamp.has_value(), "stamps come in pairs");
  require(read->bound_ns >= 0 && read->grace_ns >= 0, "a bound is not negative");
  const bool whole = read->end.shortfall.empty();
  require(whole || read->judgement.outcome != Outcome::complete, "a file that was cut is not complete");
  if (whole && !trim(read->snapshot).empty()) write_and_read(*read);
}

}  // namespace cozy::fuzz
