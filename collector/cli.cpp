#include "collector/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "collector/given.hpp"
#include "collector/option_reader.hpp"
#include "collector/policy/quantity.hpp"
#include "cozy_version.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_usage = 2;
constexpr int k_never_run = 125;

constexpr const char* k_about =
    "Reads a CI runner's kernel on both sides of a wait and says which layer took the time.\n"
    "\n"
    "  cozybracket run --sandbox DIR -- ./wait-for-nodes.sh    sample, wait, sample, pack, summary\n"
    "  cozybracket sample 1 ... sample 2 ... pack              the same, for hooks that bracket by themselves\n"
    "  cozybracket analyze cozyreport.tgz                      which layer took the time, from a report\n"
    "  cozybracket policy --request 500m --limit 2             a pod's CPU as cgroup knobs, and an audit of live "
    "nodes\n"
    "  cozybracket doctor                                      what can be read here, and why not";

constexpr const char* k_footer =
    "The report is <report-dir>/snapshots/<snapshot>/<capture>/sample-<N>/, packed as <report-dir>.tgz.\n"
    "`cozybracket COMMAND --help` explains a command and its exit status.";

void add_where(CLI::App& command, Given& given) {
  command.add_option("--report-dir", given.report_dir, "Where the report goes [COZY_REPORT_DIR; _out/cozyreport]")
      ->type_name("DIR");
}

void add_output(CLI::App& command, Given& given) {
  command.add_option("--output", given.output, "The archive [<report-dir>.tgz]")->type_name("FILE");
}

void add_node_sources(CLI::App& command, Given& given) {
  command.add_option("--node", given.nodes, "A node and its pid file, instead of the sandbox's; repeatable")
      ->type_name("NAME=PIDFILE")
      ->allow_extra_args(false);
  command.add_option("--root", given.root, "Where proc, sys, cgroup and debugfs are looked for [/]")->type_name("DIR");
  command
      .add_option("--read-timeout", given.read_timeout,
                  "The longest that one source may take [COZY_DIAG_READ_TIMEOUT; 20]")
      ->type_name("SECONDS");
}

void add_sources(CLI::App& command, Given& given) {
  command
      .add_option("--sandbox", given.sandbox,
                  "Holds srv<N>/qemu.pid of the sandbox nodes [COZY_DIAG_SANDBOX_VM_ROOT; .]")
      ->type_name("DIR");
  add_node_sources(command, given);
}

void add_sampling(CLI::App& command, Given& given) {
  add_where(command, given);
  add_sources(command, given);
  command
      .add_option("--snapshot", given.snapshot,
                  "The name of this bracket in the report [COZY_SNAPSHOT_NAME; kubernetes]")
      ->type_name("NAME");
  command
      .add_option("--read-grace", given.read_grace,
                  "From SIGTERM to SIGKILL for a source past its time [COZY_DIAG_READ_GRACE; 5]")
      ->type_name("SECONDS");
  command.add_option("--only", given.only, "These probes alone; `cozybracket doctor` lists them [every one]")
      ->type_name("PROBE[,PROBE]");
}

void add_pods(CLI::App& command, Given& given) {
  command
      .add_option("--pod", given.pods,
                  "A tenant worker, read inside its container (compute) by kubectl exec; repeatable")
      ->type_name("NAMESPACE/POD[/CONTAINER]")
      ->allow_extra_args(false);
  command
      .add_option("--pods-by-label", given.labels,
                  "The Running pods with these labels, such as kubevirt.io=virt-launcher")
      ->type_name("NAMESPACE/KEY=VALUE[,...]")
      ->allow_extra_args(false);
  command.add_option("--max-pods", given.max_pods, "How many are read at most, 1 to 64; the others are named [8]")
      ->type_name("N");
  command.add_option("--kubectl", given.kubectl, "The kubectl for it [COZY_KUBECTL; kubectl]")->type_name("PROGRAM");
}

constexpr std::array k_analyze_formats{Format::text, Format::markdown, Format::json, Format::openmetrics};
constexpr std::array k_compare_formats{Format::text, Format::markdown, Format::json};
constexpr std::array k_policy_formats{Format::text, Format::json};

void add_format(CLI::App& command, const std::string& formats, Given& given) {
  command.add_option("--format", given.format, formats + " [text]")->type_name("FORMAT");
  command.footer(
      "A report is a directory, a cozyreport.tgz, the .zip that a browser downloads, or - for standard input.\n"
      "Exit status: 0 whatever was found, 1 a report could not be read, 2 usage.");
}

void add_policy(CLI::App& command, Given& given) {
  command
      .add_option("--request", given.request, "What the pod's first container requests: 500m, 0.5, 5e-1 [no request]")
      ->type_name("CPU");
  command.add_option("--limit", given.limit, "What it is limited to: 2, 1500m, 1k [no limit]")->type_name("CPU");
  command
      .add_option("--formula", given.formula,
                  "linear (kubelet, cocoon, older runc) or quadratic (newer runc): the weight [linear]")
      ->type_name("FORMULA");
  command.add_option("--format", given.format, "text or json [text]")->type_name("FORMAT");
  command.add_option("--audit", given.audit, "Compare with the cgroups of this sandbox's live nodes: srv<N>/qemu.pid")
      ->type_name("SANDBOX");
  add_node_sources(command, given);
  command.footer(
      "Limits bound, requests weigh: the quota is of the limit alone, 100 ms x limit and at least 1000 us; the\n"
      "weight is of the request, else of the limit. A quantity is what Kubernetes takes for one, rounded up to\n"
      "milli-CPU; 0 counts as not given. Neither given: best effort, which weighs the least.\n"
      "\n"
      "  cozybracket policy --request 500m --limit 2                     quota 200000, weight 20 (linear)\n"
      "  cozybracket policy --request 500m --formula quadratic           no quota, weight 59 (quadratic)\n"
      "  cozybracket policy --limit 2 --format json                      the same for a script\n"
      "  cozybracket policy --request 500m --limit 2 --audit /workspace  what the live nodes have, and what breaks\n"
      "\n"
      "The audit shows each knob as expected, actual and effective (the tightest of the node's cgroup and those\n"
      "above it), then what a knob breaks: \"breaks NAME: WORDS\".\n"
      "Exit status: 0, of an audit when every node's knobs are as asked; 1 when some are not, could not be read,\n"
      "or no node is alive; 2 usage.");
}

struct CommandLine {
  CLI::App app{k_about, "cozybracket"};
  Given given;
  CLI::App* run = nullptr;
  CLI::App* sample = nullptr;
  CLI::App* pack = nullptr;
  CLI::App* analyze = nullptr;
  CLI::App* compare = nullptr;
  CLI::App* policy = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* probe = nullptr;

  CommandLine() {
    app.footer(k_footer);
    app.set_version_flag("--version", "cozybracket " COZYBRACKET_VERSION, "Print the version and exit");
    app.set_help_flag("--help,-h", "Print this text and exit");
    app.require_subcommand(0, 1);
    run = app.add_subcommand(
        "run", "Sample 1, COMMAND, sample 2, pack, summary. Usage: cozybracket run [options] -- COMMAND [ARG...]");
    run->footer(
        "Exit status: COMMAND's own (128 + N when signal N ended it); 125 when COMMAND was never run, 126 when it\n"
        "cannot be executed, 127 when it was not found. What cozybracket itself meets changes no status.\n"
        "COMMAND keeps stdin, stdout and stderr; the lines of cozybracket go to stderr.");
    add_sampling(*run, given);
    add_output(*run, given);
    run->add_option("--interval", given.interval,
                    "Between the readings of the timeline; 0 for no timeline [COZY_INTERVAL; 1]")
        ->type_name("SECONDS");
    sample =
        app.add_subcommand("sample", "One sample, for hooks that bracket by themselves: 1 before the wait, 2 after it");
    sample->footer(
        "A pod is read by the same probe, streamed into its container, or by its shell form where that takes no\n"
        "program; --only tenant-thread-cpu reads the pods alone.\n"
        "Exit status: 0 every capture holds data, 1 some capture holds none, 2 usage, 3 nothing could be written.");
    sample->add_option("N", given.sample, "1 or 2");
    add_sampling(*sample, given);
    add_pods(*sample, given);
    sample->add_flag("--once", given.once, "Keep a sample 2 that this bracket has already");
    sample->add_flag("--no-summary", given.no_summary, "No summary behind sample 2: another call of it will follow");
    pack = app.add_subcommand("pack", "The report directory as <report-dir>.tgz");
    pack->footer("Exit status: 0 packed, 2 usage, 3 nothing could be written.");
    add_where(*pack, given);
    add_output(*pack, given);
    analyze = app.add_subcommand("analyze", "What a report says: the layer that took the time");
    analyze->add_option("REPORT", given.report, "The report")->type_name("");
    analyze->add_option("--snapshot", given.one_snapshot, "This bracket alone [every one, the worst first]")
        ->type_name("NAME");
    analyze->add_flag("--explain", given.explain, "The thresholds and the rules, too; needs no REPORT");
    add_format(*analyze, "text, markdown, json or openmetrics", given);
    compare = app.add_subcommand("compare", "Two reports side by side");
    compare->add_option("GREEN", given.green, "The passing run's report")->type_name("");
    compare->add_option("RED", given.red, "The failing run's")->type_name("");
    add_format(*compare, "text, markdown or json", given);
    policy = app.add_subcommand("policy", "A pod's CPU request and limit as cgroup knobs; an audit of live nodes");
    add_policy(*policy, given);
    doctor = app.add_subcommand("doctor", "What can be read on this machine, and why not");
    doctor->footer("Exit status: 0 every source holds data, 1 some source holds none, 2 usage.");
    add_sampling(*doctor, given);
    probe = app.add_subcommand("probe", "One probe's raw text on stdout");
    probe->footer("Exit status: 0 the walk ended and its text was delivered, 1 it was not, 2 usage.");
    probe->add_option("NAME", given.probe, "The probe, as `cozybracket doctor` lists it");
    add_sources(*probe, given);
  }
};

/// An empty value would pass for an option that was not given.
void refuse_empty(const CLI::App& command, OptionReader& reader) {
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    reader.refuse(option->get_name(), Error{"\"\"", "is empty", 0}, "give a value, or leave the option out");
  }
}

/// What a probe needs. The settings of a whole sample are nothing to it, nor what is wrong with them.
void read_sources(const Given& given, OptionReader& reader, SampleOptions& options) {
  reader.text(given.sandbox, "COZY_DIAG_SANDBOX_VM_ROOT", options.sandbox);
  reader.seconds("--read-timeout", given.read_timeout, "COZY_DIAG_READ_TIMEOUT", false, options.read_timeout_ns);
  reader.nodes(given.nodes, options.nodes);
  if (!given.root.empty()) options.root = given.root;
}

void read_sampling(const Given& given, OptionReader& reader, Invocation& invocation) {
  SampleOptions& options = invocation.options;
  reader.text(given.report_dir, "COZY_REPORT_DIR", options.report_dir);
  while (options.report_dir.size() > 1 && options.report_dir.ends_with('/')) options.report_dir.pop_back();
  reader.folder(given.snapshot, "COZY_SNAPSHOT_NAME", options.snapshot);
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

Parsed usage_error(const std::string& words, const std::string& command, int status) {
  const std::string hint = command.empty() ? "cozybracket --help" : "cozybracket " + command + " --help";
  return {std::nullopt, "cozybracket: " + words + "\nSee `" + hint + "`.\n", true, status};
}

/// What stands behind the first "--" is the command of `run`, and no option of ours.
std::vector<std::string> take_command(std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> command(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return command;
}

/// Why a word is not what it should be: it is missing, or there is no such thing.
Error wrong(const std::string& word, const std::string& what) {
  if (word.empty()) return Error{"", "is told no " + what, 0};
  return Error{"\"" + escape(word) + "\"", "is no " + what, 0};
}

Parsed finish(const CommandLine& line, std::vector<std::string> command, bool had_mark) {
  Invocation invocation;
  OptionReader reader(invocation);
  for (const CLI::App* command_given : line.app.get_subcommands()) refuse_empty(*command_given, reader);
  const bool reads_report = line.analyze->parsed() || line.compare->parsed();
  const bool policy_alone = line.policy->parsed() && line.given.audit.empty();
  if (!reads_report && !policy_alone) read_sources(line.given, reader, invocation.options);
  if (!reads_report && !line.probe->parsed() && !line.policy->parsed()) read_sampling(line.given, reader, invocation);
  std::string name;
  if (line.run->parsed()) {
    name = "run";
    invocation.what = Invocation::What::run;
    reader.interval(line.given.interval, invocation.interval_ns);
    invocation.command = std::move(command);
    if (invocation.command.empty()) {
      reader.refuse(
          "run",
          Error{"", had_mark ? "nothing stands behind the \"--\"" : "there is no \"--\" with a COMMAND behind it", 0},
          "such as: cozybracket run --sandbox /workspace -- ./wait-for-nodes.sh");
    }
  } else if (line.sample->parsed()) {
    name = "sample";
    invocation.what = Invocation::What::sample;
    invocation.once = line.given.once;
    invocation.summary = !line.given.no_summary;
    reader.tenants({line.given.pods, line.given.labels, line.given.max_pods, line.given.kubectl}, invocation.tenants);
    if (line.given.sample == "1" || line.given.sample == "2")
      invocation.sample = line.given.sample == "1" ? 1 : 2;
    else
      reader.refuse("sample", wrong(line.given.sample, "sample"), "it is 1 before the wait and 2 after it");
  } else if (line.probe->parsed()) {
    name = "probe";
    invocation.what = Invocation::What::probe;
    const Probe* probe = find_probe(line.given.probe);
    if (probe != nullptr)
      invocation.probe = probe->name;
    else
      reader.refuse("probe", wrong(line.given.probe, "probe"), "the probes are " + OptionReader::probe_names());
  } else if (line.policy->parsed()) {
    name = "policy";
    invocation.what = Invocation::What::policy;
    read_policy(line.given, reader, invocation);
  } else if (reads_report) {
    name = line.compare->parsed() ? "compare" : "analyze";
    invocation.what = line.compare->parsed() ? Invocation::What::compare : Invocation::What::analyze;
    read_analyzing(line.given, line.compare->parsed(), reader, invocation);
  } else {
    name = line.pack->parsed() ? "pack" : "doctor";
    invocation.what = line.pack->parsed() ? Invocation::What::pack : Invocation::What::doctor;
  }
  const auto& only = invocation.options.only;
  if (!invocation.tenants.any() && std::find(only.begin(), only.end(), k_tenant_capture) != only.end()) {
    reader.refuse("--only", Error{"tenant-thread-cpu", "is of pods, and none is named", 0},
                  "only sample reads them: --pod NAMESPACE/POD or --pods-by-label NAMESPACE/LABELS");
  }
  if (had_mark && name != "run")
    reader.refuse(name, Error{"\"--\"", "has no place here", 0}, "only run takes a COMMAND");
  if (!reader.refusal().empty()) return usage_error(reader.refusal(), name, name == "run" ? k_never_run : k_usage);
  return {std::move(invocation), "", false, 0};
}

}  // namespace

std::string Invocation::archive() const { return output.empty() ? options.report_dir + ".tgz" : output; }

Parsed parse_command_line(const std::vector<std::string>& arguments) {
  std::vector<std::string> ours = arguments;
  const bool had_mark = std::find(ours.begin(), ours.end(), "--") != ours.end();
  std::vector<std::string> command = take_command(ours);
  const bool is_run = std::find(ours.begin(), ours.end(), "run") == ours.begin() && !ours.empty();
  CommandLine line;
  try {
    std::vector<std::string> reversed(ours.rbegin(), ours.rend());  // as CLI11 wants its vector
    line.app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, line.app.help(), false, 0};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, "cozybracket " COZYBRACKET_VERSION "\n", false, 0};
  } catch (const CLI::ParseError& error) {
    const auto commands = line.app.get_subcommands();
    const std::string name = commands.empty() ? "" : commands.front()->get_name();
    return usage_error((name.empty() ? "" : name + ": ") + escape(error.what()), name, is_run ? k_never_run : k_usage);
  } catch (const std::exception& error) {
    return usage_error(escape(error.what()), "", is_run ? k_never_run : k_usage);
  }
  if (line.app.get_subcommands().empty()) {
    return usage_error(
        "there is no command; it is one of run, sample, pack, analyze, compare, policy, doctor and probe", "", k_usage);
  }
  return finish(line, std::move(command), had_mark);
}

}  // namespace cozy
