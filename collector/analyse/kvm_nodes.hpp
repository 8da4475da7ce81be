#pragma once

#include <vector>

#include "collector/analyse/kvm_rates.hpp"
#include "collector/analyse/vcpu_budget.hpp"

namespace cozy {

/// Says which VM of debugfs is which node: by the capture's own word, where both readings say the same; in a report
/// that says of no VM whose it is, where the numbers alone decide: the VMs of both readings carry exactly the
/// process numbers of the QEMUs of both readings. A directory's number is of the initial PID namespace and a
/// node's is of the reader's, so one equal number among others proves nothing. Otherwise no node gets a VM.
void tie_vms_to_nodes(const KvmRates& kvm, std::vector<NodeBudget>& nodes);

}  // namespace cozy
