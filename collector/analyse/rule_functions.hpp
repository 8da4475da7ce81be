#pragma once

#include <vector>

#include "collector/analyse/analysis.hpp"

/// The functions of the table of rules. Each answers with what it found; id and does_not_prove stay empty.
namespace cozy {

using Findings = std::vector<Finding>;

// rules_runner.cpp
Findings find_runner_preempted(const Analysis& analysis);
Findings find_steal_not_observable(const Analysis& analysis);
Findings find_steal_unusable(const Analysis& analysis);
Findings find_pressure_cpu(const Analysis& analysis);
Findings find_pressure_io(const Analysis& analysis);
Findings find_pressure_memory(const Analysis& analysis);

// rules_wait.cpp
Findings find_nodes_waited(const Analysis& analysis);
Findings find_node_waited(const Analysis& analysis);
Findings find_node_throttled(const Analysis& analysis);

// rules_node.cpp
Findings find_node_stopped(const Analysis& analysis);
Findings find_node_left(const Analysis& analysis);
Findings find_node_restarted(const Analysis& analysis);
Findings find_node_emulator_bound(const Analysis& analysis);
Findings find_vcpu_unnamed(const Analysis& analysis);

// rules_kvm.cpp
Findings find_node_blocked(const Analysis& analysis);
Findings find_node_halted(const Analysis& analysis);
Findings find_node_busy_flat(const Analysis& analysis);
Findings find_node_exit_storm(const Analysis& analysis);

// rules_timeline.cpp
Findings find_vcpu_stalled(const Analysis& analysis);
Findings find_burst_steal(const Analysis& analysis);
Findings find_burst_throttle(const Analysis& analysis);
Findings find_late_start(const Analysis& analysis);  // rules_late_start.cpp
Findings find_recorder_starved(const Analysis& analysis);

// rules_timeline_end.cpp
Findings find_timeline_short(const Analysis& analysis);

// rules_report.cpp
Findings find_incomplete(const Analysis& analysis);
Findings find_nothing_unusual(const Analysis& analysis);

/// True where rates can be made of the runner's CPU time: half a second of ticks and more, of the kernel's own rows.
bool has_judged_runner(const Analysis& analysis);
/// True for a process of both samples in which threads are, and not one with a vCPU's name.
bool has_unnamed_vcpus(const NodeBudget& node);

}  // namespace cozy
