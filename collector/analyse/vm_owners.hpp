#pragma once

#include <set>
#include <string>

#include "collector/analyse/difference.hpp"

/// Whose the directories of VMs are in debugfs, and whether they are the same owners' in both samples.
namespace cozy {

/// Nodes and processes ("srv1", "process 412") that are other processes in the second reading of the QEMU threads.
std::set<std::string, std::less<>> replaced_owners(const Reading& threads_before, const Reading& threads_after);

/// A VM is known by its owner: with another one, a directory of the same name is of another VM.
void add_replaced_vms(const Reading& kvm, const std::set<std::string, std::less<>>& owners, PairRules& rules);

}  // namespace cozy
