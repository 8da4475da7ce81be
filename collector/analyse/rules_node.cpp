#include <algorithm>
#include <string>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

/// Rules on the processes of the nodes and on their threads that are no vCPUs.
namespace cozy {

namespace {

Finding warning_of(const NodeBudget& node) {
  Finding finding;
  finding.level = Level::warning;
  finding.subject = names_text({node.name});
  return finding;
}

std::string pid_text(const std::optional<std::uint64_t>& pid) { return pid ? std::to_string(*pid) : "unknown"; }

bool is_stopped(const std::string& state) { return state == "T"; }

/// Neither running nor waiting for a CPU: as long as a process was stopped, it was in there.
double rest_share(const NodeBudget& node) {
  if (!has_judged_vcpus(node)) return 1;  // nothing else is known of its time
  return node.sum.share(node.sum.rest_seconds).value_or(1);
}

std::vector<Evidence> process_evidence(const Analysis& analysis, const NodeBudget& node, std::string_view field) {
  EvidenceList list(analysis, k_threads_capture);
  std::optional<std::uint64_t> last;
  for (const auto& pid : {node.pid_before, node.pid_after}) {
    if (!pid || pid == last) continue;
    last = pid;
    // The main thread stands for a process whose own line was not read.
    const std::string main_thread = "thread " + std::to_string(*pid) + "/" + std::to_string(*pid);
    if (!list.add(process_scope(*pid), field)) list.add(main_thread, field);
  }
  return list.take();
}

std::string known_by_statistics(const NodeBudget& node) {
  return "no thread of " + names_text({node.name}) + " has a vCPU's name (QEMU runs without debug-threads=on): its " +
         std::to_string(node.vcpus.size()) + " vCPUs are known by the ids of KVM's statistics";
}

}  // namespace

bool has_unnamed_vcpus(const NodeBudget& node) {
  return node.state == NodeState::present && node.vcpus.empty() && node.vcpus_unpaired == 0 && !node.others.empty();
}

Findings find_node_stopped(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget& node : analysis.nodes) {
    const bool before = is_stopped(node.process_state_before);
    const bool after = is_stopped(node.process_state_after);
    if (!before && !after) continue;
    Finding finding = warning_of(node);
    const std::string samples = before && after ? "samples 1 and 2" : (before ? "sample 1" : "sample 2");
    finding.says = finding.subject + " is stopped (state T) in " + samples;
    if (has_judged_vcpus(node)) {
      finding.says += ": its vCPUs neither ran nor waited for a CPU for " + percent_text(rest_share(node)) + " of " +
                      seconds_text(window_of(node)->seconds());
    }
    finding.evidence = process_evidence(analysis, node, "state");
    finding.weight = rest_share(node);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_left(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::left) continue;
    Finding finding = warning_of(node);
    const std::string process = "process " + pid_text(node.pid_before);
    // A process that is no known node is named by its number already.
    finding.says =
        (node.anonymous ? process : finding.subject + " left: " + process) + " of sample 1 is gone in sample 2";
    finding.evidence = process_evidence(analysis, node, "start");
    finding.weight = 1;
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_restarted(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::restarted) continue;
    Finding finding = warning_of(node);
    finding.says = finding.subject + " is another process in sample 2: " + pid_text(node.pid_before) + " before, " +
                   pid_text(node.pid_after) + " after";
    if (node.pid_before == node.pid_after) finding.says += ", started anew under the same number";
    finding.evidence = process_evidence(analysis, node, "start");
    finding.weight = 1;
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_emulator_bound(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::present) continue;
    for (const ThreadTime& thread : node.others) {
      // Without vCPU names such a thread can be a vCPU.
      if (has_unnamed_vcpus(node) && thread.kind == ThreadKind::other) continue;
      if (!can_be_judged(thread.window) || !thread.ran_seconds) continue;
      const double share = std::min(*thread.ran_seconds / thread.window->seconds(), 1.0);
      if (!share_reaches(share, Threshold::emulator_ran)) continue;
      Finding finding = warning_of(node);
      finding.says = "thread " + std::to_string(thread.tid) + " (" + escape(thread.name) + ", " +
                     std::string(thread_kind_name(thread.kind)) + ") of " + finding.subject + " is no vCPU and ran " +
                     percent_text(share) + " of " + seconds_text(thread.window->seconds()) + " on one CPU";
      EvidenceList list(analysis, k_threads_capture);
      for (const char* field : {"on_cpu_ns", "utime", "stime"}) list.add(thread_scope(node, thread.tid), field);
      finding.evidence = list.take();
      // What it can explain is time in which the vCPUs neither ran nor waited for a CPU.
      finding.weight = std::min(share, rest_share(node));
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings find_vcpu_unnamed(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget& node : analysis.nodes) {
    if (!has_unnamed_vcpus(node) && !node.vcpus_by_statistics) continue;
    Finding finding = warning_of(node);
    finding.level = node.vcpus_by_statistics ? Level::info : Level::notice;
    finding.says =
        node.vcpus_by_statistics
            ? known_by_statistics(node)
            : "no thread of " + finding.subject + " has a vCPU's name, of " + std::to_string(node.others.size()) +
                  " (QEMU runs without debug-threads=on): which of them are vCPUs, and whether they waited for CPU, "
                  "is open";
    EvidenceList list(analysis, k_threads_capture);
    for (const VcpuTime& vcpu : node.vcpus) list.add(thread_scope(node, vcpu.tid), "comm");
    for (const ThreadTime& thread : node.others) list.add(thread_scope(node, thread.tid), "comm");
    finding.evidence = list.take();
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cozy
