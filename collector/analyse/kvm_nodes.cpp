#include "collector/analyse/kvm_nodes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// The VMs by the process number in their names; none where two VMs have the same, or a name is none.
std::optional<std::map<std::uint64_t, const VmRate*>> vms_by_pid(const KvmRates& kvm) {
  std::map<std::uint64_t, const VmRate*> vms;
  for (const VmRate& vm : kvm.vms) {
    const std::string_view name = vm.vm;
    const auto pid = parse_u64(name.substr(0, name.find('-')));
    if (!pid || !vms.emplace(*pid, &vm).second) return std::nullopt;
  }
  return vms;
}

}  // namespace

void tie_vms_to_nodes(const KvmRates& kvm, std::vector<NodeBudget>& nodes) {
  const auto vms = vms_by_pid(kvm);
  if (!vms || vms->empty() || kvm.set_changed || kvm.partial) return;
  std::size_t processes = 0;
  for (const NodeBudget& node : nodes) {
    if (node.state == NodeState::no_process) continue;
    if (node.state != NodeState::present || !vms->contains(*node.pid_before)) return;
    ++processes;
  }
  if (processes != vms->size()) return;
  for (NodeBudget& node : nodes) {
    if (node.state != NodeState::present) continue;
    const VmRate& vm = *vms->at(*node.pid_before);
    node.kvm = NodeKvm{"debugfs", vm.vm, "the VMs carry the process numbers of all QEMUs and of nothing else", vm.rates,
                       vm.values};
    node.exits_per_second = vm.exits_per_second;
  }
}

}  // namespace cozy
