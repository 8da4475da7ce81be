#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// The states of all captures that were asked for, in the order of their legends; one without a file is unavailable.
std::vector<CaptureState> capture_states(const Snapshot& snapshot, const AnalysisOptions& options);

/// What follows for the pair from a capture that came out so.
std::string consequence_of(Outcome outcome, int sample, const Legend& legend, const AnalysisOptions& options);

/// One for every capture and sample that is less than complete, and for a KVM reading without one VM.
std::vector<Shortfall> find_shortfalls(const Snapshot& snapshot, const std::vector<CaptureState>& states,
                                       const AnalysisOptions& options);

}  // namespace cozy
