#include <cmath>

#include "collector/policy/pod_cpu.hpp"

namespace cozy {

std::uint64_t quadratic_weight(std::uint64_t shares) {
  // At 1024 shares the power is 100 exactly, and 100.00000000000004 where the compiler may reorder arithmetic;
  // the ceiling of that would be 101. No other number of shares comes within 1e-6 of a whole weight.
  constexpr double k_noise = 5e-7;
  if (shares == 0) return 0;
  if (shares <= k_least_shares) return 1;
  if (shares >= k_most_shares) return 10'000;
  const double octaves = std::log2(static_cast<double>(shares));
  const double decades = (octaves * octaves + 125 * octaves) / 612.0 - 7.0 / 34.0;
  return static_cast<std::uint64_t>(std::ceil(std::pow(10, decades) - k_noise));
}

}  // namespace cozy
