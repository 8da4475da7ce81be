#include "collector/analyse/kvm_rates.hpp"

#include <algorithm>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// "vm 2231-14" and "vm 2231-14 vcpu0": the directory's name.
std::optional<std::string_view> vm_of_scope(std::string_view scope) {
  const auto rest = after_prefix(scope, "vm ");
  return rest ? std::optional(rest->substr(0, rest->find(' '))) : std::nullopt;
}

void take_row(const RowChange& row, VmRate& vm) {
  if (row.field() == "exits") {
    vm.change = row.change;
    vm.exits_per_second = row.per_second();
  }
  if (const auto rate = row.per_second()) vm.rates.push_back({row.field(), *rate});
  if (row.kind == Kind::cumulative || row.kind == Kind::histogram || row.field() == "node") return;
  if (row.field() == "node-evidence") return;
  FieldValue value{row.field(), std::nullopt, std::nullopt};
  if (row.before != nullptr) value.before = row.before->value;
  if (row.after != nullptr) value.after = row.after->value;
  vm.values.push_back(std::move(value));
}

/// The word that both readings say, as the rows "node" and "node-evidence" of a VM.
std::string same_word(const Difference& kvm, const std::string& scope, std::string_view field) {
  const RowChange* row = kvm.find(scope, field);
  const bool same =
      row != nullptr && row->before != nullptr && row->after != nullptr && row->before->value == row->after->value;
  return same ? value_text(row->after->value) : std::string();
}

}  // namespace

std::set<std::string, std::less<>> vms_of(const Reading& reading) {
  std::set<std::string, std::less<>> vms;
  std::string_view last;  // the rows of a VM follow each other
  for (const Row& row : reading.rows) {
    const auto vm = vm_of_scope(row.scope);
    if (!vm || *vm == last) continue;
    last = *vm;
    vms.emplace(*vm);
  }
  return vms;
}

PairRules kvm_pair_rules(const Reading& before, const Reading& after, const Legend* legend) {
  PairRules rules;
  rules.legend = legend;
  rules.clearable = true;  // files of mode 0644: writing 0 resets the counter
  if (vms_of(before) != vms_of(after)) rules.replaced.insert("global");
  return rules;
}

KvmRates kvm_rates(const Difference& kvm) {
  KvmRates rates;
  std::set<std::string, std::less<>> vms = vms_of(kvm.before());
  rates.set_changed = vms != vms_of(kvm.after());
  rates.partial = !kvm.whole_before() || !kvm.whole_after();
  vms.merge(vms_of(kvm.after()));
  for (const std::string& vm : vms) rates.vms.push_back({vm, Change::absent, std::nullopt});
  for (const RowChange& row : kvm.rows()) {
    const auto name = after_prefix(row.scope(), "vm ");
    if (!name) continue;
    const auto at = std::lower_bound(rates.vms.begin(), rates.vms.end(), *name,
                                     [](const VmRate& vm, std::string_view wanted) { return vm.vm < wanted; });
    if (at != rates.vms.end() && at->vm == *name) take_row(row, *at);
  }
  for (VmRate& vm : rates.vms) {
    vm.node = same_word(kvm, "vm " + vm.vm, "node");
    const RowChange* evidence = kvm.find("vm " + vm.vm, "node-evidence");
    if (!vm.node.empty() && evidence != nullptr && evidence->after != nullptr)
      vm.evidence = value_text(evidence->after->value);
  }
  return rates;
}

}  // namespace cozy
