#include "vcpu_statistics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kvm_stats.hpp"
#include "sandbox_processes.hpp"
#include "text.hpp"

namespace cozy {

namespace {

using Answer = Watchdog::Answer;
using What = Watchdog::What;

constexpr std::size_t k_most_descriptors = 65536;
constexpr std::size_t k_statistics_cap = 256UL * 1024;
constexpr std::string_view k_link = "anon_inode:kvm-vcpu-stats:";

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

/// The descriptors of one process, found by what their links say.
std::vector<Watchdog::Request> find_descriptors(const ProbeContext& context, std::uint64_t pid, Sink& sink,
                                                VcpuStatistics& found) {
  const std::string directory = proc_path(context, pid, "fd");
  const Answer listing = context.watchdog.read({directory, What::listing, k_most_descriptors});
  if (!listing.ok() && !listing.vanished()) {
    ++found.failed;
    sink.note("the descriptors of process " + std::to_string(pid) + " cannot be listed: " + listing.reason());
  }
  const std::vector<std::uint64_t> names = numbers(listing.entries);
  std::vector<Watchdog::Request> links;
  for (const std::uint64_t name : names) links.push_back({directory + "/" + std::to_string(name), What::symlink});
  const std::vector<Answer> targets = context.watchdog.read(std::move(links));
  std::vector<Watchdog::Request> requests;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!targets[i].ok() || !targets[i].target.starts_with(k_link)) continue;
    requests.push_back({targets[i].target, What::borrowed, k_statistics_cap, pid, static_cast<int>(names[i])});
  }
  return requests;
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
  found.node_of_tid.emplace(statistics.tid, owner);
}

void sample_process(const ProbeContext& context, const ProcessFacts& process, const std::string& owner, Sink& sink,
                    VcpuStatistics& found) {
  const std::vector<Watchdog::Request> requests = find_descriptors(context, process.pid, sink, found);
  const Stamp begin = now();
  const std::vector<Answer> answers = context.watchdog.read(requests);
  const Stamp end = now();
  const std::string facts = "of process " + std::to_string(process.pid) + " start " +
                            std::to_string(process.start_ticks) + " read from " + std::to_string(begin.boottime_ns) +
                            " to " + std::to_string(end.boottime_ns) + " boot-time ns";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].vanished()) {
      sink.line("[" + owner + " left during the walk]");
      continue;
    }
    const auto statistics = answers[i].ok() ? parse_kvm_statistics(answers[i].file.text) : answers[i].error;
    if (statistics) {
      write_vcpu(owner, facts, *statistics, sink, found);
    } else {
      ++found.failed;
      Answer refused = answers[i];
      refused.error = statistics.error();
      sink.not_read("vcpu " + owner + " " + requests[i].path, refused);
    }
  }
  sink.flush();
}

}  // namespace

VcpuStatistics write_vcpu_statistics(const ProbeContext& context, Sink& sink) {
  VcpuStatistics found;
  if (!context.root.is_machine()) return found;  // what a tree holds of descriptors are dead links
  StringSink quiet;  // what could not be read of processes is said by sandbox-qemu-thread-cpu
  const SandboxProcesses sandbox = find_sandbox_processes(context, quiet);
  for (const ProcessFacts& process : sandbox.processes) {
    if (!process.qemu || process.zombie) continue;
    ++found.processes;
    sample_process(context, process, owner_of(sandbox, process.pid), sink, found);
  }
  return found;
}

}  // namespace cozy
