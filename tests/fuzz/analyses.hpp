#pragma once

#include <optional>

#include "collector/analyse/analysis.hpp"
#include "collector/analyse/cpu_time.hpp"
#include "collector/analyse/vcpu_budget.hpp"

/// What holds for the numbers of every analysis: finite, not below 0, and no part above its whole.
namespace cozy::fuzz {

/// A number that is there is finite, not below 0 and not above `most`.
void require_share_of(const std::optional<double>& number, const std::optional<double>& most);

void require_sound(const CpuTime& time);
void require_sound(const NodeBudget& node);
void require_sound(const Analysis& analysis);

}  // namespace cozy::fuzz
