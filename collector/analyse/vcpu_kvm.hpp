#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "collector/analyse/node_facts.hpp"
#include "collector/analyse/vcpu_budget.hpp"

/// What KVM's own statistics of each vCPU say, by the rows "srv1/vcpu0" of sandbox-kvm-exits.
namespace cozy {

struct VcpuKvm {
  std::optional<Interval> interval;  ///< between the two reads of this vCPU
  /// Time halted. A halt is added when it ends; one that lasted all along has ended nowhere and is the interval.
  std::optional<std::uint64_t> halted_ns;
  std::optional<bool> halt_in_progress;  ///< the second reading found it halted, and not all along
  std::vector<FieldRate> rates;
  std::vector<FieldValue> values;
  std::vector<std::string> went_back;  ///< of its counters of exits and halts, those that fell
  HaltLengths halts;                   ///< empty unless both readings have every bucket, and none fell

  [[nodiscard]] std::optional<double> rate(std::string_view field) const;
};

/// By owner ("srv1", "process 412") and index.
using VcpuKvmMap = std::map<std::pair<std::string, std::uint64_t>, VcpuKvm>;

VcpuKvmMap vcpu_kvm(const Difference& kvm);

/// The threads that are vCPUs by the ids of KVM's statistics ("kvm-2607/vcpu-0"), whatever they are called, as
/// (process, thread) -> index. The ids have the numbers of the initial PID namespace, the threads of a reading
/// those of its reader's: only who knows the threads of the process can tell whether they are the same.
VcpuThreads vcpu_threads(const Difference& kvm);

/// Gives each node's vCPUs their halts in progress and exits, and the node the sums over them.
void take_vcpu_kvm(const VcpuKvmMap& statistics, std::vector<NodeBudget>& nodes);

}  // namespace cozy
