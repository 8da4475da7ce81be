#include "collector/doctor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "collector/render/neutral.hpp"
#include "collector/run/bounded.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::string readable_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::complete:
      return "yes";
    case Outcome::partial:
      return "partly";
    case Outcome::empty:
      return "none";
    case Outcome::unavailable:
      return "no";
  }
  return "no";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What gets in the way, by the words of the kernel and of the probes, and the way out of it.
std::string advice_for(const std::string& capture, const Judgement& judgement) {
  const std::string& reason = judgement.reason;
  if (judgement.outcome == Outcome::complete) return "-";
  if (contains(reason, "lockdown"))
    return "boot the runner without Secure Boot's lockdown, or live without debugfs counters";
  if (contains(reason, "NO-KVM-DIR")) return "load kvm, or check that the nodes run with accel=kvm on this kernel";
  if (contains(reason, "NO-COUNTER-FILES")) return "start the nodes first";
  if (contains(reason, "NO-DEBUGFS")) return "run as root in a privileged container (CAP_SYS_ADMIN)";
  if (contains(reason, "NO-QEMU-PROCESS"))
    return "start the nodes first; run where their processes are seen (the same PID namespace)";
  if (contains(reason, "NO-PROC-READ")) return "mount /proc";
  if (contains(reason, "bound reached"))
    return "a source does not answer; raise --read-timeout, and look for what holds it";
  if (contains(reason, "EPERM") || contains(reason, "EACCES")) return "run as root";
  if (capture == "runner-kernel-cpu-time") return "mount /proc";
  return "see `cozybracket probe " + capture + "`";
}

std::string counted(std::size_t count, const std::string& what) { return std::to_string(count) + " " + what; }

std::string what_was_read(const ReadCapture& read) {
  std::size_t threads = 0;
  std::size_t vms = 0;
  std::string last_vm;
  for (const Row& row : read.reading.rows) {
    if (row.field == "utime" && row.scope.starts_with("thread ")) ++threads;
    if (row.scope.starts_with("vm ") && row.scope.find(" vcpu") == std::string::npos && row.scope != last_vm) {
      ++vms;
      last_vm = row.scope;
    }
  }
  if (threads > 0) return counted(threads, "threads");
  if (vms > 0) return counted(read.reading.rows.size(), "values") + ", " + counted(vms, "VMs");
  return counted(read.reading.rows.size(), "values");
}

void diagnose_nodes(const Reading& reading, std::vector<Diagnosis>& table) {
  for (const NodeEvidence& node : reading.nodes) {
    const std::string notes = join(node.notes, "; ");
    if (node.pid) {
      const std::string why = "process " + std::to_string(*node.pid) + ", by " + join(node.evidence, " and ");
      table.push_back({"  node " + node.node, "yes", notes.empty() ? why : why + "; " + notes, "-"});
    } else {
      table.push_back({"  node " + node.node, "no", notes, "start the node, or name its pid file with --node"});
    }
  }
  if (reading.nodes.empty() && reading.finding.empty() && reading.unavailable.empty()) {
    table.push_back({"  nodes", "no", "no pid file and no guest name was found",
                     "name the sandbox with --sandbox, or a pid file with --node"});
  }
}

void diagnose_run_queue_delay(const Reading& reading, std::vector<Diagnosis>& table) {
  const bool threads = reading.finding.empty() && reading.unavailable.empty();
  if (!threads) return;
  const auto has = [&](std::string_view field) {
    return std::any_of(reading.rows.begin(), reading.rows.end(), [&](const Row& row) { return row.field == field; });
  };
  if (has("run_delay_ns")) {
    table.push_back({"  run-queue delay", "yes", "schedstat of each thread", "-"});
  } else {
    table.push_back(
        {"  run-queue delay", "no", reading.notes.empty() ? "schedstat absent" : reading.notes.front(),
         "use a kernel with CONFIG_SCHED_INFO; without it waiting for CPU cannot be told from being blocked"});
  }
}

/// "" where it is there, "will be made" where it can be, else why nothing can be written there.
std::string look_at_report_directory(const std::string& directory) {
  std::string place = directory;
  while (::access(place.c_str(), F_OK) != 0 && place.rfind('/') != std::string::npos && place.rfind('/') > 0) {
    place.resize(place.rfind('/'));
  }
  if (::access(place.c_str(), F_OK) != 0) place = directory.starts_with('/') ? "/" : ".";
  struct stat facts {};
  if (::stat(place.c_str(), &facts) != 0) return place + ": " + errno_text(errno);
  if (!S_ISDIR(facts.st_mode)) return place + ": is a file, not a directory";
  if (::access(place.c_str(), W_OK | X_OK) != 0) return place + ": " + errno_text(errno);
  return place == directory ? "" : "will be made";
}

Diagnosis diagnose_report_directory(const std::string& directory) {
  constexpr std::int64_t k_bound_ns = k_ns_per_second;
  const auto seen = run_bounded(k_bound_ns, [&] { return look_at_report_directory(directory); });
  const bool writable = seen && (seen->empty() || *seen == "will be made");
  if (!writable) {
    return {"report directory", "no", seen ? *seen : directory + ": " + seen.error().text(),
            "give another with --report-dir"};
  }
  return {"report directory", "yes", directory + (seen->empty() ? "" : " (" + *seen + ")"), "-"};
}

void print_table(const std::vector<Diagnosis>& table) {
  std::size_t source = 6;
  std::size_t why = 3;
  constexpr std::size_t k_widest_why = 72;
  for (const Diagnosis& row : table) {
    source = std::max(source, row.source.size());
    why = std::max(why, std::min(row.why.size(), k_widest_why));
  }
  const auto print = [&](const Diagnosis& row) {
    std::string line = row.source + std::string(source - row.source.size() + 2, ' ') + row.readable;
    line += std::string(10 - row.readable.size(), ' ') + row.why;
    line += std::string(row.why.size() < why ? why - row.why.size() + 2 : 2, ' ') + row.advice;
    std::puts(neutral(line).c_str());
  };
  print({"source", "readable", "why", "what to do"});
  for (const Diagnosis& row : table) print(row);
}

}  // namespace

std::vector<Diagnosis> diagnose(const ReadCapture& read) {
  const Judgement& judgement = read.capture.judgement;
  std::vector<Diagnosis> table;
  const std::string why = judgement.reason.empty() ? what_was_read(read) : judgement.reason;
  table.push_back({read.capture.name, readable_word(judgement.outcome), why, advice_for(read.capture.name, judgement)});
  if (read.capture.name == "sandbox-qemu-thread-cpu") {
    diagnose_nodes(read.reading, table);
    diagnose_run_queue_delay(read.reading, table);
  }
  return table;
}

int examine(const SampleOptions& options) {
  std::vector<std::vector<Diagnosis>> parts(chosen_probes(options, 1).size());
  bool all = true;
  read_sources(options, 1, [&](std::size_t i, const ReadCapture& read) {
    parts[i] = diagnose(read);
    all = all && holds_data(read.capture.judgement.outcome);
  });
  std::vector<Diagnosis> table;
  for (const auto& part : parts) table.insert(table.end(), part.begin(), part.end());
  table.push_back(diagnose_report_directory(options.report_dir));
  print_table(table);
  return all ? 0 : 1;
}

}  // namespace cozy
