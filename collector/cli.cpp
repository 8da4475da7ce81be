#include "collector/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "collector/given.hpp"
#include "collector/given_reader.hpp"
#include "collector/option_reader.hpp"
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
    "  cozybracket watch start ... watch stop                  the seconds between them, for such hooks\n"
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

void add_nodes(CLI::App& command, Given& given) {
  command.add_option("--node", given.nodes, "A node and its pid file, instead of the sandbox's; repeatable")
      ->type_name("NAME=PIDFILE")
      ->allow_extra_args(false);
}

void add_node_sources(CLI::App& command, Given& given) {
  add_nodes(command, given);
  command.add_option("--root", given.root, "Where proc, sys, cgroup and debugfs are looked for [/]")->type_name("DIR");
  command
      .add_option("--read-timeout", given.read_timeout,
                  "The longest that one source may take [COZY_DIAG_READ_TIMEOUT; 20]")
      ->type_name("SECONDS");
}

void add_sandbox(CLI::App& command, Given& given) {
  command
      .add_option("--sandbox", given.sandbox,
                  "Holds srv<N>/qemu.pid of the sandbox nodes [COZY_DIAG_SANDBOX_VM_ROOT; .]")
      ->type_name("DIR");
}

void add_sources(CLI::App& command, Given& given) {
  add_sandbox(command, given);
  add_node_sources(command, given);
}

void add_snapshot(CLI::App& command, Given& given) {
  command
      .add_option("--snapshot", given.snapshot,
                  "The name of this bracket in the report [COZY_SNAPSHOT_NAME; kubernetes]")
      ->type_name("NAME");
}

void add_interval(CLI::App& command, Given& given) {
  command
      .add_option("--interval", given.interval,
                  "Between the readings of the timeline; 0 for no timeline [COZY_INTERVAL; 1]")
      ->type_name("SECONDS");
}

void add_sampling(CLI::App& command, Given& given) {
  add_where(command, given);
  add_sources(command, given);
  add_snapshot(command, given);
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

void add_answer(CLI::App& command, const std::string& formats, const std::string& example, Given& given) {
  command.add_option("--format", given.format, formats + " [text]")->type_name("FORMAT");
  command
      .add_option("--output", given.output,
                  "The file for the answer, which is there whole or not at all; - is standard output [-]")
      ->type_name("FILE");
  command.footer(
      "A report is a directory, a cozyreport.tgz, the .zip that a browser downloads, or - for standard input.\n"
      "html is a page for a browser, one file that needs no network: the timeline, the findings, every capture.\n"
      "\n  cozybracket " +
      example +
      " --format html --output report.html\n"
      "\n"
      "Exit status: 0 whatever was found, 1 a report could not be read or the answer not be written, 2 usage.");
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

void add_watch_start(CLI::App& start, Given& given) {
  add_where(start, given);
  add_snapshot(start, given);
  add_sandbox(start, given);
  add_nodes(start, given);
  add_interval(start, given);
  start.add_option("--max-duration", given.max_duration, "The longest that it goes on [7200]")->type_name("SECONDS");
  start
      .add_option("--while-pid", given.while_pid,
                  "It ends with this process; 0 for none [the nearest above the caller that is no shell]")
      ->type_name("PID");
  start.footer(
      "Begins a recorder that goes on when this has returned, and holds none of its caller's pipes: a light reading\n"
      "every interval, a line each, in <report-dir>/snapshots/<snapshot>/timeline/timeline.jsonl.\n"
      "\n"
      "  cozybracket sample 1; cozybracket watch start     before the wait\n"
      "  cozybracket watch stop; cozybracket sample 2      behind it, on every path\n"
      "\n"
      "It ends by `watch stop`, and by itself: 10 s behind the sandbox's last QEMU, once it has seen one; at\n"
      "--max-duration; at 8 MiB, before which it halves its readings again and again; and with --while-pid. A hook is\n"
      "a shell that ends at once, so by default that is what runs the hooks: the first process above the caller of\n"
      "`watch start` that is neither a shell nor sudo, env, timeout and the like; none where that is process 1 or\n"
      "outside of the container. The last line of the file says which it was.\n"
      "Where one is at work for this snapshot it goes on, with its own options; the file of one that has ended is\n"
      "replaced.\n"
      "Exit status: 0 it is at work, or the interval is 0; 2 usage; 3 it could not be begun.");
}

void add_watch(CLI::App& watch, CLI::App*& start, CLI::App*& stop, Given& given) {
  watch.footer("`cozybracket watch start --help` explains what ends a recorder.");
  watch.require_subcommand(0, 1);
  start = watch.add_subcommand("start", "Begin a recorder of the timeline, before the wait");
  add_watch_start(*start, given);
  stop = watch.add_subcommand("stop", "End it, behind the wait, and say what it has read");
  add_where(*stop, given);
  add_snapshot(*stop, given);
  stop->footer(
      "No process is signalled but the one that has the timeline's file locked and that the file names.\n"
      "Exit status: 0 the timeline has readings, also of a recorder that had ended before; 1 it has none, or none was\n"
      "begun; 2 usage; 3 a recorder could not be ended, or its file not be read.");
}

struct CommandLine {
  CLI::App app{k_about, "cozybracket"};
  Given given;
  CLI::App* run = nullptr;
  CLI::App* sample = nullptr;
  CLI::App* watch = nullptr;
  CLI::App* watch_start = nullptr;
  CLI::App* watch_stop = nullptr;
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
    add_interval(*run, given);
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
    watch = app.add_subcommand("watch", "The seconds between two samples, for hooks that bracket by themselves");
    add_watch(*watch, watch_start, watch_stop, given);
    pack = app.add_subcommand("pack", "The report directory as <report-dir>.tgz");
    pack->footer("Exit status: 0 packed, 2 usage, 3 nothing could be written.");
    add_where(*pack, given);
    add_output(*pack, given);
    analyze = app.add_subcommand("analyze", "What a report says: the layer that took the time");
    analyze->add_option("REPORT", given.report, "The report")->type_name("");
    analyze->add_option("--snapshot", given.one_snapshot, "This bracket alone [every one, the worst first]")
        ->type_name("NAME");
    analyze->add_flag("--explain", given.explain, "The thresholds and the rules, too; needs no REPORT");
    add_answer(*analyze, "text, markdown, json, openmetrics, html or perfetto (for ui.perfetto.dev)",
               "analyze cozyreport.tgz", given);
    compare = app.add_subcommand("compare", "Two reports side by side");
    compare->add_option("GREEN", given.green, "The passing run's report")->type_name("");
    compare->add_option("RED", given.red, "The failing run's")->type_name("");
    add_answer(*compare, "text, markdown, json or html", "compare green.tgz red.tgz", given);
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

Invocation::What command_of(const CommandLine& line) {
  using What = Invocation::What;
  if (line.run->parsed()) return What::run;
  if (line.sample->parsed()) return What::sample;
  if (line.watch_start->parsed()) return What::watch_start;
  if (line.watch_stop->parsed()) return What::watch_stop;
  if (line.pack->parsed()) return What::pack;
  if (line.analyze->parsed()) return What::analyze;
  if (line.compare->parsed()) return What::compare;
  if (line.policy->parsed()) return What::policy;
  return line.doctor->parsed() ? What::doctor : What::probe;
}

/// Of the command whose options cannot be parsed: "", "run", "watch start".
std::string name_so_far(const CommandLine& line) {
  std::string name;
  for (const CLI::App* command = &line.app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  return name;
}

Parsed finish(const CommandLine& line, std::vector<std::string> command, bool had_mark) {
  Invocation invocation;
  OptionReader reader(invocation);
  for (const CLI::App* command_given : {line.app.get_subcommands().front(), line.watch_start, line.watch_stop})
    refuse_empty(*command_given, reader);
  invocation.what = command_of(line);
  invocation.command = std::move(command);
  read_given(line.given, reader, invocation);
  const bool is_run = invocation.what == Invocation::What::run;
  const std::string name = command_name(invocation.what);
  if (is_run && invocation.command.empty()) {
    reader.refuse(
        name,
        Error{"", had_mark ? "nothing stands behind the \"--\"" : "there is no \"--\" with a COMMAND behind it", 0},
        "such as: cozybracket run --sandbox /workspace -- ./wait-for-nodes.sh");
  }
  if (had_mark && !is_run) reader.refuse(name, Error{"\"--\"", "has no place here", 0}, "only run takes a COMMAND");
  if (!reader.refusal().empty()) return usage_error(reader.refusal(), name, is_run ? k_never_run : k_usage);
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
    const std::string name = name_so_far(line);
    return usage_error((name.empty() ? "" : name + ": ") + escape(error.what()), name, is_run ? k_never_run : k_usage);
  } catch (const std::exception& error) {
    return usage_error(escape(error.what()), "", is_run ? k_never_run : k_usage);
  }
  if (line.app.get_subcommands().empty()) {
    return usage_error(
        "there is no command; it is one of run, sample, watch, pack, analyze, compare, policy, doctor and probe", "",
        k_usage);
  }
  if (line.watch->parsed() && line.watch->get_subcommands().empty())
    return usage_error("watch is told neither to start nor to stop; it is watch start before the wait", "watch",
                       k_usage);
  return finish(line, std::move(command), had_mark);
}

}  // namespace cozy
