#include "collector/policy/audit.hpp"

#include <algorithm>
#include <utility>

#include "collector/policy/breaches.hpp"
#include "collector/policy/quota.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::optional<Value> known(const std::optional<std::uint64_t>& number) {
  return number ? std::optional<Value>(*number) : std::nullopt;
}

/// "max" where the kernel says that there is none; absent where that is not known.
std::optional<Value> quota_value(const CpuKnobs& knobs) {
  if (!knobs.limited) return std::nullopt;
  return *knobs.limited ? known(knobs.quota_usec) : std::optional<Value>("max");
}

KnobState compared(const std::optional<Value>& expected, const std::optional<Value>& actual) {
  if (!expected) return KnobState::not_asked;
  if (!actual) return KnobState::not_read;
  return *expected == *actual ? KnobState::as_asked : KnobState::differs;
}

KnobCheck check(std::string knob, std::optional<Value> expected, std::optional<Value> actual,
                std::optional<Value> effective) {
  const KnobState state = compared(expected, actual);
  return {std::move(knob), std::move(expected), std::move(actual), std::move(effective), state};
}

std::vector<KnobCheck> checks_of(const PodKnobs& asked, const NodeKnobs& node, const CpuKnobs* tightest) {
  const CpuKnobs& own = node.levels.front();
  const std::optional<Value> no_quota("max");
  const bool alone = node.shared_with.empty();
  const auto weight = known(own.version == 2 ? own.weight : own.shares);
  std::vector<KnobCheck> checks;
  checks.push_back(check("quota", asked.quota_usec ? known(asked.quota_usec) : no_quota, quota_value(own),
                         tightest != nullptr ? known(tightest->quota_usec) : quota_value(own)));
  checks.push_back(check("period", known(asked.period_usec), known(own.period_usec),
                         tightest != nullptr ? known(tightest->period_usec) : known(own.period_usec)));
  checks.push_back(check(own.version == 2 ? "weight" : "shares", known(own.version == 2 ? asked.weight : asked.shares),
                         weight, alone ? weight : std::nullopt));
  checks.push_back(check("burst", std::nullopt, known(own.burst_usec), known(own.burst_usec)));
  return checks;
}

NodeAudit audit_node(const PodCpu& pod, const PodKnobs& asked, const NodeKnobs& node) {
  NodeAudit result;
  result.node = node.node;
  result.pid = node.pid;
  result.unread = node.unread;
  result.notes = node.notes;
  if (node.levels.empty()) return result;
  const CpuKnobs& own = node.levels.front();
  result.version = own.version;
  result.path = own.path;
  const CpuKnobs* tightest = tightest_quota(node.levels);
  if (tightest != nullptr) {
    result.tightest = tightest->path;
    result.effective_cpus = tightest->cpus_of_quota();
  }
  if (asked.quota_usec && asked.period_usec)
    result.expected_cpus = static_cast<double>(*asked.quota_usec) / static_cast<double>(*asked.period_usec);
  result.checks = checks_of(asked, node, tightest);
  result.breaches = breaches_of(pod, asked, node);
  for (const std::string& problem : node.problems) result.notes.push_back("not read: " + problem);
  if (!node.others.empty())
    result.notes.push_back("shares its quota with other processes in its cgroup: " + join(node.others, ", "));
  if (own.burst_usec.value_or(0) > 0)
    result.notes.push_back("a burst of " + std::to_string(*own.burst_usec) +
                           " us may go beyond the quota for a period");
  return result;
}

}  // namespace

std::string_view knob_state_name(KnobState state) {
  switch (state) {
    case KnobState::as_asked:
      return "as asked";
    case KnobState::differs:
      return "differs";
    case KnobState::not_read:
      return "not read";
    case KnobState::not_asked:
      return "not asked";
  }
  return "not read";
}

bool NodeAudit::as_asked() const {
  return unread.empty() && breaches.empty() && std::all_of(checks.begin(), checks.end(), [](const KnobCheck& knob) {
           return knob.state == KnobState::as_asked || knob.state == KnobState::not_asked;
         });
}

bool Audit::as_asked() const {
  return !nodes.empty() && breaches.empty() &&
         std::all_of(nodes.begin(), nodes.end(), [](const NodeAudit& node) { return node.as_asked(); });
}

Audit audit(const PodCpu& pod, const PodKnobs& expected, const SandboxKnobs& found) {
  Audit result;
  result.notes = found.notes;
  for (const NodeKnobs& node : found.nodes) result.nodes.push_back(audit_node(pod, expected, node));
  result.breaches = breaches_among(expected, found.nodes);
  return result;
}

}  // namespace cozy
