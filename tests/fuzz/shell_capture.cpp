#include "collector/report/shell_capture.hpp"

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/readings.hpp"

namespace cozy::fuzz {

namespace {

void require_sound_capture(const SampleCapture& file) {
  require_sound(file.reading);
  require_sound(file.capture.judgement, file.reading);
  require_harmless_line(file.capture.end.words);
  require_harmless_line(file.capture.end.shortfall);
  const bool whole = file.capture.end.shortfall.empty();
  require(whole || file.capture.judgement.outcome != Outcome::complete, "a file of unknown end is not complete");
}

/// A sample that has its file, and one that has a message alone.
void settle(SampleCapture file, std::string_view bytes, const Legend& legend) {
  Snapshot snapshot;
  snapshot.name = "kubernetes";
  file.capture.name = legend.capture;
  file.capture.sample = 1;
  snapshot.captures.push_back(std::move(file));
  for (const int sample : legend.samples) {
    snapshot.markers.push_back({legend.capture, sample, "COLLECTION-FAILED.txt", std::string(bytes), "", sample});
  }
  settle_markers(snapshot);
  for (const SampleCapture& settled : snapshot.captures) require_harmless_line(settled.capture.judgement.reason);
}

}  // namespace

void shell_capture(std::string_view bytes) {
  for (const Probe& probe : probes()) {
    const Legend& legend = *find_legend(probe.name);
    SampleCapture file = read_shell_capture(bytes, probe, legend);
    require_sound_capture(file);
    settle(std::move(file), bytes, legend);
  }
}

}  // namespace cozy::fuzz
