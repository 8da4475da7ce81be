#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "probe.hpp"
#include "sandbox_processes.hpp"
#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_threads = 65536;

using Answer = Watchdog::Answer;
using What = Watchdog::What;

void write_nodes(const std::vector<NodeEvidence>& nodes, const std::vector<ProcessFacts>& processes, Sink& sink) {
  for (const NodeEvidence& node : nodes) {
    const std::string name = "[node " + escape(node.node);
    if (node.pid) {
      sink.line(name + " is process " + std::to_string(*node.pid) + "; evidence: " + join(node.evidence, ", ") + "]");
      sink.line("[process " + std::to_string(*node.pid) + " is " + escape(node.node) + "]");
    } else {
      sink.line(name + " has no process]");
    }
    for (const std::string& note : node.notes) sink.line(name + " note: " + note + "]");
  }
  for (const ProcessFacts& process : processes) {
    const bool known = std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.pid == process.pid; });
    if (process.qemu && !known) sink.line("[process " + std::to_string(process.pid) + " is no known node]");
  }
}

/// "123 456 7" of schedstat, or nothing: Documentation/scheduler/sched-stats.rst, section on /proc/PID/schedstat.
std::string schedstat_part(const Answer& schedstat) {
  std::string part = " schedstat";
  const auto words = split_words(trim(schedstat.file.text));
  if (!schedstat.ok() || words.size() != 3) return {};
  for (const std::string_view word : words) {
    const auto number = parse_u64(word);
    if (!number) return {};
    part += " " + std::to_string(*number);
  }
  return part;
}

/// The context switches of proc_pid_status(5).
std::string switches_part(const Answer& status) {
  std::string part;
  const auto add = [&](std::string_view label, std::string_view name) {
    const auto value = between(status.file.text, label, "\n");
    const auto number = value ? parse_u64(trim(*value)) : std::nullopt;
    if (number) part += " " + std::string(name) + " " + std::to_string(*number);
  };
  add("\nvoluntary_ctxt_switches:", "voluntary");
  add("\nnonvoluntary_ctxt_switches:", "involuntary");
  return part;
}

struct Walk {
  std::size_t threads = 0;
  std::size_t failed = 0;  ///< what could not be read though it was there
  std::size_t without_schedstat = 0;
  std::string schedstat_reason;
};

/// Says why there is no stat line: it was not read, or it is none.
void not_whole(Sink& sink, const std::string& what, Answer stat) {
  if (stat.ok()) stat.error.reason = "not a whole line: \"" + stat.file.text.substr(0, 64) + "\"";
  sink.not_read(what, stat);
}

void write_thread(const std::string& id, const Answer* answers, Walk& walk, Sink& sink) {
  const Answer& stat = answers[0];
  if (stat.vanished()) {
    sink.line("[ended thread " + id + "]");
    return;
  }
  if (!stat.ok() || !parse_thread_stat(stat.file.text)) {
    ++walk.failed;
    not_whole(sink, "thread " + id + " stat", stat);
    return;
  }
  ++walk.threads;
  sink.line(thread_stat_line(stat.file.text));
  const std::string schedstat = schedstat_part(answers[1]);
  if (schedstat.empty()) {
    ++walk.without_schedstat;
    walk.schedstat_reason = answers[1].ok() ? "not three numbers" : answers[1].reason();
  }
  const std::string rest = schedstat + switches_part(answers[2]);
  if (!rest.empty()) sink.line("[thread " + id + rest + "]");
}

void sample_process(const ProbeContext& context, const ProcessFacts& process, Walk& walk, Sink& sink) {
  const std::string pid = std::to_string(process.pid);
  const Stamp begin = now();
  const Answer totals = context.watchdog.read({proc_path(context, process.pid, "stat")});
  const Answer tasks = context.watchdog.read({proc_path(context, process.pid, "task"), What::listing, k_most_threads});
  const std::vector<std::uint64_t> tids = numbers(tasks.entries);
  std::vector<Watchdog::Request> requests;
  for (const std::uint64_t tid : tids) {
    const std::string task = proc_path(context, process.pid, "task/" + std::to_string(tid));
    for (const char* file : {"/stat", "/schedstat", "/status"}) requests.push_back({task + file});
  }
  const std::vector<Answer> answers = context.watchdog.read(std::move(requests));
  const Stamp end = now();

  sink.line("process " + pid + " comm " + escape(process.comm));
  const auto stat = parse_thread_stat(totals.file.text);
  sink.line("[process " + pid + " start " + (stat ? std::to_string(stat->start_ticks) : "unknown") + " read from " +
            std::to_string(begin.boottime_ns) + " to " + std::to_string(end.boottime_ns) + " boot-time ns]");
  if (stat)
    sink.line("[process " + pid + " totals " + thread_stat_line(totals.file.text) + "]");
  else if (!totals.vanished())
    not_whole(sink, "process " + pid + " stat", totals);
  if (tasks.vanished()) {
    sink.line("[ended process " + pid + "]");
  } else if (!tasks.ok()) {
    ++walk.failed;
    sink.not_read("process " + pid + " task", tasks);
  }
  for (std::size_t i = 0; i < tids.size(); ++i) {
    write_thread(pid + "/" + std::to_string(tids[i]), &answers[3 * i], walk, sink);
  }
  sink.flush();
}

/// What it means that there is no thread line. Only what was read whole is a finding: a QEMU can be among
/// the processes, or the threads, that could not be read.
void write_finding(const SandboxProcesses& processes, std::size_t sampled, const Walk& walk, Sink& sink) {
  const std::string read = std::to_string(processes.readable) + " processes were read and none is a QEMU";
  const std::string named = std::to_string(sampled) + " QEMU processes were named and no thread could be read";
  if (processes.readable == 0) {
    sink.line("NO-PROC-READ: not one process could be read");
  } else if (sampled == 0 && processes.unread == 0) {
    sink.line("NO-QEMU-PROCESS: " + read);
  } else if (sampled == 0) {
    sink.note(read + "; " + std::to_string(processes.unread) + " more could not be read");
  } else if (walk.threads == 0 && walk.failed == 0) {
    sink.line("NO-THREAD-LINES: " + named);
  } else if (walk.threads == 0) {
    sink.note(named);
  }
}

}  // namespace

/// Every thread of every QEMU: its stat line verbatim, schedstat and context switches, under its process,
/// and which node that process is, by which evidence. proc_pid_stat(5), sched-stats.rst.
void run_sandbox_qemu_thread_cpu(const ProbeContext& context, Sink& sink) {
  sink.line("clock ticks per second: " + std::to_string(sysconf(_SC_CLK_TCK)));
  const SandboxProcesses sandbox = find_sandbox_processes(context, sink);
  write_nodes(sandbox.nodes, sandbox.processes, sink);
  sink.flush();

  Walk walk;
  std::size_t sampled = 0;
  for (const ProcessFacts& process : sandbox.processes) {
    if (!process.qemu) continue;
    ++sampled;
    sample_process(context, process, walk, sink);
  }
  if (walk.without_schedstat > 0) {
    sink.note("schedstat absent for " + std::to_string(walk.without_schedstat) + " of " + std::to_string(walk.threads) +
              " threads: " + walk.schedstat_reason);
  }
  write_finding(sandbox, sampled, walk, sink);
}

}  // namespace cozy
