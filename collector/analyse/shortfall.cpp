#include "collector/analyse/shortfall.hpp"

#include <algorithm>
#include <string_view>

namespace cozy {

namespace {

/// What follows from a reading without data.
std::string consequence_without_data(const Legend& legend, int sample, const AnalysisOptions& options) {
  const bool read_once = legend.samples.size() == 1;
  if (read_once) return "it is read once: nothing else in this report says what it would have said";
  if (sample == 1) return "the later reading will have no partner";
  if (options.wait_passed.value_or(false)) return "this run leaves no healthy baseline";
  return "no rate for this wait";
}

/// A vCPU whose own statistics were read is alive, whatever debugfs has of its VM.
bool has_vcpu_statistics(const Reading& reading) {
  return std::any_of(reading.rows.begin(), reading.rows.end(),
                     [](const Row& row) { return row.scope.find("/vcpu") != std::string::npos; });
}

const Legend* legend_of(const std::string& capture, const AnalysisOptions& options) {
  const auto found =
      std::find_if(options.known.begin(), options.known.end(), [&](const Legend& l) { return l.capture == capture; });
  return found == options.known.end() ? nullptr : &*found;
}

CaptureState state_of(const SampleCapture& file) {
  const Capture& capture = file.capture;
  return {capture.name,
          capture.sample,
          capture.judgement.outcome,
          capture.judgement.reason,
          capture.begin_stamp,
          capture.end_stamp,
          file.reading.stalled,
          file.file,
          capture.judgement.gauges_only};
}

CaptureState missing_state(const std::string& capture, int sample) {
  CaptureState state;
  state.name = capture;
  state.sample = sample;
  state.reason = "the report has no such file";
  return state;
}

}  // namespace

std::string consequence_of(Outcome outcome, int sample, const Legend& legend, const AnalysisOptions& options) {
  if (!holds_data(outcome)) return consequence_without_data(legend, sample, options);
  std::string_view words = legend.partial_means;
  if (words.ends_with('.')) words.remove_suffix(1);  // it becomes a part of a line
  return words.empty() ? "a difference with this reading misses what was not reached" : std::string(words);
}

std::vector<CaptureState> capture_states(const Snapshot& snapshot, const AnalysisOptions& options) {
  std::vector<CaptureState> states;
  for (const Legend& legend : options.known) {
    for (const int sample : legend.samples) {
      if (sample > options.last_sample) continue;
      const SampleCapture* file = snapshot.find(legend.capture, sample);
      if (file != nullptr) {
        states.push_back(state_of(*file));
      } else if (!options.not_asked.contains(legend.capture)) {
        states.push_back(missing_state(legend.capture, sample));
      }
    }
  }
  return states;
}

std::vector<Shortfall> find_shortfalls(const Snapshot& snapshot, const std::vector<CaptureState>& states,
                                       const AnalysisOptions& options) {
  std::vector<Shortfall> shortfalls;
  for (const CaptureState& state : states) {
    const Legend* legend = legend_of(state.name, options);
    if (legend == nullptr) continue;
    if (state.outcome != Outcome::complete) {
      const std::string follows = consequence_of(state.outcome, state.sample, *legend, options);
      shortfalls.push_back({state.name, state.sample, state.outcome, state.reason, follows, state.begin});
    } else if (state.name == "sandbox-kvm-exits") {
      const SampleCapture* file = snapshot.find(state.name, state.sample);
      if (file == nullptr || !vms_of(file->reading).empty() || has_vcpu_statistics(file->reading)) continue;
      shortfalls.push_back({state.name, state.sample, state.outcome, "KVM is loaded and no VM is alive",
                            "there is no VM to make a rate of", state.begin});
    }
  }
  return shortfalls;
}

}  // namespace cozy
