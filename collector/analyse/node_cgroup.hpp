#pragma once

#include <optional>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "collector/analyse/vcpu_budget.hpp"

namespace cozy {

/// A cgroup whose usage or throttling fell was removed and made again, whatever the number of its inode is: none of
/// its rows has a difference, those that happened to grow included.
PairRules cgroup_pair_rules(const Reading& before, const Reading& after, const Legend* legend);

/// Fills NodeBudget::cgroup of the nodes that are in both samples, from two readings of sandbox-vm-cgroup-cpu.
/// A node whose process those readings do not hold has none.
void tie_cgroups_to_nodes(const Difference& cgroups, std::uint64_t ticks_per_second, std::vector<NodeBudget>& nodes);

/// What the threads of a node that are in both samples ran, of what its process used: the rest are threads that
/// began or ended. None where one of the two is not known.
std::optional<double> threads_seconds(const NodeBudget& node);

}  // namespace cozy
