#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/cgroup_knobs.hpp"

namespace cozy {

/// So much run time in each period, of whatever lengths.
struct Quota {
  std::uint64_t quota_usec = 0;
  std::uint64_t period_usec = 1;  ///< never 0
};

/// By the CPUs that they allow: 50000 of 100000 is as much as 25000 of 50000.
std::partial_ordering operator<=>(const Quota& left, const Quota& right);

/// "1.5 CPUs"
std::string cpus_text(const Quota& quota);

/// None where the cgroup has none, or it could not be read whole.
std::optional<Quota> quota_of(const CpuKnobs& knobs);

/// The cgroup whose quota allows the fewest CPUs, of equal ones the lowest; null where none has a quota.
const CpuKnobs* tightest_quota(const std::vector<CpuKnobs>& levels);

}  // namespace cozy
