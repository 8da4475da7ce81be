#include "collector/policy/pod_cpu.hpp"

#include <algorithm>
#include <limits>

#include "collector/policy/quantity.hpp"

namespace cozy {

namespace {

std::optional<std::uint64_t> above_zero(const std::optional<std::uint64_t>& milli) {
  return milli && *milli > 0 ? milli : std::nullopt;
}

std::uint64_t whole_cpus(std::uint64_t milli) { return milli / 1000 + (milli % 1000 == 0 ? 0 : 1); }

/// Milli-CPU as shares, before the kernel's bounds.
std::uint64_t raw_shares(std::uint64_t milli) {
  constexpr std::uint64_t k_far = 1'000'000'000;  // above every bound, and no product overflows
  return std::min(milli, k_far) * 1024 / 1000;
}

std::string us(std::uint64_t amount) { return std::to_string(amount) + " us"; }

void add_quota(std::uint64_t limit_milli, PodKnobs& knobs) {
  const std::uint64_t raw_us = limit_milli * (k_policy_period_usec / 1000);
  knobs.quota_usec = std::max(raw_us, k_least_quota_usec);
  knobs.period_usec = k_policy_period_usec;
  if (raw_us < k_least_quota_usec) {
    knobs.notes.push_back("the limit comes to " + us(raw_us) + " per period; the least that the kernel accepts is " +
                          us(k_least_quota_usec));
  }
  if (raw_us > k_most_quota_usec) {
    knobs.notes.push_back("the kernel accepts no quota above " + us(k_most_quota_usec) + ": this one is refused");
  }
}

void add_shares(const PodCpu& pod, PodKnobs& knobs) {
  const std::uint64_t milli = pod.request().value_or(pod.limit().value_or(0));
  const std::uint64_t raw = raw_shares(milli);
  knobs.shares = std::clamp(raw, k_least_shares, k_most_shares);
  if (pod.is_best_effort() || raw == knobs.shares) return;
  const std::string what = pod.request() ? "request" : "limit";
  knobs.notes.push_back("the " + what + " of " + cpu_quantity_text(milli) + " is " +
                        (raw < knobs.shares ? "below" : "above") + " what shares can say; it counts as " +
                        std::to_string(knobs.shares));
}

}  // namespace

std::string_view formula_name(WeightFormula formula) {
  return formula == WeightFormula::linear ? "linear" : "quadratic";
}

std::optional<WeightFormula> formula_of_name(std::string_view name) {
  for (const WeightFormula formula : {WeightFormula::linear, WeightFormula::quadratic}) {
    if (name == formula_name(formula)) return formula;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> PodCpu::request() const { return above_zero(request_milli); }

std::optional<std::uint64_t> PodCpu::limit() const { return above_zero(limit_milli); }

bool PodCpu::is_burstable() const { return request() && (!limit() || *limit() > *request()); }

Result<PodKnobs> pod_knobs(const PodCpu& pod, WeightFormula formula) {
  constexpr std::uint64_t k_most_limit = std::numeric_limits<std::int64_t>::max() / (k_policy_period_usec / 1000);
  const auto limit = pod.limit();
  const auto request = pod.request();
  if (limit && *limit > k_most_limit) {
    return Error{"\"" + cpu_quantity_text(*limit) + "\"", "is too large: its quota is more than 2^63 us", 0};
  }
  PodKnobs knobs;
  knobs.formula = formula;
  if (limit || request) knobs.vcpus = whole_cpus(limit.value_or(request.value_or(0)));
  if (limit) add_quota(*limit, knobs);
  add_shares(pod, knobs);
  knobs.weight = weight_of(knobs.shares, formula);
  if (limit && request && *request > *limit)
    knobs.notes.emplace_back("the request is above the limit: Kubernetes refuses such a pod");
  if (limit && pod.request_milli && !request) {
    knobs.notes.emplace_back("a request of 0 counts as none, and the limit weighs; newer kubelets give it 2 shares");
  }
  return knobs;
}

std::uint64_t linear_weight(std::uint64_t shares) {
  constexpr std::uint64_t k_weights = 9'999;
  return 1 + (std::clamp(shares, k_least_shares, k_most_shares) - k_least_shares) * k_weights /
                 (k_most_shares - k_least_shares);
}

std::uint64_t weight_of(std::uint64_t shares, WeightFormula formula) {
  return formula == WeightFormula::linear ? linear_weight(shares) : quadratic_weight(shares);
}

}  // namespace cozy
