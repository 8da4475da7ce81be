#include "collector/analyse/vcpu_kvm.hpp"

#include <algorithm>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// "srv1/vcpu0" -> ("srv1", 0)
std::optional<std::pair<std::string, std::uint64_t>> parse_scope(std::string_view scope) {
  const std::size_t mark = scope.rfind("/vcpu");
  if (mark == std::string_view::npos) return std::nullopt;
  const auto index = parse_u64(scope.substr(mark + 5));
  if (!index) return std::nullopt;
  return std::pair(std::string(scope.substr(0, mark)), *index);
}

void take_row(const RowChange& row, VcpuKvm& vcpu) {
  if (!vcpu.interval) vcpu.interval = row.interval;
  if (const auto rate = row.per_second()) vcpu.rates.push_back({row.field(), *rate});
  if (row.field() == "halt_wait_ns") vcpu.halted_ns = row.delta;
  if (row.kind != Kind::instant && row.kind != Kind::peak) return;
  FieldValue value{row.field(), std::nullopt, std::nullopt};
  if (row.before != nullptr) value.before = row.before->value;
  if (row.after != nullptr) value.after = row.after->value;
  vcpu.values.push_back(std::move(value));
}

/// Of a boolean gauge: whether it was 1 in that reading.
std::optional<bool> was(const VcpuKvm& vcpu, std::string_view field, std::optional<Value> FieldValue::*side) {
  for (const FieldValue& value : vcpu.values) {
    if (value.field != field || !(value.*side)) continue;
    const auto number = counter_value(*(value.*side));
    return number ? std::optional(*number != 0) : std::nullopt;
  }
  return std::nullopt;
}

/// A vCPU that was halted in both readings and left guest mode in between not once was halted all along:
/// nothing of that halt has been added yet.
void settle_halts(VcpuKvm& vcpu) {
  const auto before = was(vcpu, "blocking", &FieldValue::before);
  const auto after = was(vcpu, "blocking", &FieldValue::after);
  vcpu.halt_in_progress = after;
  const bool both = before == true && after == true;
  if (both && vcpu.interval && vcpu.halted_ns == 0U && vcpu.rate("exits") == 0.0) {
    vcpu.halted_ns = static_cast<std::uint64_t>(vcpu.interval->length_ns);
    vcpu.halt_in_progress = false;
  }
}

/// Sums where every vCPU has the field; a sum that lacks one would be less than the truth.
std::vector<FieldRate> sum_rates(const std::vector<const VcpuKvm*>& vcpus) {
  std::vector<FieldRate> sums;
  for (const FieldRate& first : vcpus.front()->rates) {
    double sum = 0;
    const bool all = std::all_of(vcpus.begin(), vcpus.end(), [&](const VcpuKvm* vcpu) {
      const auto rate = vcpu->rate(first.field);
      sum += rate.value_or(0);
      return rate.has_value();
    });
    if (all) sums.push_back({first.field, sum});
  }
  return sums;
}

void take_node(const VcpuKvmMap& statistics, NodeBudget& node) {
  std::vector<const VcpuKvm*> vcpus;
  for (auto at = statistics.lower_bound({node.name, 0}); at != statistics.end() && at->first.first == node.name; ++at) {
    vcpus.push_back(&at->second);
  }
  bool every = true;
  for (VcpuTime& vcpu : node.vcpus) {
    const auto known = statistics.find({node.name, vcpu.index});
    if (known == statistics.end()) every = false;
    if (known == statistics.end()) continue;
    vcpu.halt_in_progress = known->second.halt_in_progress;
    vcpu.exits_per_second = known->second.rate("exits");
    const auto by_runner = known->second.rate("irq_exits");
    if (vcpu.exits_per_second && by_runner)
      vcpu.guest_exits_per_second = std::max(0.0, *vcpu.exits_per_second - *by_runner);
  }
  if (vcpus.empty() || !every) return;  // a sum that lacks a vCPU would be less than the truth
  NodeKvm kvm;
  kvm.source = "vcpu stats";
  if (node.kvm) {  // the directory of debugfs that was found to be this node's: its gauges stay
    kvm.vm = node.kvm->vm;
    kvm.values = node.kvm->values;
  }
  kvm.evidence = "its own statistics descriptors";
  kvm.rates = sum_rates(vcpus);
  if (const auto exits = kvm.rate("exits")) node.exits_per_second = exits;
  node.kvm = std::move(kvm);
}

}  // namespace

std::optional<double> VcpuKvm::rate(std::string_view field) const {
  for (const FieldRate& known : rates) {
    if (known.field == field) return known.per_second;
  }
  return std::nullopt;
}

VcpuKvmMap vcpu_kvm(const Difference& kvm) {
  VcpuKvmMap statistics;
  for (const RowChange& row : kvm.rows()) {
    if (const auto key = parse_scope(row.scope())) take_row(row, statistics[*key]);
  }
  for (auto& [key, vcpu] : statistics) settle_halts(vcpu);
  return statistics;
}

void take_vcpu_kvm(const VcpuKvmMap& statistics, std::vector<NodeBudget>& nodes) {
  for (NodeBudget& node : nodes) {
    if (node.state == NodeState::present) take_node(statistics, node);
  }
}

}  // namespace cozy
