#include "collector/policy/breaches.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "collector/policy/quantity.hpp"
#include "collector/policy/quota.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::uint64_t k_default_weight = 100;
constexpr std::uint64_t k_default_shares = 1024;

std::optional<std::uint64_t> weight_in(const CpuKnobs& own) { return own.version == 2 ? own.weight : own.shares; }

/// What made such a weight, where that can be told; "" where it cannot.
std::string origin_of(std::uint64_t weight, int version, const PodKnobs& asked) {
  if (version == 1) {
    if (weight == asked.shares) return "as asked";
    return weight == k_default_shares ? "the kernel's default: nothing was set" : "";
  }
  if (weight == weight_of(asked.shares, asked.formula)) return std::string(formula_name(asked.formula));
  if (weight == 0) return "the idle class";
  for (const WeightFormula formula : {WeightFormula::linear, WeightFormula::quadratic}) {
    if (weight == weight_of(asked.shares, formula)) return std::string(formula_name(formula));
  }
  if (asked.vcpus && weight == *asked.vcpus) return "the number of vCPUs: no request was known";
  return weight == k_default_weight ? "the kernel's default: nothing was set" : "";
}

std::string weight_text(std::uint64_t weight, int version, const PodKnobs& asked) {
  const std::string origin = origin_of(weight, version, asked);
  return std::to_string(weight) + (origin.empty() ? "" : " (" + origin + ")");
}

/// The quota of a pod that asked for none.
Breach quota_unasked(const PodCpu& pod, const PodKnobs& asked, const Quota& quota) {
  const auto request = pod.request();
  const std::string text = cpus_text(quota);
  if (request && (quota <=> Quota{*asked.vcpus, 1}) == 0 && *request % 1000 != 0) {
    return {"request-as-quota", "the request of " + cpu_quantity_text(*request) + " was rounded up to " + text +
                                    " and made a quota: it caps a burstable VM, which has no limit"};
  }
  if (request && (quota <=> Quota{*request, 1000}) == 0) {
    return {"request-as-quota", "the request of " + cpu_quantity_text(*request) +
                                    " was made a quota: it caps a burstable VM, which has no limit"};
  }
  return {"quota-without-limit", "a quota of " + text + " caps a VM that has no limit: it may use what is idle"};
}

Breach quota_too_low(const PodCpu& pod, const Quota& quota, const Quota& wanted) {
  const auto request = pod.request();
  const std::uint64_t whole = request ? (*request + 999) / 1000 : 0;
  if (request && pod.is_burstable() && ((quota <=> Quota{whole, 1}) == 0 || (quota <=> Quota{*request, 1000}) == 0)) {
    return {"request-as-quota", "the quota of " + cpus_text(quota) + " is that of the request of " +
                                    cpu_quantity_text(*request) + ", not of the limit of " + cpus_text(wanted) +
                                    ": it caps a burstable VM"};
  }
  return {"quota-below-limit", "the quota of " + cpus_text(quota) + " is below the limit of " + cpus_text(wanted) +
                                   ": the VM is throttled before its limit"};
}

void add_quota_breaches(const PodCpu& pod, const PodKnobs& asked, const CpuKnobs& own, std::vector<Breach>& breaches) {
  const auto quota = quota_of(own);
  if (!asked.quota_usec) {
    if (quota) breaches.push_back(quota_unasked(pod, asked, *quota));
    return;
  }
  const Quota wanted{*asked.quota_usec, *asked.period_usec};
  if (own.limited && !*own.limited) {
    breaches.push_back({"no-quota", "nothing holds the VM to its limit of " + cpus_text(wanted)});
  }
  if (!quota) return;
  if (*quota < wanted) breaches.push_back(quota_too_low(pod, *quota, wanted));
  if (*quota > wanted) {
    const bool of_vcpus = asked.vcpus && (*quota <=> Quota{*asked.vcpus, 1}) == 0;
    breaches.push_back({"quota-above-limit", "the quota of " + cpus_text(*quota) + " is above the limit of " +
                                                 cpus_text(wanted) + ": it does not hold the VM to it" +
                                                 (of_vcpus ? "; it is that of the vCPUs, the limit rounded up" : "")});
  }
  if (quota->period_usec != *asked.period_usec) {
    const bool doubled = (*quota <=> wanted) == 0 && quota->period_usec % *asked.period_usec == 0;
    breaches.push_back({"period-differs", "the period is " + std::to_string(quota->period_usec) + " us, not " +
                                              std::to_string(*asked.period_usec) + " us" +
                                              (doubled ? "; the kernel doubles period and quota of a short one" : "")});
  }
}

/// A quota above the node's own is shared, and its own counters do not show when it throttles.
void add_ancestor_breaches(const PodKnobs& asked, const NodeKnobs& node, std::vector<Breach>& breaches) {
  const std::vector<CpuKnobs> above(node.levels.begin() + 1, node.levels.end());
  const CpuKnobs* tightest = tightest_quota(above);
  if (tightest == nullptr) return;
  const Quota quota = *quota_of(*tightest);
  const std::string words = escape(tightest->path) + " allows " + cpus_text(quota) + " to all that is below it, ";
  const std::string unseen = "; the node's own counters do not show that throttling";
  if (asked.quota_usec) {
    const Quota wanted{*asked.quota_usec, *asked.period_usec};
    if (quota < wanted)
      breaches.push_back({"ancestor-below-limit", words + "less than the limit of " + cpus_text(wanted) + unseen});
  } else if (asked.vcpus && quota < Quota{*asked.vcpus, 1}) {
    breaches.push_back({"ancestor-caps", words + "less than the vCPUs of a VM that has no limit" + unseen});
  }
}

void add_weight_breach(const PodKnobs& asked, const CpuKnobs& own, std::vector<Breach>& breaches) {
  const auto weight = weight_in(own);
  const std::uint64_t wanted = own.version == 2 ? asked.weight : asked.shares;
  if (!weight || *weight == wanted) return;
  const std::string what = own.version == 2 ? "weight" : "shares";
  const std::string origin = origin_of(*weight, own.version, asked);
  const bool other_formula = formula_of_name(origin).has_value();
  breaches.push_back({other_formula ? "other-formula" : "weight-differs",
                      what + " " + weight_text(*weight, own.version, asked) + ", not the " + std::to_string(wanted) +
                          (own.version == 2 ? " (" + std::string(formula_name(asked.formula)) + ")" : "") +
                          " of the pod: beside others it gets another share than it requests"});
}

}  // namespace

std::vector<Breach> breaches_of(const PodCpu& pod, const PodKnobs& asked, const NodeKnobs& node) {
  std::vector<Breach> breaches;
  const CpuKnobs& own = node.levels.front();
  if (!node.shared_with.empty()) {
    breaches.push_back({"no-own-scope", "its cgroup " + escape(own.path) + " is also that of " + node.shared_with +
                                            ": requests weigh nothing there, and a quota is for all together"});
  }
  const bool bare = !own.limited && !weight_in(own) && node.problems.empty();
  if (bare && node.levels.size() > 1) {
    breaches.push_back({"no-cpu-controller", "the cpu controller is not enabled for " + escape(own.path) +
                                                 ": neither limit nor request holds"});
  }
  add_quota_breaches(pod, asked, own, breaches);
  add_ancestor_breaches(asked, node, breaches);
  add_weight_breach(asked, own, breaches);
  return breaches;
}

std::vector<Breach> breaches_among(const PodKnobs& asked, const std::vector<NodeKnobs>& nodes) {
  struct Sibling {
    std::uint64_t weight;
    std::string words;
  };
  std::map<std::pair<int, std::string>, std::vector<Sibling>> families;
  for (const NodeKnobs& node : nodes) {
    if (node.levels.size() < 2 || !node.shared_with.empty()) continue;
    const CpuKnobs& own = node.levels.front();
    const auto weight = weight_in(own);
    if (!weight) continue;
    families[{own.version, node.levels[1].path}].push_back(
        {*weight, node.node + " " + weight_text(*weight, own.version, asked)});
  }
  std::vector<Breach> breaches;
  for (const auto& [parent, siblings] : families) {
    const auto by_weight = [](const Sibling& a, const Sibling& b) { return a.weight < b.weight; };
    const auto [least, most] = std::minmax_element(siblings.begin(), siblings.end(), by_weight);
    if (least->weight == most->weight) continue;
    std::vector<std::string> words;
    for (const Sibling& sibling : siblings) words.push_back(sibling.words);
    breaches.push_back({"mixed-weights", "below " + escape(parent.second) + " nodes that ask for the same weigh " +
                                             join(words, ", ") + ": " + std::to_string(most->weight) + " to " +
                                             std::to_string(least->weight)});
  }
  return breaches;
}

}  // namespace cozy
