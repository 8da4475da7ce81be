#include "collector/tenant_log.hpp"

#include <algorithm>
#include <string>

#include "collector/log.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::string consequence(Outcome outcome) {
  switch (outcome) {
    case Outcome::complete:
      return "";
    case Outcome::partial:
      return tenant_legend().partial_means;
    case Outcome::empty:
      return tenant_legend().empty_means;
    case Outcome::unavailable:
      return tenant_legend().unavailable_is_not;
  }
  return "";
}

}  // namespace

void log_tenants(const SampleOptions& options, const TenantOutcome& outcome, int sample) {
  const auto data = std::count_if(outcome.captures.begin(), outcome.captures.end(), [](const CaptureOutcome& c) {
    return holds_data(c.judgement.outcome) && c.write_error.empty();
  });
  const std::string name = std::string(k_tenant_capture) + " sample " + std::to_string(sample);
  log_line(name + ": " + std::to_string(data) + " of " + std::to_string(outcome.captures.size()) + " pods hold data, " +
           fixed(static_cast<double>(outcome.took_ns) / 1e6, 1) + " ms, in " + options.report_dir + "/snapshots/" +
           options.snapshot);
  for (const std::string& words : outcome.shortfalls) log_line("shortfall " + name + ": " + words);
  for (const CaptureOutcome& capture : outcome.captures) {
    const Judgement& judgement = capture.judgement;
    const std::string line = "shortfall " + name + " " + capture.name + ": ";
    if (!capture.write_error.empty())
      log_line(line + "could not be written: " + capture.write_error);
    else if (judgement.outcome != Outcome::complete)
      log_line(line + std::string(outcome_name(judgement.outcome)) + ": " + judgement.reason + ". " +
               consequence(judgement.outcome));
  }
}

}  // namespace cozy
