#include "collector/policy/quota.hpp"

#include "probes/text.hpp"

namespace cozy {

std::partial_ordering operator<=>(const Quota& left, const Quota& right) {
  // What a kernel accepts is below 2^44 us of at most 10^6 us: the products are exact.
  const auto product = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<long double>(a) * static_cast<long double>(b);
  };
  return product(left.quota_usec, right.period_usec) <=> product(right.quota_usec, left.period_usec);
}

std::string cpus_text(const Quota& quota) {
  std::string number = fixed(static_cast<double>(quota.quota_usec) / static_cast<double>(quota.period_usec), 3);
  while (number.ends_with('0')) number.pop_back();
  if (number.ends_with('.')) number.pop_back();
  return number + (number == "1" ? " CPU" : " CPUs");
}

std::optional<Quota> quota_of(const CpuKnobs& knobs) {
  if (!knobs.quota_usec || !knobs.period_usec || *knobs.period_usec == 0) return std::nullopt;
  return Quota{*knobs.quota_usec, *knobs.period_usec};
}

const CpuKnobs* tightest_quota(const std::vector<CpuKnobs>& levels) {
  const CpuKnobs* tightest = nullptr;
  for (const CpuKnobs& level : levels) {
    const auto quota = quota_of(level);
    if (quota && (tightest == nullptr || *quota < *quota_of(*tightest))) tightest = &level;
  }
  return tightest;
}

}  // namespace cozy
