#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

/// Rules that need KVM's statistics of a node: halts and exits. Where they are not known, nothing is claimed.
namespace cozy {

namespace {

Finding finding_of(const NodeBudget& node, Level level) {
  Finding finding;
  finding.level = level;
  finding.subject = names_text({node.name});
  return finding;
}

std::string window_words(const NodeBudget& node) { return seconds_text(vcpu_window_seconds(node)); }

/// Exits are divided by the stamps of their own capture.
bool exits_can_be_judged(const Analysis& analysis) {
  const ComparedPair* pair = analysis.pair(k_kvm_capture);
  return pair == nullptr || can_be_judged(pair->interval);
}

std::string vm_scope(const NodeBudget& node) { return node.kvm ? "vm " + node.kvm->vm : std::string(); }

/// A field of the node's VM and of each of its vCPUs, where debugfs or the descriptors have it.
void add_kvm_evidence(const NodeBudget& node, std::string_view field, EvidenceList& list) {
  for (const VcpuTime& vcpu : node.vcpus) list.add(node.name + "/vcpu" + std::to_string(vcpu.index), field);
  const std::string scope = vm_scope(node);
  if (scope.empty()) return;
  list.add(scope, field);
  for (const VcpuTime& vcpu : node.vcpus) list.add(scope + " vcpu" + std::to_string(vcpu.index), field);
}

/// The rest is time blocked in the host only when all the other parts are known and no halt is left to be counted.
bool rest_is_blocked(const VcpuTime& vcpu) {
  const TimeParts& parts = vcpu.parts;
  return parts.ran_seconds && parts.waited_seconds && parts.halted_seconds && vcpu.halt_in_progress == false;
}

bool was_stopped(const NodeBudget& node) { return node.process_state_before == "T" || node.process_state_after == "T"; }

/// How often a vCPU, or its whole VM, left guest mode. Exits that an interrupt of the runner makes are not the
/// guest's.
struct ExitRate {
  double per_second = 0;
  bool of_vm = false;         ///< of all vCPUs together: a vCPU has at most that many
  bool runner_aside = false;  ///< without the exits that interrupts of the runner made
};

/// Of the whole VM, as debugfs has it: a sum over descriptors can lack the very vCPU that is asked about.
std::optional<ExitRate> exits_of(const NodeBudget& node) {
  if (node.kvm && node.kvm->source != "debugfs") return std::nullopt;
  const auto all = node.kvm ? node.kvm->rate("exits") : std::nullopt;
  const auto by_runner = node.kvm ? node.kvm->rate("irq_exits") : std::nullopt;
  if (all && by_runner) return ExitRate{std::max(0.0, *all - *by_runner), true, true};
  const auto any = all ? all : node.exits_per_second;
  return any ? std::optional(ExitRate{*any, true, false}) : std::nullopt;
}

std::optional<ExitRate> exits_of(const VcpuTime& vcpu, const std::optional<ExitRate>& of_vm) {
  if (vcpu.guest_exits_per_second) return ExitRate{*vcpu.guest_exits_per_second, false, true};
  if (vcpu.exits_per_second) return ExitRate{*vcpu.exits_per_second, false, false};
  return of_vm;
}

/// A vCPU that ran nearly all the time and hardly left guest mode meanwhile.
bool is_busy_and_flat(const VcpuTime& vcpu, const std::optional<ExitRate>& exits) {
  const auto ran = vcpu.parts.share(vcpu.parts.ran_seconds);
  if (!ran || !exits || !share_reaches(*ran, Threshold::busy_ran)) return false;
  return exits->per_second / *ran <= threshold(Threshold::busy_exits).value;
}

/// Exits per second of vCPU run, over all vCPUs of a node.
std::optional<double> exits_per_run_second(const NodeBudget& node) {
  if (!node.exits_per_second || !node.sum.ran_seconds || *node.sum.ran_seconds <= 0) return std::nullopt;
  return *node.exits_per_second * vcpu_window_seconds(node) / *node.sum.ran_seconds;
}

bool is_kind_of_exit(std::string_view field) {
  constexpr std::array<std::string_view, 5> k_others{"pf_taken", "hypercalls", "nested_run", "tlb_flush",
                                                     "insn_emulation"};
  return (field != "exits" && field.ends_with("exits")) ||
         std::find(k_others.begin(), k_others.end(), field) != k_others.end();
}

/// The counters that climbed most, of those that name a reason to exit.
std::vector<FieldRate> leading_kinds(const NodeBudget& node) {
  constexpr std::size_t k_shown = 3;
  std::vector<FieldRate> kinds;
  if (!node.kvm) return kinds;
  for (const FieldRate& rate : node.kvm->rates) {
    if (is_kind_of_exit(rate.field) && rate.per_second > 0) kinds.push_back(rate);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const FieldRate& a, const FieldRate& b) { return a.per_second > b.per_second; });
  if (kinds.size() > k_shown) kinds.resize(k_shown);
  return kinds;
}

std::string busy_words(const Analysis& analysis, const NodeBudget& node, const VcpuTime& vcpu, const ExitRate& exits) {
  return "vCPU " + std::to_string(vcpu.index) + " of " + names_text({node.name}) + " ran " +
         percent_text(vcpu.parts.share(vcpu.parts.ran_seconds).value_or(0)) + " of " + window_words(node) +
         caveat_of(analysis, node) + ", and " + (exits.of_vm ? "the whole VM" : "it") + " left guest mode " +
         number_text(exits.per_second) + " times per second" +
         (exits.runner_aside ? " (interrupts of the runner aside)" : "") + ": the guest spins without leaving";
}

struct NodeExits {
  const NodeBudget* node = nullptr;
  double per_run_second = 0;
};

Finding exit_storm(const Analysis& analysis, const NodeExits& exits, const std::optional<double>& others) {
  const NodeBudget& node = *exits.node;
  Finding finding = finding_of(node, Level::warning);
  finding.says = finding.subject + " left guest mode " + number_text(exits.per_run_second) +
                 " times per second of vCPU run (" + number_text(*node.exits_per_second) + " per second)";
  if (others) finding.says += ", the other nodes " + number_text(*others) + " in the median";
  EvidenceList list(analysis, k_kvm_capture);
  add_kvm_evidence(node, "exits", list);
  std::vector<std::string> kinds;
  for (const FieldRate& kind : leading_kinds(node)) {
    kinds.push_back(escape(kind.field) + " " + number_text(kind.per_second) + "/s");
    add_kvm_evidence(node, kind.field, list);
  }
  if (!kinds.empty()) finding.says += "; leading: " + join(kinds, ", ");
  finding.evidence = list.take();
  // What the exits can have cost is the time on a CPU outside the guest.
  const TimeParts& sum = node.sum;
  if (sum.guest_seconds) finding.weight = sum.share(*sum.ran_seconds - *sum.guest_seconds).value_or(0);
  return finding;
}

}  // namespace

Findings find_node_blocked(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    if (was_stopped(*node)) continue;  // that explains it
    double blocked = 0;
    double base = 0;
    std::size_t vcpus = 0;
    for (const VcpuTime& vcpu : node->vcpus) {
      if (!rest_is_blocked(vcpu)) continue;
      blocked += vcpu.parts.rest_seconds;
      base += vcpu.parts.base_seconds;
      ++vcpus;
    }
    const double share = base > 0 ? blocked / base : 0;
    if (vcpus == 0 || !share_reaches(share, Threshold::blocked)) continue;
    Finding finding = finding_of(*node, Level::warning);
    finding.says = "the vCPUs of " + finding.subject + " were off the CPU, not waiting for one and not halted, for " +
                   percent_text(share) + " of " + window_words(*node) + caveat_of(analysis, *node);
    if (vcpus < node->vcpus.size()) {
      finding.says += " (" + std::to_string(vcpus) + " of " + std::to_string(node->vcpus.size()) +
                      " vCPUs: of the others it is not known)";
    }
    EvidenceList list(analysis, k_threads_capture);
    add_vcpu_evidence(*node, "on_cpu_ns", list);
    add_vcpu_evidence(*node, "run_delay_ns", list);
    finding.evidence = list.take();
    EvidenceList halts(analysis, k_kvm_capture);
    add_kvm_evidence(*node, "halt_wait_ns", halts);
    for (Evidence& evidence : halts.take()) finding.evidence.push_back(std::move(evidence));
    finding.weight = std::min(blocked / node->sum.base_seconds, 1.0);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_halted(const Analysis& analysis) {
  Findings findings;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    double least = 1;
    for (const VcpuTime& vcpu : node->vcpus) {
      least = std::min(least, vcpu.parts.share(vcpu.parts.halted_seconds).value_or(0));
    }
    if (!share_reaches(least, Threshold::halted)) continue;
    Finding finding = finding_of(*node, Level::notice);
    finding.says = "every vCPU of " + finding.subject + " was halted for " + percent_text(least) + " of " +
                   window_words(*node) + " or more" + caveat_of(analysis, *node) + ": the guest had nothing to run";
    EvidenceList list(analysis, k_kvm_capture);
    add_kvm_evidence(*node, "halt_wait_ns", list);
    finding.evidence = list.take();
    finding.weight = node->sum.share(node->sum.halted_seconds).value_or(least);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_busy_flat(const Analysis& analysis) {
  Findings findings;
  if (!exits_can_be_judged(analysis)) return findings;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    Finding finding = finding_of(*node, Level::warning);
    EvidenceList list(analysis, k_threads_capture);
    const auto of_vm = exits_of(*node);
    std::size_t busy = 0;
    double ran = 0;
    for (const VcpuTime& vcpu : node->vcpus) {
      const auto exits = exits_of(vcpu, of_vm);
      if (!is_busy_and_flat(vcpu, exits)) continue;
      if (++busy == 1) finding.says = busy_words(analysis, *node, vcpu, *exits);
      ran += *vcpu.parts.ran_seconds;
      list.add(thread_scope(*node, vcpu.tid), vcpu.ran_by_ticks ? "utime" : "on_cpu_ns");
    }
    if (busy == 0) continue;
    if (busy > 1) finding.says += "; " + std::to_string(busy - 1) + " more of its vCPUs do as well";
    finding.evidence = list.take();
    EvidenceList exits(analysis, k_kvm_capture);
    add_kvm_evidence(*node, "exits", exits);
    for (Evidence& evidence : exits.take()) finding.evidence.push_back(std::move(evidence));
    finding.weight = std::min(ran / node->sum.base_seconds, 1.0);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings find_node_exit_storm(const Analysis& analysis) {
  Findings findings;
  if (!exits_can_be_judged(analysis)) return findings;
  std::vector<NodeExits> nodes;
  for (const NodeBudget* node : judged_nodes(analysis)) {
    if (const auto rate = exits_per_run_second(*node)) nodes.push_back({node, *rate});
  }
  std::vector<double> rates;
  for (const NodeExits& exits : nodes) rates.push_back(exits.per_run_second);
  const MedianOfOthers medians(std::move(rates));
  for (const NodeExits& exits : nodes) {
    const auto others = medians.without(exits.per_run_second);
    const bool many = reaches(exits.per_run_second, Threshold::storm_exits);
    const double factor = threshold(Threshold::storm_above_others).value;
    const bool far_above = others && *others > 0 && exits.per_run_second >= factor * *others;
    if (!reaches(*exits.node->exits_per_second, Threshold::storm_floor) || !(many || far_above)) continue;
    findings.push_back(exit_storm(analysis, exits, others));
  }
  return findings;
}

}  // namespace cozy
