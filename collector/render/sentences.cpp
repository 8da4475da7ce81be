#include "collector/render/sentences.hpp"

#include <algorithm>

#include "collector/render/neutral.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr double k_least_share = 0.0005;  // below it stands 0.0 %

/// "user 61.0%", "iowait went back", "steal absent". Columns that few machines use are left out at 0.0 %.
std::string column_text(const CpuRow& row, CpuColumn column, bool always) {
  const std::string name(column_name(column));
  const ColumnTime& time = row.at(column);
  const auto share = row.share(column);
  if (share) {
    if (!always && *share < k_least_share && !time.fell) return {};
    return " " + name + " " + percent(*share) + (time.fell ? " (went back on a CPU, counted as 0 there)" : "");
  }
  if (time.fell) return " " + name + " went back";
  return always || time.before || time.after ? " " + name + " absent" : std::string();
}

std::string steal_text(const CpuTime& time, const StealClockFacts& clock) {
  const ColumnTime& steal = time.runner->at(CpuColumn::steal);
  if (time.steal != StealVerdict::unusable) {
    const bool natural = time.steal == StealVerdict::not_observable && clock.nobody_to_steal;
    return column_text(*time.runner, CpuColumn::steal, true) + " (" + std::string(verdict_name(time.steal)) +
           (natural ? ": " + clock.why : "") + ")";
  }
  std::string text = " steal unusable";
  if (steal.before && steal.after) {
    text += " (from " + std::to_string(*steal.before) + " to " + std::to_string(*steal.after) + " ticks)";
  }
  return text;
}

std::string vcpus_text(const NodeBudget& node) {
  std::string text = std::to_string(node.vcpus.size()) + " vcpus:";
  if (node.vcpus.empty() && node.vcpus_unpaired > 0) return text + " absent (no vCPU thread is in both samples)";
  if (node.vcpus.empty()) {
    return text + " absent (no thread has a vCPU's name: is QEMU run without debug-threads=on?)";
  }
  const TimeParts& sum = node.sum;
  const auto why = [&](std::string_view otherwise) { return node.went_back.empty() ? otherwise : "not whole"; };
  if (sum.window_seconds <= 0) return text + " absent (no stamps to divide by)";
  text += part_text(sum, "ran", sum.ran_seconds, why("not read"));
  if (node.ran_by_ticks) text += " (by ticks)";
  text += part_text(sum, "waited", sum.waited_seconds, why("no schedstat"));
  if (sum.halted_seconds) text += part_text(sum, "halted", sum.halted_seconds, "");
  text += " " + rest_name(sum) + " " + percent(*sum.share(sum.rest_seconds));
  if (node.impossible) text += " (the parts passed the window and were scaled to it)";
  return text;
}

/// A halt that had not ended in sample 2 is not counted yet: it is somewhere in the rest.
std::string halting_text(const NodeBudget& node) {
  const TimeParts& sum = node.sum;
  if (!sum.halted_seconds || sum.base_seconds <= 0) return {};
  std::size_t halting = 0;
  double most = *sum.halted_seconds;
  for (const VcpuTime& vcpu : node.vcpus) {
    if (vcpu.halt_in_progress != true) continue;
    ++halting;
    most += vcpu.parts.rest_seconds;
  }
  const std::string from = percent(*sum.share(sum.halted_seconds));
  const std::string to = percent(*sum.share(most));
  if (from == to) return {};
  return ", halted " + from + " to " + to + ": a halt of " + std::to_string(halting) + " of " +
         std::to_string(node.vcpus.size()) + " vcpus had not ended at sample 2";
}

std::string pid_text(const std::optional<std::uint64_t>& pid) { return pid ? std::to_string(*pid) : "unknown"; }

std::string stopped_text(const NodeBudget& node) {
  const bool before = node.process_state_before == "T";
  const bool after = node.process_state_after == "T";
  if (before && after) return ", stopped (state T) in both samples";
  if (before) return ", stopped (state T) in sample 1";
  return after ? ", stopped (state T) in sample 2" : "";
}

}  // namespace

std::string cpu_sets_text(const CpuTime& time) {
  std::string text;
  if (!time.gone.empty()) text += "; in sample 1 only: " + some_names(time.gone);
  if (!time.appeared.empty()) text += "; in sample 2 only: " + some_names(time.appeared);
  if (!time.unread.empty()) text += "; not read in one sample: " + some_names(time.unread);
  if (!time.beyond_time.empty()) text += "; grew by far more than there was time: " + some_names(time.beyond_time);
  if (!text.empty() && time.summed && !time.cpus.empty()) text += "; shares are of the CPUs of both";
  return text;
}

std::string runner_sentence(const Analysis& analysis) {
  if (!analysis.runner) return "runner absent (" + why_no_pair(analysis, k_capture_cpu_time) + ")";
  const CpuTime& time = *analysis.runner;
  std::string line = "runner " +
                     (time.cpus.empty() ? "(no CPU's own row to go by)" : std::to_string(time.cpus.size()) + " cpus") +
                     ":";
  if (!time.container_view.empty()) {
    return line + " absent (/proc/stat shows a container's view: " + neutral_escaped(time.container_view.front()) +
           "), steal " + std::string(verdict_name(time.steal));
  }
  if (!time.runner || time.runner->total_ticks.value_or(0) == 0) {
    const bool counted = time.runner && time.runner->total_ticks;
    return line +
           (counted ? " absent (not one tick was counted), steal " : " absent (no row to make shares of), steal ") +
           std::string(verdict_name(time.steal)) + cpu_sets_text(time);
  }
  const CpuRow& row = *time.runner;
  line += column_text(row, CpuColumn::user, true);
  if (const auto guest = row.share(CpuColumn::guest)) line += " (guest " + percent(*guest) + ")";
  line += column_text(row, CpuColumn::nice, false) + column_text(row, CpuColumn::system, true);
  line += column_text(row, CpuColumn::idle, true) + column_text(row, CpuColumn::iowait, true);
  line += column_text(row, CpuColumn::irq, false) + column_text(row, CpuColumn::softirq, false);
  line += steal_text(time, analysis.steal_clock) + cpu_sets_text(time);
  if (time.partial) line += "; partial";
  return line;
}

std::string node_sentence(const NodeBudget& node, bool partial) {
  const std::string name = neutral(node.name);
  switch (node.state) {
    case NodeState::no_process: {
      const std::string why = node.notes.empty() ? "none was found" : neutral_escaped(node.notes.front());
      return name + " has no process in either sample (" + why + ")";
    }
    case NodeState::left:
      return name + " left: process " + pid_text(node.pid_before) + " of sample 1 is gone in sample 2";
    case NodeState::appeared:
      return name + " appeared: process " + pid_text(node.pid_after) + " is in sample 2 only";
    case NodeState::restarted:
      return name + " restarted: process " + pid_text(node.pid_before) + " of sample 1 is another one in sample 2, " +
             pid_text(node.pid_after);
    case NodeState::unread: {
      const bool first = node.pid_before.has_value();
      return name + " is in sample " + (first ? "1" : "2") + " only, and sample " + (first ? "2" : "1") +
             " was not read whole: not known to have " + (first ? "left" : "appeared");
    }
    case NodeState::present:
      break;
  }
  std::string line = name + " " + vcpus_text(node);
  if (const std::string throttled = throttled_text(node); !throttled.empty()) line += " throttled " + throttled;
  line += " exits ";
  line += node.exits_per_second ? rate_text(*node.exits_per_second) : "absent";
  return line + node_remarks(node, partial);
}

std::string node_remarks(const NodeBudget& node, bool partial) {
  std::string remarks;
  if (node.vcpus_unpaired > 0) remarks += ", " + std::to_string(node.vcpus_unpaired) + " vcpus in one sample only";
  remarks += halting_text(node);
  if (!node.went_back.empty()) remarks += ", went back: " + some_names(node.went_back);
  remarks += stopped_text(node);
  if (node.anonymous) remarks += ", no known node";
  if (partial) remarks += ", partial";
  return remarks;
}

std::string pressure_sentence(const Pressure& pressure) {
  std::string line = "pressure, some task stalled:";
  const auto add = [&](std::string_view name, const ResourcePressure& resource) {
    line += " " + std::string(name) + " " + (resource.some ? percent(*resource.some) : "absent");
    if (resource.full.value_or(0) >= k_least_share) line += " (all tasks " + percent(*resource.full) + ")";
  };
  add("cpu", pressure.cpu);
  add("io", pressure.io);
  add("memory", pressure.memory);
  return line;
}

std::string pressure_averages(const Pressure& pressure) {
  std::string averages;
  const auto add = [&](std::string_view name, const ResourcePressure& resource) {
    if (!resource.avg10.empty()) averages += " " + std::string(name) + " " + neutral(resource.avg10) + "%";
  };
  add("cpu", pressure.cpu);
  add("io", pressure.io);
  add("memory", pressure.memory);
  return averages.empty() ? averages : "; the kernel's avg10 at sample 2, which is not of the window:" + averages;
}

namespace {

/// The exits of all nodes by their vCPUs' own statistics; none where a node that is there lacks them.
std::optional<double> exits_of_nodes(const Analysis& analysis) {
  std::optional<double> total;
  for (const NodeBudget& node : analysis.nodes) {
    if (node.state != NodeState::present) continue;
    if (!node.kvm || node.kvm->source != "vcpu stats" || !node.exits_per_second) return std::nullopt;
    total = total.value_or(0) + *node.exits_per_second;
  }
  return total;
}

}  // namespace

std::string kvm_sentence(const Analysis& analysis) {
  if (!analysis.kvm) return "kvm absent (" + why_no_pair(analysis, k_capture_kvm) + ")";
  double total = 0;
  std::size_t rated = 0;
  double least = 0;
  double most = 0;
  for (const VmRate& vm : analysis.kvm->vms) {
    if (!vm.exits_per_second) continue;
    least = rated == 0 ? *vm.exits_per_second : std::min(least, *vm.exits_per_second);
    most = std::max(most, *vm.exits_per_second);
    total += *vm.exits_per_second;
    ++rated;
  }
  const std::size_t vms = analysis.kvm->vms.size();
  const auto by_vcpus = rated == 0 ? exits_of_nodes(analysis) : std::nullopt;
  const bool vcpus_alone = vms == 0 && by_vcpus;  // debugfs was not read: how many VMs it has is not known
  std::string line = vcpus_alone ? "kvm exits " : "kvm " + std::to_string(vms) + " vms: exits ";
  if (by_vcpus)
    line += rate_text(*by_vcpus) + " by the vCPUs' own statistics";
  else
    line += rated == 0 ? "absent" : rate_text(total);
  if (rated > 1) line += " (" + rate_text(least) + " to " + rate_text(most) + " each)";
  if (rated > 0 && rated < vms) line += " of " + std::to_string(rated) + " vms, the others have no rate";
  const bool tied = std::any_of(analysis.nodes.begin(), analysis.nodes.end(), [](const auto& n) { return n.kvm; });
  if (!tied) line += ", not tied to nodes";
  if (analysis.kvm->set_changed) line += ", other vms in sample 2 than in sample 1";
  if (analysis.kvm->partial) line += ", partial";
  return line;
}

std::string open_sentence(const Shortfall& shortfall) {
  std::string line = neutral(shortfall.capture) + " sample " + std::to_string(shortfall.sample) + ": ";
  line += neutral_escaped(shortfall.reason) + " (" + std::string(outcome_name(shortfall.outcome));
  if (shortfall.at && shortfall.at->epoch_ns > 0) line += " at " + time_of_day(*shortfall.at);
  return line + ": " + neutral_escaped(shortfall.consequence) + ")";
}

std::string shortfall_sentence(const Shortfall& shortfall) { return "shortfall " + open_sentence(shortfall); }

std::string finding_sentence(const Finding& finding) { return finding.id + ": " + neutral_escaped(finding.says); }

std::string evidence_text(const Evidence& evidence) {
  std::string text = neutral(evidence.capture);
  for (const std::string& part : {evidence.scope, evidence.field}) {
    if (!part.empty()) text += ", " + neutral(part);
  }
  const bool values = evidence.before || evidence.after;
  return values ? text + ": " + values_text(evidence) : text;
}

}  // namespace cozy
