#include "collector/answer.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "collector/log.hpp"
#include "collector/report/output_file.hpp"
#include "collector/run/bounded.hpp"
#include "collector/standard_output.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_no_answer = 1;
constexpr std::int64_t k_work_bound_ns = 600 * k_ns_per_second;  // standard input can be a download
constexpr std::int64_t k_write_bound_ns = 60 * k_ns_per_second;

/// Begin the text that comes out of the process which reads the report.
constexpr char k_answer = 'A';
constexpr char k_failure = 'F';

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         identity_of(first) == identity_of(second);
}

Result<Done> write_file(const AnswerTo& to, std::string_view text) {
  for (const std::string& report : to.reports) {
    if (report != "-" && is_same_file(report, to.output)) return Error{to.output, "is the report that was read", 0};
  }
  OutputFile file(to.output);
  const auto opened = file.open();
  if (!opened) return opened.error();
  if (!file.write(text.data(), text.size())) return Error{to.output, errno_text(file.failure()), file.failure()};
  return file.commit();
}

int not_written(const AnswerTo& to, const std::string& why) {
  log_line(to.command + ": the answer could not be written: " + why);
  return k_no_answer;
}

int deliver(const AnswerTo& to, std::string_view text) {
  if (to.output.empty()) return print(text) ? 0 : not_written(to, "stdout is closed or full");
  const auto why_not = run_bounded(k_write_bound_ns, [&] {
    const auto written = write_file(to, text);
    return written ? std::string() : written.error().text();
  });
  if (!why_not) return not_written(to, to.output + ": " + why_not.error().text());
  if (!why_not->empty()) return not_written(to, *why_not);
  log_line("wrote " + to.output + ", " + size_text(text.size()));
  return 0;
}

}  // namespace

int answer(const AnswerTo& to, const std::function<Result<std::string>()>& work) {
  const bool input = std::find(to.reports.begin(), to.reports.end(), "-") != to.reports.end();
  const auto tagged = [&work] {
    auto made = work();
    return made ? k_answer + std::move(*made) : k_failure + made.error().text();
  };
  const auto text = run_bounded(k_work_bound_ns, tagged, -1, input ? WorkInput::ours : WorkInput::nothing);
  if (!text || text->empty() || text->front() != k_answer) {
    log_line(to.command + ": " + (text ? text->substr(1) : join(to.reports, ", ") + ": " + text.error().text()));
    return k_no_answer;
  }
  return deliver(to, std::string_view(*text).substr(1));
}

}  // namespace cozy
