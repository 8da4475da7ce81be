#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/analysis.hpp"
#include "probes/result.hpp"

/// What GitHub Actions shows of a step beside its log.
namespace cozy {

/// A step's summary file has to stay below this, with whatever stands there already; a larger one is not shown
/// at all.
inline constexpr std::uint64_t k_step_summary_limit = 1024 * 1024;

/// What of a markdown text can be appended behind that many bytes. Where it is too long it is cut between lines
/// and ends with a sentence about the cut. None where not even one line and that sentence have room.
std::optional<std::string> fit_step_summary(std::string_view markdown, std::uint64_t standing_bytes);

struct StepSummary {
  std::uint64_t bytes = 0;  ///< appended
  bool cut = false;
};

/// Appends to the summary file; what stands there stays as it is, also when the disk is full. An error where it
/// is no regular file, cannot be written or has no room.
Result<StepSummary> append_step_summary(const std::string& path, std::string_view markdown);

/// "::warning title=...::..." for every finding of the levels warning and notice, at most 10 of a level: GitHub
/// shows no more. The tenth counts those that are left.
std::vector<std::string> annotations(const Analysis& analysis);

}  // namespace cozy
