#pragma once

#include <string>

#include "collector/analyse/analysis.hpp"

/// One thing, one sentence on one line, neutral wherever it is put. What is absent is said, never a zero.
namespace cozy {

std::string runner_sentence(const Analysis& analysis);

/// `partial`: one side of the pair was not read whole.
std::string node_sentence(const NodeBudget& node, bool partial);

/// What is remarkable of a node beside the parts of its time: ", stopped (state T) in sample 2". Often empty.
std::string node_remarks(const NodeBudget& node, bool partial);

/// "; in sample 1 only: cpu3". Often empty.
std::string cpu_sets_text(const CpuTime& time);

std::string pressure_sentence(const Pressure& pressure);
/// The kernel's own averages, to stand behind it; empty where there are none.
std::string pressure_averages(const Pressure& pressure);

/// The VMs together, and whether it is known which of them is which node.
std::string kvm_sentence(const Analysis& analysis);

/// What a sample lacks and what follows from it.
std::string open_sentence(const Shortfall& shortfall);

/// The same behind the word by which a job log is searched.
std::string shortfall_sentence(const Shortfall& shortfall);

/// "node-waited: srv2 ..."
std::string finding_sentence(const Finding& finding);

/// "runner-kernel-cpu-time, cpu3, steal: 12 -> 4711"
std::string evidence_text(const Evidence& evidence);

}  // namespace cozy
