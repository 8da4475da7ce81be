#include "collector/analyse/kvm_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

void give(const VmRate& vm, std::string evidence, NodeBudget& node) {
  node.kvm = NodeKvm{"debugfs", vm.vm, std::move(evidence), vm.rates, vm.values, {}};
  node.exits_per_second = vm.exits_per_second;
}

/// By the rows of the capture. Two VMs of one name are nobody's.
void tie_by_word(const KvmRates& kvm, std::vector<NodeBudget>& nodes) {
  std::map<std::string_view, std::vector<const VmRate*>> vms;
  for (const VmRate& vm : kvm.vms) {
    if (!vm.node.empty()) vms[vm.node].push_back(&vm);
  }
  for (NodeBudget& node : nodes) {
    const auto own = vms.find(node.name);
    if (node.state != NodeState::present || own == vms.end() || own->second.size() != 1) continue;
    give(*own->second.front(), own->second.front()->evidence, node);
  }
}

/// By the process numbers in the names of the VMs.
void tie_by_number(const KvmRates& kvm, std::vector<NodeBudget>& nodes) {
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
    give(*vms->at(*node.pid_before), "the VMs carry the process numbers of all QEMUs and of nothing else", node);
  }
}

}  // namespace

void tie_vms_to_nodes(const KvmRates& kvm, std::vector<NodeBudget>& nodes) {
  const bool told = std::any_of(kvm.vms.begin(), kvm.vms.end(), [](const VmRate& vm) { return !vm.node.empty(); });
  if (told)
    tie_by_word(kvm, nodes);
  else
    tie_by_number(kvm, nodes);
}

}  // namespace cozy
