#include "collector/report/capture.hpp"
#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/readings.hpp"

namespace cozy::fuzz {

namespace {

Capture capture_of(const Probe& probe, std::string_view text, const Judgement& judgement) {
  Capture capture;
  capture.name = probe.name;
  capture.snapshot = "kubernetes";
  capture.text = text;
  capture.judgement = judgement;
  capture.end.words = "exited 0";
  return capture;
}

/// What the collector does with the text of a probe, and what a reader of the report gets back.
void write_and_read(const Capture& written, const Legend& legend) {
  const std::string file = format_capture(written, legend);
  const auto read = parse_capture(file);
  require(read.ok(), "a capture that was written can be read");
  const bool whole_line = written.text.empty() || written.text.ends_with('\n');
  require(read->text == written.text + (whole_line ? "" : "\n"), "the text of a capture is read as it was written");
  require(read->name == written.name && read->sample == written.sample && read->snapshot == written.snapshot,
          "a capture is read under the name it was written under");
  require(read->judgement.outcome == written.judgement.outcome, "an outcome is read as it was written");
  require_for(read->judgement.reason == written.judgement.reason, "a reason is read as it was written",
              written.judgement.reason);
}

}  // namespace

void probe_text(const Probe& probe, std::string_view bytes) {
  const Legend& legend = *find_legend(probe.name);
  const Reading reading = probe.parse(bytes);
  require_sound(reading);
  require(same(reading, probe.parse(bytes)), "a text is parsed the same way twice");
  const bool cut = !bytes.empty() && bytes.back() != '\n';
  require(!cut || !reading.partial.empty(), "a reading whose last line was cut is partial");

  const Judgement judgement = judge(reading, ReadEnd{}, legend);
  require_sound(judgement, reading);
  write_and_read(capture_of(probe, bytes, judgement), legend);
}

}  // namespace cozy::fuzz
