#include "sandbox_processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_processes = 65536;
constexpr std::size_t k_command_line_cap = 256UL * 1024;
constexpr std::string_view k_qemu_program = "qemu-system";
constexpr std::string_view k_qemu_kvm = "qemu-kvm";  // as distributions of the Red Hat family, and KubeVirt, call it

using Answer = Watchdog::Answer;
using What = Watchdog::What;

/// Pid files: those the caller named, else every <sandbox>/srv<N>/qemu.pid.
std::vector<NodeSpec> node_specs(const ProbeContext& context, Sink& sink) {
  if (!context.nodes.empty()) return context.nodes;
  std::vector<NodeSpec> specs;
  const Answer sandbox = context.watchdog.read({context.sandbox, What::listing, k_most_processes});
  if (!sandbox.ok()) sink.note("no pid file was looked at: " + context.sandbox + ": " + sandbox.reason());
  for (const DirectoryEntry& entry : sandbox.entries) {
    const auto number = after_prefix(entry.name, "srv");
    if (number && parse_u64(*number)) specs.push_back({entry.name, context.sandbox + "/" + entry.name + "/qemu.pid"});
  }
  return specs;
}

std::vector<PidFile> read_pid_files(const ProbeContext& context, Sink& sink) {
  const std::vector<NodeSpec> specs = node_specs(context, sink);
  std::vector<Watchdog::Request> requests;
  for (const NodeSpec& spec : specs) requests.push_back({spec.pid_file, What::stream, 4096});
  const std::vector<Answer> answers = context.watchdog.read(std::move(requests));

  std::vector<PidFile> files;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    PidFile file{specs[i].name, std::nullopt, answers[i].file.mtime_ns, {}};
    if (answers[i].ok()) {
      const auto pid = parse_pid_text(answers[i].file.text);
      if (pid)
        file.pid = *pid;
      else
        file.unusable = pid.error().text();
    } else {
      file.unusable = answers[i].reason();
      if (answers[i].state == Watchdog::State::stalled) sink.not_read(specs[i].pid_file, answers[i]);
    }
    files.push_back(std::move(file));
  }
  return files;
}

/// When the kernel was booted, in epoch time: by this machine's clocks, or by a captured tree's btime.
std::optional<std::int64_t> boot_epoch_ns(const ProbeContext& context) {
  if (context.root.is_machine()) {
    const Stamp stamp = now();
    return stamp.epoch_ns - stamp.boottime_ns;
  }
  const Answer stat = context.watchdog.read({context.root.path("proc/stat"), What::record, 1UL << 20U});
  const auto btime = between(stat.file.text, "\nbtime ", "\n");
  const auto seconds = btime ? parse_i64(*btime) : std::nullopt;
  return seconds ? std::optional(bounded_ns(*seconds, 0)) : std::nullopt;
}

/// Ticks after boot as epoch time.
std::int64_t start_epoch_ns(std::int64_t boot_ns, std::uint64_t ticks) {
  const auto per_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  const auto seconds = static_cast<std::int64_t>(ticks / per_second);
  const auto rest = static_cast<std::int64_t>(ticks % per_second);
  return bounded_ns(0, boot_ns + bounded_ns(seconds, rest * (k_ns_per_second / static_cast<std::int64_t>(per_second))));
}

std::string comm_of(const Answer& answer) {
  std::string_view text = answer.file.text;
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

bool is_qemu_name(std::string_view name) { return name.starts_with(k_qemu_program) || name == k_qemu_kvm; }

/// A program whose name was changed (-name process=...) is still a QEMU by what it runs.
bool runs_qemu(const Answer& executable, std::string_view command_line) {
  const auto base = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  const std::string_view program =
      executable.ok() ? std::string_view(executable.target) : command_line.substr(0, command_line.find('\0'));
  return is_qemu_name(base(program));
}

/// Every process that is a QEMU or that a pid file names, with what tells which node it is.
std::vector<ProcessFacts> find_processes(const ProbeContext& context, const std::vector<PidFile>& pid_files,
                                         const std::vector<std::uint64_t>& pids, const std::vector<Answer>& comms) {
  std::vector<ProcessFacts> processes;
  std::vector<Watchdog::Request> requests;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const std::string comm = comm_of(comms[i]);
    const bool named = std::any_of(pid_files.begin(), pid_files.end(), [&](const auto& f) { return f.pid == pids[i]; });
    if (!is_qemu_name(comm) && !named) continue;
    processes.push_back({pids[i], comm, is_qemu_name(comm), false, std::nullopt, std::nullopt});
    requests.push_back({proc_path(context, pids[i], "stat")});
    requests.push_back({proc_path(context, pids[i], "cmdline"), What::stream, k_command_line_cap});
    requests.push_back({proc_path(context, pids[i], "exe"), What::symlink});
  }
  const auto boot = boot_epoch_ns(context);
  const std::vector<Answer> answers = context.watchdog.read(std::move(requests));
  for (std::size_t i = 0; i < processes.size(); ++i) {
    ProcessFacts& process = processes[i];
    const auto stat = parse_thread_stat(answers[3 * i].file.text);
    const std::string& command_line = answers[3 * i + 1].file.text;
    if (stat) {
      process.kernel_thread = stat->kernel_thread();
      process.start_ticks = stat->start_ticks;
      process.zombie = stat->state == 'Z' || stat->state == 'X';
      if (boot) process.start_epoch_ns = start_epoch_ns(*boot, stat->start_ticks);
    }
    if (!process.qemu && !process.kernel_thread) process.qemu = runs_qemu(answers[3 * i + 2], command_line);
    if (process.qemu) process.guest = guest_name(command_line);
  }
  return processes;
}

}  // namespace

std::string proc_path(const ProbeContext& context, std::uint64_t pid, std::string_view file) {
  return context.root.path("proc/" + std::to_string(pid) + "/" + std::string(file));
}

std::vector<std::uint64_t> numbers(const std::vector<DirectoryEntry>& entries) {
  std::vector<std::uint64_t> found;
  for (const DirectoryEntry& entry : entries) {
    if (const auto number = parse_u64(entry.name)) found.push_back(*number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

SandboxProcesses find_sandbox_processes(const ProbeContext& context, Sink& sink) {
  SandboxProcesses sandbox;
  const std::vector<PidFile> pid_files = read_pid_files(context, sink);
  const Answer listing = context.watchdog.read({context.root.path("proc"), What::listing, k_most_processes});
  if (!listing.ok()) sink.not_read("/proc", listing);
  const std::vector<std::uint64_t> pids = numbers(listing.entries);
  std::vector<Watchdog::Request> requests;
  for (const std::uint64_t pid : pids) requests.push_back({proc_path(context, pid, "comm")});
  const std::vector<Answer> comms = context.watchdog.read(std::move(requests));
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (comms[i].ok()) ++sandbox.readable;
    if (comms[i].ok() || comms[i].vanished()) continue;
    ++sandbox.unread;
    sink.not_read("/proc/" + std::to_string(pids[i]) + "/comm", comms[i]);
  }
  sandbox.processes = find_processes(context, pid_files, pids, comms);
  sandbox.nodes = resolve_nodes(pid_files, sandbox.processes);
  return sandbox;
}

}  // namespace cozy
