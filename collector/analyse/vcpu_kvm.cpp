#include "collector/analyse/vcpu_kvm.hpp"

#include <algorithm>
#include <set>
#include <string>
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

constexpr std::string_view k_halt_waits = "halt_wait_hist";
constexpr std::string_view k_halt_waits_kind = "log-histogram seconds 10^-9";

/// A bucket of halt_wait_hist, and the row that says what its buckets are of.
void take_halt_waits(const RowChange& row, VcpuKvm& vcpu, bool& unfit) {
  if (row.before == nullptr || row.after == nullptr) {
    unfit = true;
  } else if (row.field() == k_halt_waits) {
    const bool known = value_text(row.before->value) == k_halt_waits_kind && row.before->value == row.after->value;
    if (!known) unfit = true;
  } else {
    const auto before = counter_value(row.before->value);
    const auto after = counter_value(row.after->value);
    const bool next = row.field() == std::string(k_halt_waits) + "[" + std::to_string(vcpu.halts.counts.size()) + "]";
    if (!before || !after || *after < *before || !next)
      unfit = true;
    else
      vcpu.halts.counts.push_back(*after - *before);
  }
}

void take_row(const RowChange& row, VcpuKvm& vcpu) {
  if (!vcpu.interval) vcpu.interval = row.interval;
  if (const auto rate = row.per_second()) vcpu.rates.push_back({row.field(), *rate});
  if (row.field() == "halt_wait_ns") vcpu.halted_ns = row.delta;
  const bool fell = row.change == Change::went_back || row.change == Change::reset;
  if (fell && (row.field() == "halt_wait_ns" || row.field() == "exits")) vcpu.went_back.push_back(row.field());
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

/// None where a vCPU lacks them.
HaltLengths sum_halts(const std::vector<const VcpuKvm*>& vcpus) {
  HaltLengths sum = vcpus.front()->halts;
  for (std::size_t i = 1; i < vcpus.size(); ++i) {
    const std::vector<std::uint64_t>& counts = vcpus[i]->halts.counts;
    if (counts.size() != sum.counts.size()) return {};
    for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) sum.counts[bucket] += counts[bucket];
  }
  return sum;
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
    for (const std::string& field : known->second.went_back)
      node.went_back.push_back(field + " of vCPU " + std::to_string(vcpu.index));
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
  kvm.halts = sum_halts(vcpus);
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
  std::set<std::pair<std::string, std::uint64_t>> unfit;  // whose halt_wait_hist is no histogram of this window
  for (const RowChange& row : kvm.rows()) {
    const auto key = parse_scope(row.scope());
    if (!key) continue;
    VcpuKvm& vcpu = statistics[*key];
    take_row(row, vcpu);
    if (!row.field().starts_with(k_halt_waits)) continue;
    bool unfit_row = false;
    take_halt_waits(row, vcpu, unfit_row);
    if (unfit_row) unfit.insert(*key);
  }
  for (auto& [key, vcpu] : statistics) {
    settle_halts(vcpu);
    // A vCPU that began anew has no rate either.
    if (unfit.contains(key) || !vcpu.halted_ns) vcpu.halts.counts.clear();
  }
  return statistics;
}

VcpuThreads vcpu_threads(const Difference& kvm) {
  VcpuThreads threads;
  for (const Subject& subject : kvm.after().subjects) {
    const auto key = parse_scope(subject.scope);
    const auto words = split_words(subject.identity);  // kvm-2607/vcpu-0 of process 2605 start 208626
    if (!key || words.size() < 4 || words[2] != "process") continue;
    const auto id = after_prefix(words[0], "kvm-");
    const auto tid = id ? parse_u64(id->substr(0, id->find('/'))) : std::nullopt;
    const auto pid = parse_u64(words[3]);
    if (tid && pid) threads[{*pid, *tid}] = key->second;
  }
  return threads;
}

void take_vcpu_kvm(const VcpuKvmMap& statistics, std::vector<NodeBudget>& nodes) {
  for (NodeBudget& node : nodes) {
    if (node.state == NodeState::present) take_node(statistics, node);
  }
}

}  // namespace cozy
