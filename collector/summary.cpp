#include "collector/summary.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/analyse/analysis.hpp"
#include "collector/analyse/shortfall.hpp"
#include "collector/log.hpp"
#include "collector/render/job_log.hpp"
#include "collector/render/json.hpp"
#include "collector/render/markdown.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/step_summary.hpp"
#include "collector/report/files.hpp"
#include "collector/report/report.hpp"
#include "collector/run/bounded.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

AnalysisOptions analysis_options(const std::vector<std::string>& only, std::optional<bool> wait_passed) {
  AnalysisOptions analysis;
  analysis.wait_passed = wait_passed;
  for (const Legend& legend : legends()) {
    const bool asked = only.empty() || std::find(only.begin(), only.end(), legend.capture) != only.end();
    if (!asked) analysis.not_asked.insert(legend.capture);
  }
  return analysis;
}

bool on_github() {
  const char* actions = std::getenv("GITHUB_ACTIONS");
  return actions != nullptr && std::string_view(actions) == "true";
}

std::string shortfall_line(const std::string& words) { return "cozybracket: shortfall summary: " + words; }

/// Stands between the texts of an answer: none of them can hold it, since control bytes are escaped in all.
constexpr char k_separator = '\x1e';

/// What one reading of the report comes to, carried as text out of the process that reads it.
struct Answer {
  std::string job_log;
  std::string annotations;
  std::string json;
  std::string markdown;  ///< this and json are empty where nothing of the snapshot could be read back
};

std::string in_words(const Answer& answer) {
  return join({answer.job_log, answer.annotations, answer.json, answer.markdown}, std::string(1, k_separator));
}

Answer from_words(std::string_view words) {
  const auto parts = split_at(words, k_separator);
  const auto part = [&](std::size_t at) { return at < parts.size() ? std::string(parts[at]) : std::string(); };
  return {part(0), part(1), part(2), part(3)};
}

Answer read_back(const SampleOptions& options, const SummaryFacts& facts) {
  const auto report = open_report_directory(options.report_dir);
  if (!report) return {shortfall_line(neutral(report.error().text())), "", "", ""};
  std::vector<std::string> lines;
  for (const std::string& note : report->notes) lines.push_back(shortfall_line(neutral_escaped(note)));
  for (const Snapshot& candidate : report->snapshots) {
    if (candidate.name != options.snapshot) continue;
    ReportAnalysis whole = describe(*report);
    AnalysisOptions asked = analysis_options(options.only, facts.wait_passed);
    // What another call of this bracket has taken was asked for as well.
    for (const SampleCapture& file : candidate.captures) asked.not_asked.erase(file.capture.name);
    whole.snapshots = {analyse(candidate, asked)};
    Analysis logged = whole.snapshots.front();
    std::erase_if(logged.shortfalls, [&](const Shortfall& s) { return facts.samples_logged.contains(s.sample); });
    const std::vector<std::string> said = job_log(logged);
    lines.insert(lines.end(), said.begin(), said.end());
    return {join(lines, "\n"), join(annotations(logged), "\n"), to_json(whole), to_markdown(whole)};
  }
  return {shortfall_line("no capture of this snapshot can be read back"), "", "", ""};
}

/// On GitHub Actions the path of the step's summary file; else none.
std::string step_summary_path() {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  return on_github() && path != nullptr ? path : "";
}

/// The answer beside the captures, so that the archive holds it, too, and as the step's summary. Returns lines
/// about what could not be written.
std::string write_answer(const SampleOptions& options, const Answer& answer) {
  std::vector<std::string> lines;
  const std::string directory = options.report_dir + "/snapshots/" + options.snapshot;
  const std::array<std::pair<const char*, const std::string*>, 2> files{
      {{"analysis.json", &answer.json}, {"SUMMARY.md", &answer.markdown}}};
  for (const auto& [name, text] : files) {
    const auto written = write_file(directory, name, *text);
    if (written) continue;
    lines.push_back(shortfall_line(neutral(written.error().text())));
    ::unlink((directory + "/" + name).c_str());  // an earlier one is not of these samples
  }
  const std::string path = step_summary_path();
  if (path.empty()) return join(lines, "\n");
  const auto appended = append_step_summary(path, answer.markdown);
  if (!appended) {
    lines.push_back(
        shortfall_line("the step summary " + neutral(appended.error().text()) + "; SUMMARY.md in the report has it"));
  } else if (appended->cut) {
    lines.push_back(shortfall_line("the step summary was cut after " + std::to_string(appended->bytes) +
                                   " bytes; SUMMARY.md in the report has all of it"));
  }
  return join(lines, "\n");
}

void log_lines(std::string_view text) {
  for (const std::string_view line : split_lines(text)) log_raw_line(line);
}

/// Says why bounded work has not ended well. True where it has.
bool check(const SampleOptions& options, const Result<std::string>& words) {
  if (!words) log_line("shortfall summary: " + options.report_dir + ": " + words.error().text());
  return words.ok();
}

}  // namespace

void log_sample(const SampleOptions& options, const SampleOutcome& outcome, std::optional<bool> wait_passed) {
  const auto data = std::count_if(outcome.captures.begin(), outcome.captures.end(), [](const CaptureOutcome& c) {
    return holds_data(c.judgement.outcome) && c.write_error.empty();
  });
  const std::string sample = "sample " + std::to_string(outcome.sample);
  log_line(sample + ": " + std::to_string(data) + " of " + std::to_string(outcome.captures.size()) +
           " captures hold data, " + fixed(static_cast<double>(outcome.took_ns) / 1e6, 1) + " ms, in " +
           options.report_dir + "/snapshots/" + options.snapshot);
  const AnalysisOptions analysis = analysis_options(options.only, wait_passed);
  for (const CaptureOutcome& capture : outcome.captures) {
    const Judgement& judgement = capture.judgement;
    if (!capture.write_error.empty()) {  // one line for each capture, whatever befell it
      const std::string beside = judgement.reason.empty() ? "" : "; and " + judgement.reason;
      log_line("shortfall " + capture.name + " " + sample + ": could not be written: " + capture.write_error + beside);
      continue;
    }
    if (judgement.outcome == Outcome::complete) continue;
    const std::string follows = consequence_of(judgement.outcome, outcome.sample, *find_legend(capture.name), analysis);
    log_raw_line(
        job_log_line({capture.name, outcome.sample, judgement.outcome, judgement.reason, follows, capture.at}));
  }
}

bool log_summary(const SampleOptions& options, const SummaryFacts& facts, std::int64_t bound_ns) {
  const std::int64_t until_ns = boottime_ns() + bound_ns;
  const auto words = run_bounded(bound_ns, [&] { return in_words(read_back(options, facts)); });
  if (!check(options, words)) return false;
  const Answer answer = from_words(*words);
  log_lines(answer.job_log);
  if (on_github()) log_lines(answer.annotations);
  if (answer.json.empty()) return true;
  // Apart from the reading: a disk that does not take the files shall not cost the lines above.
  const auto shortfalls = BoundedWork([&] { return write_answer(options, answer); }).finish(until_ns);
  if (!check(options, shortfalls)) return false;
  log_lines(*shortfalls);
  return true;
}

}  // namespace cozy
