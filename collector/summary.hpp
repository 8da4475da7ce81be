#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "collector/run/sampler.hpp"

namespace cozy {

/// One line for the whole sample, and one for each capture of it that fell short.
void log_sample(const SampleOptions& options, const SampleOutcome& outcome, std::optional<bool> wait_passed);

/// What the summary has to know beside the files.
struct SummaryFacts {
  std::set<int> samples_logged;     ///< their shortfalls stand in the job log already
  std::optional<bool> wait_passed;  ///< how the bracketed command ended, where that is known
};

/// Opens the report directory that was just written, with the code that opens a downloaded one, and analyses
/// this snapshot: the answer goes into the job log, as analysis.json and SUMMARY.md into the snapshot's
/// folder, and on GitHub Actions into annotations and the step summary. False where all that did not end
/// within the bound, which is said.
bool log_summary(const SampleOptions& options, const SummaryFacts& facts, std::int64_t bound_ns);

}  // namespace cozy
