#include "tests/fuzz/sections.hpp"

#include "collector/analyse/verdict.hpp"

namespace cozy::fuzz {

Report report_of_sections(std::string_view bytes) {
  constexpr std::string_view k_mark = "@@ ";
  constexpr std::string_view k_next = "\n@@ ";
  constexpr int k_most_files = 64;
  ReportBuilder builder;
  for (int files = 0; files < k_most_files && bytes.starts_with(k_mark); ++files) {
    const std::size_t line_end = bytes.find('\n');
    if (line_end == std::string_view::npos) break;
    const std::string_view path = bytes.substr(k_mark.size(), line_end - k_mark.size());
    const std::size_t next = bytes.find(k_next, line_end);
    const std::size_t end = next == std::string_view::npos ? bytes.size() : next + 1;
    builder.add(path, bytes.substr(line_end + 1, end - (line_end + 1)));
    bytes.remove_prefix(end);
  }
  return builder.finish("report");
}

ReportAnalysis analysis_of_sections(std::string_view bytes) {
  const std::size_t choice = bytes.size();
  AnalysisOptions options;
  options.truncated = choice % 2 == 1;
  options.last_sample = choice % 7 == 6 ? 1 : 2;
  if (choice % 3 != 2) options.wait_passed = choice % 3 == 1;
  options.series = true;
  const Report report = report_of_sections(bytes);
  ReportAnalysis analysed = describe(report);
  for (const Snapshot& snapshot : report.snapshots) analysed.snapshots.push_back(analyse(snapshot, options));
  sort_worst_first(analysed.snapshots);
  return analysed;
}

}  // namespace cozy::fuzz
