#include "collector/analyse/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "collector/analyse/rule_functions.hpp"
#include "collector/analyse/rule_support.hpp"
#include "collector/analyse/shape_warnings.hpp"
#include "collector/analyse/thresholds.hpp"

namespace cozy {

namespace {

/// The numbers of one analysis, in the order in which they are shown.
class NumberList {
 public:
  explicit NumberList(const Analysis& analysis) : analysis_(analysis) {
    if (has_judged_runner(analysis_)) add_runner();
    if (analysis_.pressure) add_pressure();
    for (const NodeBudget& node : analysis_.nodes) {
      if (node.state == NodeState::present) add_node(node);
    }
    if (analysis_.kvm) add_kvm();
  }

  [[nodiscard]] std::vector<ComparedNumber> take() { return std::move(numbers_); }

 private:
  void add(const std::string& subject, std::string what, Unit unit, const std::optional<double>& value, double error) {
    if (!value || !std::isfinite(*value)) return;
    numbers_.push_back({subject, std::move(what), unit, Measured{*value, error}, std::nullopt, false});
  }

  /// What the stamps leave open, relative to a value that was divided by them.
  static double relative_error(const std::optional<Interval>& window) {
    return window ? window->error_seconds() / window->seconds() : 1;
  }

  /// A column of a CPU is cut to whole ticks in both readings.
  void add_runner() {
    const CpuTime& time = *analysis_.runner;
    const double error = static_cast<double>(time.cpus.size()) / static_cast<double>(*time.runner->total_ticks);
    for (std::size_t i = 0; i < k_cpu_columns; ++i) {
      const auto column = static_cast<CpuColumn>(i);
      add("runner", std::string(column_name(column)), Unit::share, time.runner->share(column), error);
    }
  }

  void add_pressure() {
    const ComparedPair* pair = analysis_.pair(k_pressure_capture);
    const double relative = pair == nullptr ? 0 : relative_error(pair->interval);
    const auto add_one = [&](const char* what, const std::optional<double>& share) {
      add("runner", what, Unit::share, share, share.value_or(0) * relative);
    };
    add_one("pressure cpu some", analysis_.pressure->cpu.some);
    add_one("pressure io some", analysis_.pressure->io.some);
    add_one("pressure memory some", analysis_.pressure->memory.some);
  }

  void add_node(const NodeBudget& node) {
    const auto window = window_of(node);
    if (!can_be_judged(window)) return;
    if (has_judged_vcpus(node)) add_parts(node, *window);
    const ProcessTime& process = node.process;
    const double ticks = 2 / static_cast<double>(analysis_.ticks_per_second);
    if (process.window && process.cpu_seconds && can_be_judged(process.window)) {
      const double cpus = *process.cpu_seconds / process.window->seconds();
      const double error = cpus * relative_error(process.window) + ticks / process.window->seconds();
      add(node.name, "cpus used", Unit::cpus, cpus, error);
    }
    const double exits = node.exits_per_second.value_or(0);
    add(node.name, "exits", Unit::per_second, node.exits_per_second, exits * relative_error(kvm_window()));
  }

  void add_parts(const NodeBudget& node, const Interval& window) {
    const TimeParts& sum = node.sum;
    // Two ticks where ticks were counted; a permille between the clocks.
    const double ticks = 2 / (static_cast<double>(analysis_.ticks_per_second) * window.seconds());
    const auto add_part = [&](std::string what, const std::optional<double>& seconds, bool by_ticks) {
      const auto share = sum.share(seconds);
      const double error = share.value_or(0) * relative_error(window) + 0.001 + (by_ticks ? ticks : 0);
      add(node.name, std::move(what), Unit::share, share, error);
    };
    add_part("ran", sum.ran_seconds, node.ran_by_ticks);
    add_part("guest", sum.guest_seconds, true);
    add_part("waited", sum.waited_seconds, false);
    add_part("halted", sum.halted_seconds, false);
    if (node.cgroup) add_part("throttled", own_throttled_seconds(*node.cgroup), false);
    // Where a part is absent the rest holds it: then it is another number under another name.
    std::string rest = "other";
    if (!sum.halted_seconds) rest = "halted or " + rest;
    if (!sum.waited_seconds) rest = "waited or " + rest;
    add_part(rest, sum.rest_seconds, node.ran_by_ticks);
  }

  /// The VMs together, where each has a rate and they are the same in both samples.
  void add_kvm() {
    const KvmRates& kvm = *analysis_.kvm;
    double exits = 0;
    for (const VmRate& vm : kvm.vms) {
      if (!vm.exits_per_second) return;
      exits += *vm.exits_per_second;
    }
    if (kvm.set_changed || kvm.vms.empty() || !can_be_judged(kvm_window())) return;
    add("all VMs", "exits", Unit::per_second, exits, exits * relative_error(kvm_window()));
  }

  [[nodiscard]] std::optional<Interval> kvm_window() const {
    const ComparedPair* pair = analysis_.pair(k_kvm_capture);
    return pair == nullptr ? std::nullopt : pair->interval;
  }

  const Analysis& analysis_;
  std::vector<ComparedNumber> numbers_;
};

/// Green's numbers with red's beside them; what only red has stands behind the others of its subject.
std::vector<ComparedNumber> side_by_side(const Analysis& green, const Analysis& red) {
  std::vector<ComparedNumber> numbers = NumberList(green).take();
  std::map<std::pair<std::string, std::string>, Measured> of_red;
  std::vector<ComparedNumber> red_only;
  std::set<std::pair<std::string, std::string>> of_green;
  for (const ComparedNumber& number : numbers) of_green.emplace(number.subject, number.what);
  for (ComparedNumber& number : NumberList(red).take()) {
    of_red.try_emplace({number.subject, number.what}, *number.green);
    if (of_green.contains({number.subject, number.what})) continue;
    number.red = std::exchange(number.green, std::nullopt);
    red_only.push_back(std::move(number));
  }
  for (ComparedNumber& number : numbers) {
    const auto found = of_red.find({number.subject, number.what});
    if (found == of_red.end()) continue;
    number.red = found->second;
    number.differs = std::abs(number.red->value - number.green->value) > number.red->error + number.green->error;
  }
  numbers.insert(numbers.end(), std::make_move_iterator(red_only.begin()), std::make_move_iterator(red_only.end()));
  std::map<std::string, std::size_t> order;
  for (const ComparedNumber& number : numbers) order.try_emplace(number.subject, order.size());
  std::stable_sort(numbers.begin(), numbers.end(), [&](const ComparedNumber& a, const ComparedNumber& b) {
    return order.at(a.subject) < order.at(b.subject);
  });
  return numbers;
}

using FindingKeys = std::set<std::pair<std::string, std::string>>;

FindingKeys keys_of(const Analysis& analysis) {
  FindingKeys keys;
  for (const Finding& finding : analysis.findings) keys.emplace(finding.id, finding.subject);
  return keys;
}

void compare_findings(const Analysis& green, const Analysis& red, Comparison& comparison) {
  const FindingKeys of_green = keys_of(green);
  const FindingKeys of_red = keys_of(red);
  for (const auto& key : of_green) {
    (of_red.contains(key) ? comparison.both : comparison.green_only).push_back({key.first, key.second});
  }
  for (const auto& key : of_red) {
    if (!of_green.contains(key)) comparison.red_only.push_back({key.first, key.second});
  }
}

}  // namespace

std::optional<double> ComparedNumber::change() const {
  if (!green || !red) return std::nullopt;
  return red->value - green->value;
}

Comparison compare(const Analysis& green, const Analysis& red) {
  Comparison comparison;
  comparison.green_snapshot = green.snapshot;
  comparison.red_snapshot = red.snapshot;
  comparison.green_verdict = green.verdict;
  comparison.red_verdict = red.verdict;
  comparison.warnings = shape_warnings(green, red);
  comparison.numbers = side_by_side(green, red);
  compare_findings(green, red, comparison);
  return comparison;
}

}  // namespace cozy
