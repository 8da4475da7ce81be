#pragma once

#include "collector/analyse/vcpu_budget.hpp"
#include "collector/render/json_object.hpp"

namespace cozy {

/// The cgroup of a node that has one. Without a quota there is no throttling to be told: its zeros are left out.
JsonObject cgroup_json(const NodeBudget& node);

}  // namespace cozy
