#include "collector/analyse/node_facts.hpp"

#include <algorithm>

namespace cozy {

bool CgroupLevel::configured() const {
  if (quota_usec || limited.value_or(false)) return true;
  return periods.value_or(0) > 0 || throttled_periods.value_or(0) > 0 || throttled_seconds.value_or(0) > 0;
}

std::optional<double> CgroupLevel::quota_cpus() const {
  if (!quota_usec || period_usec.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*quota_usec) / static_cast<double>(*period_usec);
}

std::optional<double> CgroupLevel::periods_share() const {
  if (!throttled_periods || periods.value_or(0) == 0) return std::nullopt;
  return std::min(static_cast<double>(*throttled_periods) / static_cast<double>(*periods), 1.0);
}

std::optional<double> CgroupLevel::used_of_quota() const {
  const auto cpus = quota_cpus();
  if (quota_changed || !cpus || *cpus <= 0 || !used_seconds || window_seconds <= 0) return std::nullopt;
  return *used_seconds / (*cpus * window_seconds);
}

std::string_view cgroup_state_name(CgroupState state) {
  switch (state) {
    case CgroupState::read:
      return "read";
    case CgroupState::unread:
      return "unread";
    case CgroupState::moved:
      return "moved";
    case CgroupState::recreated:
      return "recreated";
  }
  return "unread";
}

std::vector<CgroupLevel> levels_of(const NodeCgroup& cgroup) {
  if (cgroup.state != CgroupState::read) return {};
  std::vector<CgroupLevel> levels{cgroup};
  levels.insert(levels.end(), cgroup.above.begin(), cgroup.above.end());
  return levels;
}

std::optional<double> own_throttled_seconds(const NodeCgroup& cgroup) {
  std::optional<double> longest;
  for (const CgroupLevel& level : levels_of(cgroup)) {
    if (level.nodes > 1 || !level.configured() || !level.throttled_seconds) continue;
    longest = std::max(longest.value_or(0), *level.throttled_seconds);
  }
  return longest;
}

bool throttled_together(const NodeCgroup& cgroup) {
  const std::vector<CgroupLevel> levels = levels_of(cgroup);
  return std::any_of(levels.begin(), levels.end(),
                     [](const CgroupLevel& level) { return level.nodes > 1 && level.configured(); });
}

std::optional<CgroupLevel> tightest_of(const NodeCgroup& cgroup) {
  std::optional<CgroupLevel> tightest;
  for (CgroupLevel& level : levels_of(cgroup)) {
    const auto cpus = level.quota_cpus();
    if (cpus && (!tightest || *cpus < *tightest->quota_cpus())) tightest = std::move(level);
  }
  return tightest;
}

}  // namespace cozy
