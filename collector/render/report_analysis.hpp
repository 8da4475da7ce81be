#pragma once

#include <map>
#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"
#include "collector/render/capture_texts.hpp"
#include "collector/report/canary.hpp"
#include "collector/report/report.hpp"

namespace cozy {

/// Every snapshot of one report, analysed: what the renderings of a whole report show.
struct ReportAnalysis {
  std::string path;
  std::string origin;                ///< "cozybracket", "shell"; empty where it is not known
  bool truncated = false;            ///< its end was not reached, or nothing proves that it was
  std::string truncated_why;         ///< escaped
  std::vector<std::string> notes;    ///< what could not be read and why, escaped
  std::vector<std::string> refused;  ///< entries of an archive that were not accepted, and why, escaped
  std::map<std::string, std::vector<Canary>, std::less<>> canaries;  ///< by snapshot; of the shell's reports
  /// Files beside the captures that say something by being there, by snapshot: raw names.
  std::map<std::string, std::vector<std::string>, std::less<>> markers;
  std::vector<Analysis> snapshots;  ///< the worst first
  std::vector<CaptureText> texts;   ///< of the captures; for a page alone

  [[nodiscard]] const std::vector<Canary>& canaries_of(const Analysis& snapshot) const;
  [[nodiscard]] const std::vector<std::string>& markers_of(const Analysis& snapshot) const;
};

/// What is to be said of a report beside its snapshots.
ReportAnalysis describe(const Report& report);

/// What a reader has to know of a report whose end was not reached.
std::string truncated_sentence(const ReportAnalysis& report);

/// "canary sample 1: compute 812 iterations/s (8192 MiB in 120 ms), below its floor of 1000"
std::vector<std::string> canary_sentences(const std::vector<Canary>& canaries);

}  // namespace cozy
