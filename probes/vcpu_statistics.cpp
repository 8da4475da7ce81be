#include "vcpu_statistics.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "kvm_stats.hpp"
#include "sandbox_processes.hpp"
#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

using Answer = Watchdog::Answer;
using What = Watchdog::What;

constexpr std::size_t k_most_descriptors = 65536;
constexpr std::size_t k_statistics_cap = 256UL * 1024;
constexpr std::string_view k_link = "anon_inode:kvm-vcpu-stats:";
constexpr std::string_view k_vm_link = "anon_inode:kvm-vm";
constexpr std::string_view k_initial_pid_namespace = "pid:[4026531836]";  // PROC_PID_INIT_INO, proc_ns.h

/// "srv1", or "process 412" for a QEMU that no evidence ties to a node.
std::string owner_of(const SandboxProcesses& sandbox, std::uint64_t pid) {
  const auto node =
      std::find_if(sandbox.nodes.begin(), sandbox.nodes.end(), [&](const auto& n) { return n.pid == pid; });
  return node == sandbox.nodes.end() ? "process " + std::to_string(pid) : node->node;
}

std::string values_text(const KvmStatistic& statistic) {
  std::string text;
  for (const std::uint64_t value : statistic.values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

/// [vcpu srv1/vcpu0] halt_wait_ns 4500000000 cumulative seconds 10^-9
std::string row(const std::string& scope, const KvmStatistic& statistic) {
  std::string line = "[vcpu " + scope + "] " + statistic.name + " " + values_text(statistic) + " " + statistic.type +
                     " " + statistic.unit + " " + statistic.base + "^" + std::to_string(statistic.exponent);
  if (statistic.type == "linear-histogram") line += " bucket " + std::to_string(statistic.bucket_size);
  return line;
}

/// What the links of one process's descriptors say.
struct Descriptors {
  std::optional<std::vector<std::uint64_t>> vms;  ///< the numbers of its VMs, where all could be listed
  std::vector<Watchdog::Request> statistics;      ///< of its vCPUs
};

Descriptors find_descriptors(const ProbeContext& context, std::uint64_t pid, Sink& sink, VcpuStatistics& found) {
  const std::string directory = proc_path(context, pid, "fd");
  const Answer listing = context.watchdog.read({directory, What::listing, k_most_descriptors});
  Descriptors descriptors;
  if (!listing.ok()) {
    if (listing.vanished()) return descriptors;
    ++found.failed;
    sink.note("the descriptors of process " + std::to_string(pid) + " cannot be listed: " + listing.reason());
    return descriptors;
  }
  const std::vector<std::uint64_t> names = numbers(listing.entries);
  std::vector<Watchdog::Request> links;
  for (const std::uint64_t name : names) links.push_back({directory + "/" + std::to_string(name), What::symlink});
  const std::vector<Answer> targets = context.watchdog.read(std::move(links));
  descriptors.vms.emplace();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!targets[i].ok()) continue;
    if (targets[i].target == k_vm_link) descriptors.vms->push_back(names[i]);
    if (!targets[i].target.starts_with(k_link)) continue;
    descriptors.statistics.push_back(
        {targets[i].target, What::borrowed, k_statistics_cap, pid, static_cast<int>(names[i])});
  }
  return descriptors;
}

/// Whether it is the same process still, and no zombie: one that ends has no descriptors any more.
bool lives(const ProbeContext& context, const ProcessFacts& process) {
  if (process.start_ticks == 0 && !context.root.is_machine()) return true;  // a tree that has no stat of it
  const Answer answer = context.watchdog.read({proc_path(context, process.pid, "stat")});
  if (!answer.ok()) return !answer.vanished();
  const auto stat = parse_thread_stat(answer.file.text);
  return !stat || (stat->start_ticks == process.start_ticks && stat->state != 'Z' && stat->state != 'X');
}

/// The descriptor was closed between the listing and the read, or its process is ending.
bool closed(const Answer& answer) {
  return answer.vanished() || (answer.state == Watchdog::State::failed && answer.error.code == EBADF);
}

void write_vcpu(const std::string& owner, const std::string& process, const KvmStatistics& statistics, Sink& sink,
                VcpuStatistics& found) {
  const std::string scope = owner + "/vcpu" + std::to_string(statistics.vcpu);
  sink.line("[vcpu " + scope + " is " + statistics.id + " " + process + "]");
  for (const KvmStatistic& statistic : statistics.statistics) {
    sink.line(row(scope, statistic));
    found.values += statistic.values.size();
  }
  for (const std::string& left_out : statistics.left_out) sink.line("[skipped vcpu " + scope + "] " + left_out);
  ++found.vcpus;
  found.owners.owner_of_thread.emplace(statistics.tid, owner);
}

/// "srv1/vcpu3", by what the link of its descriptor says.
std::string vcpu_of_link(const std::string& owner, std::string_view link) {
  return owner + "/vcpu" + escape(link.substr(k_link.size()));
}

void sample_process(const ProbeContext& context, const ProcessFacts& process, const std::string& owner, Sink& sink,
                    VcpuStatistics& found) {
  Descriptors descriptors = find_descriptors(context, process.pid, sink, found);
  // What a tree of files holds of descriptors are links without anything behind them.
  if (!context.root.is_machine()) descriptors.statistics.clear();
  const Stamp begin = now();
  const std::vector<Answer> answers = context.watchdog.read(descriptors.statistics);
  const Stamp end = now();
  const std::string facts = "of process " + std::to_string(process.pid) + " start " +
                            std::to_string(process.start_ticks) + " read from " + std::to_string(begin.boottime_ns) +
                            " to " + std::to_string(end.boottime_ns) + " boot-time ns";
  std::vector<std::string> left;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& link = descriptors.statistics[i].path;
    if (closed(answers[i])) {
      left.push_back(vcpu_of_link(owner, link));
      continue;
    }
    const auto statistics = answers[i].ok() ? parse_kvm_statistics(answers[i].file.text) : answers[i].error;
    if (statistics) {
      write_vcpu(owner, facts, *statistics, sink, found);
    } else {
      ++found.failed;
      Answer refused = answers[i];
      refused.error = statistics.error();
      sink.not_read("vcpu " + owner + " " + link, refused);
    }
  }
  if ((!left.empty() || answers.empty()) && !lives(context, process)) left = {owner};
  for (const std::string& who : left) sink.line("[" + who + " left while it was read]");
  found.owners.holders.push_back({owner, process.pid, process.start_epoch_ns, std::move(descriptors.vms)});
  sink.flush();
}

}  // namespace

VcpuStatistics write_vcpu_statistics(const ProbeContext& context, Sink& sink) {
  VcpuStatistics found;
  StringSink quiet;  // what could not be read of processes is said by sandbox-qemu-thread-cpu
  const SandboxProcesses sandbox = find_sandbox_processes(context, quiet);
  for (const ProcessFacts& process : sandbox.processes) {
    if (!process.qemu || process.zombie) continue;
    ++found.processes;
    sample_process(context, process, owner_of(sandbox, process.pid), sink, found);
  }
  const Answer ns = context.watchdog.read({context.root.path("proc/self/ns/pid"), What::symlink});
  found.owners.initial_pid_namespace = ns.ok() && ns.target == k_initial_pid_namespace;
  return found;
}

}  // namespace cozy
