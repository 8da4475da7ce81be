#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/result.hpp"

namespace cozy {

/// How cgroup v1 shares become a cgroup v2 weight. `linear`: kubelet, cocoon, older runc and crun (1 CPU is 39).
/// `quadratic`: newer runc and crun (1 CPU is 100). One host can mix both, so a weight goes with its formula.
enum class WeightFormula { linear, quadratic };

std::string_view formula_name(WeightFormula formula);
std::optional<WeightFormula> formula_of_name(std::string_view name);

inline constexpr std::uint64_t k_policy_period_usec = 100'000;
inline constexpr std::uint64_t k_least_quota_usec = 1'000;  ///< what the kernel accepts
inline constexpr std::uint64_t k_most_quota_usec = (std::uint64_t{1} << 44U) - 1;
inline constexpr std::uint64_t k_least_shares = 2;
inline constexpr std::uint64_t k_most_shares = 262'144;

/// What a pod asks for, as its first container says it. An amount of 0 counts as absent.
struct PodCpu {
  std::optional<std::uint64_t> request_milli;
  std::optional<std::uint64_t> limit_milli;

  [[nodiscard]] std::optional<std::uint64_t> request() const;  ///< where it is above 0
  [[nodiscard]] std::optional<std::uint64_t> limit() const;
  [[nodiscard]] bool is_best_effort() const { return !request() && !limit(); }
  /// May use more than it requested, up to its limit or what is idle.
  [[nodiscard]] bool is_burstable() const;
};

/// What a pod's cgroup is given. Limits bound, requests weigh: a quota never comes from the request.
struct PodKnobs {
  std::optional<std::uint64_t> vcpus;
  std::optional<std::uint64_t> quota_usec;   ///< none: no bound
  std::optional<std::uint64_t> period_usec;  ///< where a quota is
  std::uint64_t shares = k_least_shares;     ///< cgroup v1
  std::uint64_t weight = 1;                  ///< cgroup v2
  WeightFormula formula = WeightFormula::linear;
  std::vector<std::string> notes;  ///< where a bound or a rule made another number of it than the pod says
};

/// Refused where the quota cannot be counted in microseconds of 63 bits.
Result<PodKnobs> pod_knobs(const PodCpu& pod, WeightFormula formula);

/// Shares below and above what the kernel accepts count as its bounds.
std::uint64_t linear_weight(std::uint64_t shares);

/// 0 shares are no shares: 0, "not set".
std::uint64_t quadratic_weight(std::uint64_t shares);

std::uint64_t weight_of(std::uint64_t shares, WeightFormula formula);

}  // namespace cozy
