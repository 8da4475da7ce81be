#include "collector/analyze_command.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/analyse/verdict.hpp"
#include "collector/log.hpp"
#include "collector/render/comparison.hpp"
#include "collector/render/render.hpp"
#include "collector/report/open.hpp"
#include "collector/run/bounded.hpp"
#include "collector/standard_output.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_unreadable = 1;
constexpr std::int64_t k_bound_ns = 600 * k_ns_per_second;  // standard input can be a download

/// Begin the text that comes out of the process which reads the report.
constexpr char k_answer = 'A';
constexpr char k_failure = 'F';

std::size_t terminal_width() {
  constexpr std::uint64_t k_widest = 10'000;
  const char* columns = std::getenv("COLUMNS");
  const auto given = columns != nullptr ? parse_u64(columns) : std::nullopt;
  if (given && *given > 0 && *given <= k_widest) return static_cast<std::size_t>(*given);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return RenderOptions().width;
}

/// https://no-color.org: any value but the empty one.
bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') && !dumb;
}

RenderOptions render_options(const Invocation& invocation) {
  return {invocation.explain, terminal_width(), wants_colour()};
}

/// Of raw words.
std::string failure(std::string_view words) { return k_failure + std::string(words); }

std::string no_such_snapshot(const Report& report, const std::string& wanted) {
  std::string words = "holds no snapshot \"" + wanted + "\"; it holds ";
  for (const Snapshot& snapshot : report.snapshots) {
    words += (&snapshot == &report.snapshots.front() ? "" : ", ") + snapshot.name;
  }
  return report.path + ": " + words;
}

/// What a report without one capture of ours is: an error, with all that its reader can say of the reason.
std::string no_snapshot(const Report& report) {
  std::string words = report.path + ": holds no capture: no snapshots/NAME/CAPTURE/sample-N/FILE is in it";
  if (report.truncated) {
    words += "; it is truncated, so that one may have been cut off";
    if (!report.truncated_why.empty()) words += ": " + unescape(report.truncated_why);
  }
  if (!report.refused.empty()) {
    const RefusedEntry& first = report.refused.front();
    words += "; " + std::to_string(report.refused.size()) +
             (report.refused.size() == 1 ? " entry was" : " entries were") + " refused, the first \"" +
             unescape(first.name) + "\": " + unescape(first.reason);
  }
  for (const std::string& note : report.notes) words += "; " + unescape(note);
  return words;
}

/// Every snapshot that is wanted, the worst first, or an error in raw words.
Result<ReportAnalysis> analyse_report(const std::string& path, const std::string& one_snapshot) {
  const auto report = open_report(path);
  if (!report) return report.error();
  if (report->snapshots.empty()) return Error{"", no_snapshot(*report), 0};
  ReportAnalysis analysed = describe(*report);
  AnalysisOptions analysis;
  analysis.truncated = report->truncated;
  for (const Snapshot& snapshot : report->snapshots) {
    const bool wanted = one_snapshot.empty() || snapshot.name == one_snapshot;
    if (wanted) analysed.snapshots.push_back(analyse(snapshot, analysis));
  }
  if (analysed.snapshots.empty()) return Error{"", no_such_snapshot(*report, one_snapshot), 0};
  sort_worst_first(analysed.snapshots);
  return analysed;
}

std::string analyze_in_words(const Invocation& invocation, const RenderOptions& options) {
  if (invocation.reports.empty()) return k_answer + render(ReportAnalysis(), invocation.format, options);
  const auto analysed = analyse_report(invocation.reports.front(), invocation.one_snapshot);
  if (!analysed) return failure(analysed.error().text());
  return k_answer + render(*analysed, invocation.format, options);
}

/// Snapshots of one name belong together; where no name is in both, the worst of each is compared.
ReportComparison compare_reports(const ReportAnalysis& green, const ReportAnalysis& red) {
  ReportComparison comparison{green.path, red.path, {}, {}};
  for (const ReportAnalysis* report : {&green, &red}) {
    if (report->truncated) comparison.notes.push_back(escape(report->path) + ": " + truncated_sentence(*report));
  }
  std::vector<std::string> alone;
  for (const Analysis& of_red : red.snapshots) {
    const auto of_green = std::find_if(green.snapshots.begin(), green.snapshots.end(),
                                       [&](const Analysis& a) { return a.snapshot == of_red.snapshot; });
    if (of_green != green.snapshots.end())
      comparison.snapshots.push_back(compare(*of_green, of_red));
    else
      alone.push_back(escape(of_red.snapshot));
  }
  if (comparison.snapshots.empty()) {
    comparison.notes.emplace_back("no snapshot is in both by its name: the worst of each are compared");
    comparison.snapshots.push_back(compare(green.snapshots.front(), red.snapshots.front()));
  } else if (!alone.empty()) {
    comparison.notes.push_back("in red alone, and not compared: " + join(alone, ", "));
  }
  return comparison;
}

std::string compare_in_words(const Invocation& invocation) {
  const auto green = analyse_report(invocation.reports[0], "");
  if (!green) return failure(green.error().text());
  const auto red = analyse_report(invocation.reports[1], "");
  if (!red) return failure(red.error().text());
  return k_answer + render(compare_reports(*green, *red), invocation.format);
}

int answer(const std::string& command, const Invocation& invocation, const std::function<std::string()>& work) {
  bool standard_input = false;
  for (const std::string& report : invocation.reports) standard_input = standard_input || report == "-";
  const auto text = run_bounded(k_bound_ns, work, -1, standard_input ? WorkInput::ours : WorkInput::nothing);
  if (!text || text->empty() || text->front() != k_answer) {
    const std::string reports = join(invocation.reports, ", ");
    log_line(command + ": " + (text ? text->substr(1) : reports + ": " + text.error().text()));
    return k_unreadable;
  }
  if (print(std::string_view(*text).substr(1))) return 0;
  log_line(command + ": the answer could not be written: stdout is closed or full");
  return k_unreadable;
}

}  // namespace

int analyze_command(const Invocation& invocation) {
  const RenderOptions options = render_options(invocation);
  return answer("analyze", invocation, [&] { return analyze_in_words(invocation, options); });
}

int compare_command(const Invocation& invocation) {
  return answer("compare", invocation, [&] { return compare_in_words(invocation); });
}

}  // namespace cozy
