#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/report/capture.hpp"
#include "probes/probe.hpp"

namespace cozy {

/// Where and how a sample is taken.
struct SampleOptions {
  std::string report_dir = "_out/cozyreport";
  std::string snapshot = "kubernetes";
  std::string sandbox = ".";
  std::vector<NodeSpec> nodes;
  std::string root = "/";
  std::int64_t read_timeout_ns = 20 * k_ns_per_second;
  std::int64_t read_grace_ns = 5 * k_ns_per_second;
  std::vector<std::string> only;  ///< names of probes; empty for every one
  std::string program;            ///< this binary: spawned again as `probe NAME`
  std::int64_t spent_ns = 0;      ///< of the sample's time, before it is begun
  int interrupt_fd = -1;          ///< cuts the sample short when it becomes readable
};

/// What became of one capture.
struct CaptureOutcome {
  std::string name;
  Judgement judgement;
  std::vector<std::string> notes;  ///< of its reading: what a person should know
  std::optional<Stamp> at;         ///< when its read began
  std::string file;                ///< where it was written, below the report directory
  std::string write_error;         ///< why it could not be written; empty when it was
};

struct SampleOutcome {
  int sample = 1;
  std::vector<CaptureOutcome> captures;
  std::int64_t took_ns = 0;

  [[nodiscard]] bool nothing_written() const;
  [[nodiscard]] bool all_hold_data() const;
};

/// One source, read and judged, in memory.
struct ReadCapture {
  Capture capture;
  Reading reading;
  std::string messages;  ///< what the reader said on stderr
};

/// Reads the sources of a sample, all at the same time, and tells of each as soon as its read is over.
/// Returns within timeout + grace + 1 s.
void read_sources(const SampleOptions& options, int sample, const std::function<void(std::size_t, ReadCapture)>& done);

/// The probes that this sample takes, in the order of the table.
std::vector<const Probe*> chosen_probes(const SampleOptions& options, int sample);

/// Takes one sample: all probes at the same time, each capture written as soon as its read is over.
/// Returns within timeout + grace + 1 s.
SampleOutcome take_sample(const SampleOptions& options, int sample);

/// The bounds that a probe's own watchdog gets inside a read of this length.
Watchdog::Bounds probe_bounds(std::int64_t read_timeout_ns);

}  // namespace cozy
