#include "collector/analyse/rules.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/thresholds.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array k_rules{
    Rule{"runner-preempted",
         "steal is proved, and at or above steal.notice of the CPU time (a warning from steal.warning)",
         "It does not prove that the nodes lost this time: steal is of every task of the runner, and it does not name "
         "who ran instead.",
         "the machine under the runner held it back", find_runner_preempted},
    Rule{"steal-not-observable", "steal did not climb, and nothing says that this machine could show it",
         "It does not prove that the runner was not preempted: a column that nobody fills in stays at zero as well.",
         "", find_steal_not_observable},
    Rule{"steal-unusable", "the steal column went back or grew by more than the CPUs could lose",
         "It does not prove that the runner was preempted, nor that it was not: the clock is at fault.", "",
         find_steal_unusable},
    Rule{"nodes-waited",
         "the vCPU threads waited for a CPU for waited or more on average over two nodes or more, and none of these "
         "stands out",
         "It does not prove who had the CPUs: other nodes, the test suite, or the machine under the runner by taking "
         "them away.",
         "the sandbox nodes waited for CPU", find_nodes_waited},
    Rule{"node-waited",
         "one node's vCPUs waited for waited or more, and waited.above-others times the median of the other nodes; a "
         "node without others is judged alone",
         "It does not prove that the runner had no CPU to spare: pinning, priority or the weight of a cgroup can keep "
         "one node off idle CPUs.",
         "one sandbox node waited for CPU", find_node_waited},
    Rule{"node-throttled",
         "a node's cgroup, or one above it, was throttled in throttled.periods or for throttled.window, or more",
         "It does not prove that the guest would have finished without the quota, nor which threads of the cgroup used "
         "it up.",
         "a CPU quota held a sandbox node back", find_node_throttled},
    Rule{"node-blocked",
         "vCPUs were off the CPU, not waiting for one and not halted, for blocked or more; only where halts are known "
         "and none is in progress",
         "It does not prove what the vCPUs were blocked on: a page fault, I/O, a lock of KVM and QEMU's own work all "
         "look like this.",
         "a sandbox node was blocked in the runner", find_node_blocked},
    Rule{"node-stopped", "the process of a node is stopped (state T) in a sample",
         "It does not prove for how long the process was stopped: the state is of the moments of the samples.",
         "a sandbox node was stopped", find_node_stopped},
    Rule{"node-halted", "every vCPU of a node was halted for halted or more",
         "It does not prove what the guest waited for: a disk, the network, a timer or another machine.",
         "a sandbox node waited for something that is not CPU", find_node_halted},
    Rule{"node-busy-flat", "a vCPU ran busy-flat.ran or more and left guest mode at most busy-flat.exits times",
         "It does not prove that the guest is stuck: work that needs nothing from outside looks the same.",
         "a sandbox node spins inside its guest", find_node_busy_flat},
    Rule{
        "node-exit-storm",
        "exits per second of vCPU run reach exit-storm.exits, or exit-storm.above-others times the median of the other "
        "nodes, in a node with exit-storm.floor or more",
        "It does not prove what in the guest causes the exits, nor that they cost more than the work they are part of.",
        "exits took the time of a sandbox node", find_node_exit_storm},
    Rule{"node-left", "a QEMU of sample 1 is gone in sample 2",
         "It does not prove why the process ended: a crash, a kill for lack of memory and a shutdown leave the same "
         "absence.",
         "a sandbox node ended", find_node_left},
    Rule{"node-restarted", "a node is another process in sample 2",
         "It does not prove how often the node was restarted, nor why: two samples see the first process and the last.",
         "a sandbox node was restarted", find_node_restarted},
    Rule{"node-emulator-bound", "a thread of QEMU that is no vCPU ran emulator.ran or more of one CPU",
         "It does not prove that the vCPUs waited for this thread.", "QEMU itself was the limit of a sandbox node",
         find_node_emulator_bound},
    Rule{"pressure-cpu", "some task of the runner was stalled for CPU in pressure.cpu of the window, or more",
         "It does not prove that a node was stalled: the test suite's own tasks count as well.",
         "tasks of the runner stalled for CPU", find_pressure_cpu},
    Rule{"pressure-io", "some task of the runner was stalled for I/O in pressure.io of the window, or more",
         "It does not prove that a node was stalled, nor which device is slow.", "tasks of the runner stalled for I/O",
         find_pressure_io},
    Rule{"pressure-memory", "some task of the runner was stalled for memory in pressure.memory of the window, or more",
         "It does not prove that a node was stalled, nor that memory ran out.",
         "tasks of the runner stalled for memory", find_pressure_memory},
    Rule{"vcpu-unnamed",
         "no thread of a node's QEMU has a vCPU's name: its vCPUs are known by KVM's statistics alone, or not at all",
         "It does not prove that the node has no vCPU, nor that its vCPUs got their CPU.", "", find_vcpu_unnamed},
    Rule{
        "vcpu-stalled",
        "in the timeline a vCPU neither ran nor halted for stalled or longer; a thread that only sleeps counts where "
        "KVM tells that it is in no halt",
        "It does not prove who held the vCPU: what the runner, the cgroup and the pressure did meanwhile is beside it.",
        "a sandbox node stood still", find_vcpu_stalled},
    Rule{
        "burst-steal",
        "steal is proved, at least burst.lost was lost, and burst.share of it lies in burst.seconds of the timeline or "
        "less",
        "It does not prove that the nodes were the ones to lose it.",
        "the machine under the runner held it back in bursts", find_burst_steal},
    Rule{"burst-throttle",
         "a node's cgroup was throttled for burst.lost or longer, and burst.share of it lies in burst.seconds of the "
         "timeline or less",
         "It does not prove that the guest would have finished without the quota.",
         "a CPU quota held a sandbox node back in bursts", find_burst_throttle},
    Rule{"late-start",
         "in the timeline a node did next to nothing, late.ran of its vCPUs' time, for late.idle and late.part or "
         "longer "
         "from the begin on, and then ran for late.begun or more; also where its QEMU came that late",
         "It does not prove that the node could have begun earlier, nor what it waited for: its disk, another node, or "
         "whoever starts it.",
         "a sandbox node began late", find_late_start},
    Rule{"recorder-starved", "of the timeline's ticks starved or more were late by half an interval, or left out",
         "It does not prove that the nodes waited, too: the recorder is one task of many.", "", find_recorder_starved},
    Rule{"timeline-short",
         "the timeline ends timeline-short.missing or more before sample 2, which is timeline-short.share of the time "
         "or "
         "more",
         "It does not prove that nothing happened behind its end: the two samples alone see that.", "",
         find_timeline_short},
    Rule{"incomplete", "a capture is missing, partial, holds only gauges, or cannot be judged: a question is open",
         "It proves nothing about the run: what was not read is neither good nor bad news.", "", find_incomplete},
    Rule{"nothing-unusual", "every layer that was read was read whole, and no rule above holds",
         "It does not prove that the run was fast enough: a cause inside the guests, or below every threshold, stays "
         "unseen.",
         "", find_nothing_unusual},
};

bool worse(const Finding& a, const Finding& b) { return std::tuple(b.level, b.weight) < std::tuple(a.level, a.weight); }

std::string value_words(double value) {
  const std::string words = fixed(value, 1);
  return words.ends_with(".0") ? words.substr(0, words.size() - 2) : words;
}

}  // namespace

std::span<const Rule> rules() { return k_rules; }

const Rule* find_rule(std::string_view id) {
  const auto found = std::find_if(k_rules.begin(), k_rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return found == k_rules.end() ? nullptr : &*found;
}

void find_findings(Analysis& analysis) {
  analysis.findings.clear();
  for (const Rule& rule : k_rules) {
    for (Finding& finding : rule.find(analysis)) {
      finding.id = rule.id;
      finding.does_not_prove = rule.does_not_prove;
      analysis.findings.push_back(std::move(finding));
    }
  }
  std::stable_sort(analysis.findings.begin(), analysis.findings.end(), worse);
}

std::vector<std::string> explain() {
  std::vector<std::string> lines{"Thresholds (each holds at or above, where it does not say at most):"};
  for (const ThresholdEntry& entry : thresholds()) {
    lines.push_back("  " + std::string(entry.name) + " = " + value_words(entry.value) + " " + std::string(entry.unit) +
                    ": " + std::string(entry.means));
  }
  lines.emplace_back("Findings:");
  for (const Rule& rule : k_rules) {
    lines.push_back("  " + std::string(rule.id) + ": " + std::string(rule.when));
    lines.push_back("    " + std::string(rule.does_not_prove));
  }
  return lines;
}

}  // namespace cozy
