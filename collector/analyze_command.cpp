#include "collector/analyze_command.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/analyse/verdict.hpp"
#include "collector/answer.hpp"
#include "collector/log.hpp"
#include "collector/render/comparison.hpp"
#include "collector/render/html.hpp"
#include "collector/render/page_template.hpp"
#include "collector/render/render.hpp"
#include "collector/report/open.hpp"
#include "cozy_version.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_no_page = 1;
constexpr int k_usage = 2;

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

/// Every snapshot that is wanted, the worst first, or an error in raw words. A page has more of each.
Result<ReportAnalysis> analyse_report(const std::string& path, const std::string& one_snapshot, Format format) {
  const auto report = open_report(path);
  if (!report) return report.error();
  if (report->snapshots.empty()) return Error{"", no_snapshot(*report), 0};
  ReportAnalysis analysed = describe(*report);
  AnalysisOptions analysis;
  analysis.truncated = report->truncated;
  analysis.series = draws_timeline(format);
  for (const Snapshot& snapshot : report->snapshots) {
    const bool wanted = one_snapshot.empty() || snapshot.name == one_snapshot;
    if (wanted) analysed.snapshots.push_back(analyse(snapshot, analysis));
  }
  if (analysed.snapshots.empty()) return Error{"", no_such_snapshot(*report, one_snapshot), 0};
  sort_worst_first(analysed.snapshots);
  if (format == Format::html) analysed.texts = capture_texts(*report, one_snapshot);
  return analysed;
}

constexpr const char* k_program = "cozybracket " COZYBRACKET_VERSION;

Result<std::string> page_of(PageParts parts) {
  const auto text = page_template(embedded_page());
  if (!text) return text.error();
  return to_html(*text, std::move(parts));
}

Result<std::string> analyze_in_words(const Invocation& invocation, const RenderOptions& options) {
  if (invocation.reports.empty()) return render(ReportAnalysis(), invocation.format, options);
  auto analysed = analyse_report(invocation.reports.front(), invocation.one_snapshot, invocation.format);
  if (!analysed) return analysed.error();
  if (invocation.format != Format::html) return render(*analysed, invocation.format, options);
  PageParts parts{k_program, {}, nullptr, options};
  parts.reports.push_back({"", std::move(*analysed)});
  return page_of(std::move(parts));
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

Result<std::string> compare_in_words(const Invocation& invocation, const RenderOptions& options) {
  auto green = analyse_report(invocation.reports[0], "", invocation.format);
  if (!green) return green.error();
  auto red = analyse_report(invocation.reports[1], "", invocation.format);
  if (!red) return red.error();
  const ReportComparison comparison = compare_reports(*green, *red);
  if (invocation.format != Format::html) return render(comparison, invocation.format);
  PageParts parts{k_program, {}, &comparison, options};
  parts.reports.push_back({"green", std::move(*green)});
  parts.reports.push_back({"red", std::move(*red)});
  return page_of(std::move(parts));
}

/// Before anything is read: why there will be no page. 0 where nothing is in the way, else the status.
int refuse_page(const std::string& command, const Invocation& invocation) {
  if (invocation.format != Format::html) return 0;
  const auto page = page_template(embedded_page());
  if (!page) {
    log_line(command + ": " + page.error().text());
    return k_no_page;
  }
  if (!invocation.output.empty() || ::isatty(STDOUT_FILENO) != 1) return 0;
  log_line(command + ": --format html is a page for a browser, and stdout is a terminal; add --output report.html");
  return k_usage;
}

using Work = Result<std::string> (*)(const Invocation&, const RenderOptions&);

int answer_to(const std::string& command, const Invocation& invocation, Work work) {
  if (const int status = refuse_page(command, invocation); status != 0) return status;
  const RenderOptions options = render_options(invocation);
  return answer({command, invocation.reports, invocation.output}, [&] { return work(invocation, options); });
}

}  // namespace

int analyze_command(const Invocation& invocation) { return answer_to("analyze", invocation, analyze_in_words); }

int compare_command(const Invocation& invocation) { return answer_to("compare", invocation, compare_in_words); }

}  // namespace cozy
