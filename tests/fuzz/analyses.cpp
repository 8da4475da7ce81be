#include "tests/fuzz/analyses.hpp"

#include <cmath>

#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

void require_sound(const TimeParts& parts) {
  constexpr double k_rounding = 1e-6;
  require_share_of(parts.window_seconds, std::nullopt);
  require_share_of(parts.base_seconds, std::nullopt);
  require_share_of(parts.rest_seconds, parts.base_seconds * (1 + k_rounding));
  double sum = 0;
  for (const auto& part : {parts.ran_seconds, parts.waited_seconds, parts.halted_seconds}) {
    require_share_of(part, std::nullopt);
    require_share_of(parts.share(part), 1 + k_rounding);
    sum += parts.share(part).value_or(0);
  }
  require_share_of(parts.guest_seconds, std::nullopt);
  require_share_of(parts.share(parts.guest_seconds), 1 + k_rounding);
  require_share_of(sum, 1 + k_rounding);
}

void require_sound(const CpuRow& row) {
  double sum = 0;
  for (std::size_t i = 0; i < k_cpu_columns; ++i) {
    const auto column = static_cast<CpuColumn>(i);
    const auto share = row.share(column);
    require_share_of(share, 1.0);
    if (i < k_total_columns) sum += share.value_or(0);
  }
  require_share_of(sum, 1 + 1e-6);
  const auto user = row.at(CpuColumn::user).delta_ticks;
  if (const auto alone = row.user_without_guest()) require(user && *alone <= *user, "a part is not above its whole");
}

}  // namespace

void require_share_of(const std::optional<double>& number, const std::optional<double>& most) {
  if (!number) return;
  require_for(std::isfinite(*number), "a number is finite", std::to_string(*number));
  require_for(*number >= 0, "a number is not below 0", std::to_string(*number));
  if (most) require_for(*number <= *most, "a part is not above its whole", std::to_string(*number));
}

void require_sound(const CpuTime& time) {
  for (const CpuRow& row : time.cpus) require_sound(row);
  if (time.aggregate) require_sound(*time.aggregate);
  if (time.runner) require_sound(*time.runner);
  require_share_of(time.available_ticks, std::nullopt);
}

void require_sound(const NodeBudget& node) {
  require_sound(node.sum);
  for (const VcpuTime& vcpu : node.vcpus) {
    require_sound(vcpu.parts);
    require_share_of(vcpu.exits_per_second, std::nullopt);
    require_share_of(vcpu.guest_exits_per_second, std::nullopt);
  }
  for (const ThreadTime& thread : node.others) {
    require_share_of(thread.ran_seconds, std::nullopt);
    require_share_of(thread.waited_seconds, std::nullopt);
  }
  require_share_of(node.process.cpu_seconds, std::nullopt);
  require_share_of(node.process.waited_seconds, std::nullopt);
  require_share_of(node.exits_per_second, std::nullopt);
}

void require_sound(const Analysis& analysis) {
  if (analysis.runner) require_sound(*analysis.runner);
  for (const NodeBudget& node : analysis.nodes) require_sound(node);
  require(!analysis.window || analysis.window->length_ns > 0, "a window has a length");
  require(analysis.last_sample < 2 || !analysis.verdict.empty(), "there is a verdict");
  for (const ComparedPair& pair : analysis.pairs) {
    for (const ComparedRow& row : pair.rows.rows()) require_share_of(row.per_second, std::nullopt);
  }
}

}  // namespace cozy::fuzz
