#include "collector/analyse/analysis.hpp"

#include "collector/analyse/compare.hpp"
#include "collector/render/comparison.hpp"
#include "collector/render/job_log.hpp"
#include "collector/render/step_summary.hpp"
#include "tests/fuzz/analyses.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

namespace {

/// What a job log says of it.
void require_sound_lines(const Analysis& analysis) {
  for (const std::string& line : job_log(analysis)) {
    require_harmless_text(line);
    require(line.starts_with(k_job_log_prefix), "a line of the job log says whose it is");
    require(line.find('\n') == std::string::npos, "a line of the job log is one");
  }
  for (const std::string& line : annotations(analysis)) {
    require_harmless_line(line);
    require(line.starts_with("::"), "an annotation is one");
  }
}

void require_sound_comparison(const Analysis& green, const Analysis& red) {
  ReportComparison comparison{"green", "red", {}, {compare(green, red)}};
  for (const ComparedNumber& number : comparison.snapshots.front().numbers) {
    for (const auto& side : {number.green, number.red}) {
      if (!side) continue;
      require_share_of(side->value, std::nullopt);
      require_share_of(side->error, std::nullopt);
    }
  }
  require_harmless_text(render(comparison, Format::text));
  require_harmless_text(render(comparison, Format::markdown));
  require_harmless_text(render(comparison, Format::json));
}

}  // namespace

void analysis(std::string_view bytes) {
  const ReportAnalysis report = analysis_of_sections(bytes);
  for (const Analysis& snapshot : report.snapshots) {
    require_sound(snapshot);
    require_sound_lines(snapshot);
  }
  if (!report.snapshots.empty()) require_sound_comparison(report.snapshots.front(), report.snapshots.back());
}

}  // namespace cozy::fuzz
