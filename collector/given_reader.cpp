#include "collector/given_reader.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "collector/policy/quantity.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array k_analyze_formats{Format::text,        Format::markdown, Format::json,
                                       Format::openmetrics, Format::html,     Format::perfetto};
constexpr std::array k_compare_formats{Format::text, Format::markdown, Format::json, Format::html};
constexpr std::array k_policy_formats{Format::text, Format::json};

/// What a probe needs. The settings of a whole sample are nothing to it, nor what is wrong with them.
void read_sources(const Given& given, OptionReader& reader, SampleOptions& options) {
  reader.text(given.sandbox, "COZY_DIAG_SANDBOX_VM_ROOT", options.sandbox);
  reader.seconds("--read-timeout", given.read_timeout, "COZY_DIAG_READ_TIMEOUT", false, options.read_timeout_ns);
  reader.nodes(given.nodes, options.nodes);
  if (!given.root.empty()) options.root = given.root;
}

void read_place(const Given& given, OptionReader& reader, SampleOptions& options) {
  reader.text(given.report_dir, "COZY_REPORT_DIR", options.report_dir);
  while (options.report_dir.size() > 1 && options.report_dir.ends_with('/')) options.report_dir.pop_back();
  reader.folder(given.snapshot, "COZY_SNAPSHOT_NAME", options.snapshot);
}

void read_sampling(const Given& given, OptionReader& reader, Invocation& invocation) {
  SampleOptions& options = invocation.options;
  read_place(given, reader, options);
  reader.seconds("--read-grace", given.read_grace, "COZY_DIAG_READ_GRACE", true, options.read_grace_ns);
  reader.only(given.only, options.only);
  invocation.output = given.output;
}

void read_analyzing(const Given& given, bool compare, OptionReader& reader, Invocation& invocation) {
  if (compare)
    invocation.reports = {given.green, given.red};
  else if (!given.report.empty())
    invocation.reports = {given.report};
  if (compare && given.red.empty()) {
    reader.refuse("compare", Error{"", given.green.empty() ? "is told no report" : "is told one report alone", 0},
                  "such as: cozybracket compare green.tgz red.tgz");
  }
  if (!compare && !given.explain && given.report.empty()) {
    reader.refuse("analyze", Error{"", "is told no report", 0}, "such as: cozybracket analyze cozyreport.tgz");
  }
  if (compare && given.green == "-" && given.red == "-") {
    reader.refuse("compare", Error{"\"-\"", "is told twice", 0}, "standard input holds one report");
  }
  if (compare)
    reader.format(given.format, k_compare_formats, invocation.format);
  else
    reader.format(given.format, k_analyze_formats, invocation.format);
  invocation.one_snapshot = given.one_snapshot;
  invocation.explain = given.explain;
  if (given.output != "-") invocation.output = given.output;
  if (invocation.format == Format::html && invocation.reports.empty()) {
    reader.refuse("--format", Error{"\"html\"", "is a page about a report", 0},
                  "such as: cozybracket analyze cozyreport.tgz --format html --output report.html");
  }
}

void read_cpu(const char* flag, const std::string& given, OptionReader& reader, std::optional<std::uint64_t>& place) {
  if (given.empty()) return;
  const auto milli = parse_cpu_quantity(given);
  if (milli)
    place = *milli;
  else
    reader.refuse(flag, milli.error(), std::string("give CPUs as Kubernetes does, such as ") + flag + " 500m or 0.5");
}

void read_policy(const Given& given, OptionReader& reader, Invocation& invocation) {
  PolicyOptions& policy = invocation.policy;
  read_cpu("--request", given.request, reader, policy.pod.request_milli);
  read_cpu("--limit", given.limit, reader, policy.pod.limit_milli);
  const auto formula = given.formula.empty() ? WeightFormula::linear : formula_of_name(given.formula);
  if (!formula) {
    reader.refuse("--formula", Error{"\"" + escape(given.formula) + "\"", "is no formula", 0},
                  "it is linear or quadratic");
  }
  const auto knobs = pod_knobs(policy.pod, formula.value_or(WeightFormula::linear));
  if (knobs)
    policy.knobs = *knobs;
  else
    reader.refuse("--limit", Error{"\"" + escape(given.limit) + "\"", knobs.error().reason, 0},
                  "give CPUs that a machine can have");
  reader.format(given.format, k_policy_formats, invocation.format);
  policy.audit = !given.audit.empty();
  invocation.options.sandbox = given.audit;
  const std::string needless = !given.nodes.empty()          ? "--node"
                               : !given.root.empty()         ? "--root"
                               : !given.read_timeout.empty() ? "--read-timeout"
                                                             : "";
  if (!policy.audit && !needless.empty())
    reader.refuse(needless, Error{"", "is of use to an audit alone", 0}, "add --audit SANDBOX, or leave it out");
}

/// Why a word is not what it should be: it is missing, or there is no such thing.
Error wrong(const std::string& word, const std::string& what) {
  if (word.empty()) return Error{"", "is told no " + what, 0};
  return Error{"\"" + escape(word) + "\"", "is no " + what, 0};
}

void read_run(const Given& given, OptionReader& reader, Invocation& invocation) {
  reader.interval(given.interval, invocation.interval_ns);
}

void read_watch_start(const Given& given, OptionReader& reader, Invocation& invocation) {
  read_place(given, reader, invocation.options);
  reader.text(given.sandbox, "COZY_DIAG_SANDBOX_VM_ROOT", invocation.options.sandbox);
  reader.nodes(given.nodes, invocation.options.nodes);
  reader.interval(given.interval, invocation.interval_ns);
  reader.max_duration(given.max_duration, invocation.interval_ns, invocation.longest_ns);
  reader.pid("--while-pid", given.while_pid, invocation.while_pid);
}

void read_sample(const Given& given, OptionReader& reader, Invocation& invocation) {
  invocation.once = given.once;
  invocation.summary = !given.no_summary;
  reader.tenants({given.pods, given.labels, given.max_pods, given.kubectl}, invocation.tenants);
  if (given.sample == "1" || given.sample == "2")
    invocation.sample = given.sample == "1" ? 1 : 2;
  else
    reader.refuse("sample", wrong(given.sample, "sample"), "it is 1 before the wait and 2 after it");
}

void read_probe(const Given& given, OptionReader& reader, Invocation& invocation) {
  const Probe* probe = find_probe(given.probe);
  if (probe != nullptr)
    invocation.probe = probe->name;
  else
    reader.refuse("probe", wrong(given.probe, "probe"), "the probes are " + OptionReader::probe_names());
}

void read_command(const Given& given, OptionReader& reader, Invocation& invocation) {
  switch (invocation.what) {
    case Invocation::What::run:
      return read_run(given, reader, invocation);
    case Invocation::What::sample:
      return read_sample(given, reader, invocation);
    case Invocation::What::watch_start:
      return read_watch_start(given, reader, invocation);
    case Invocation::What::watch_stop:
      return read_place(given, reader, invocation.options);
    case Invocation::What::probe:
      return read_probe(given, reader, invocation);
    case Invocation::What::policy:
      return read_policy(given, reader, invocation);
    case Invocation::What::analyze:
    case Invocation::What::compare:
      return read_analyzing(given, invocation.what == Invocation::What::compare, reader, invocation);
    case Invocation::What::pack:
    case Invocation::What::doctor:
      return;
  }
}

}  // namespace

const char* command_name(Invocation::What what) {
  switch (what) {
    case Invocation::What::run:
      return "run";
    case Invocation::What::sample:
      return "sample";
    case Invocation::What::watch_start:
      return "watch start";
    case Invocation::What::watch_stop:
      return "watch stop";
    case Invocation::What::pack:
      return "pack";
    case Invocation::What::analyze:
      return "analyze";
    case Invocation::What::compare:
      return "compare";
    case Invocation::What::policy:
      return "policy";
    case Invocation::What::doctor:
      return "doctor";
    case Invocation::What::probe:
      return "probe";
  }
  return "";
}

void read_given(const Given& given, OptionReader& reader, Invocation& invocation) {
  using What = Invocation::What;
  const What what = invocation.what;
  const bool elsewhere = what == What::analyze || what == What::compare || what == What::watch_start ||
                         what == What::watch_stop || (what == What::policy && given.audit.empty());
  if (!elsewhere) read_sources(given, reader, invocation.options);
  if (!elsewhere && what != What::policy && what != What::probe) read_sampling(given, reader, invocation);
  read_command(given, reader, invocation);
  const auto& only = invocation.options.only;
  if (!invocation.tenants.any() && std::find(only.begin(), only.end(), k_tenant_capture) != only.end()) {
    reader.refuse("--only", Error{"tenant-thread-cpu", "is of pods, and none is named", 0},
                  "only sample reads them: --pod NAMESPACE/POD or --pods-by-label NAMESPACE/LABELS");
  }
}

}  // namespace cozy
