#include "collector/analyse/timeline_series.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "collector/analyse/timeline_stalls.hpp"
#include "collector/analyse/timeline_vcpus.hpp"
#include "probes/clock.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_runner_numbers = 12;  // of a step: the runner's CPU time, pressure, memory
constexpr std::size_t k_node_numbers = 3;
constexpr std::size_t k_vcpu_numbers = 6;
constexpr std::size_t k_fewest_steps = 100;  // nodes are left out before a timeline is drawn coarser than this

using Names = std::map<std::string, std::set<std::uint64_t>>;

/// Of a process's vCPUs, whether their halts are counted at all.
using Process = std::pair<std::uint64_t, std::uint64_t>;

double seconds_of(double ns) { return ns / static_cast<double>(k_ns_per_second); }

Count at(const std::vector<Count>& values, std::size_t i) { return i < values.size() ? values[i] : std::nullopt; }

std::optional<double> sum_of(const Count& a, const Count& b) {
  if (!a || !b) return std::nullopt;
  return static_cast<double>(*a) + static_cast<double>(*b);
}

std::optional<double> number_of(const Count& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

class SeriesMaker {
 public:
  SeriesMaker(const Timeline& timeline, std::size_t most_numbers) : timeline_(timeline) {
    series_.begin_ns = timeline.ticks.front().begin_ns;
    series_.epoch_begin_ns = timeline.ticks.front().epoch_ns;
    series_.interval_seconds = seconds_of(static_cast<double>(timeline.interval_ns));
    find_names();
    choose_names(most_numbers);
    choose_moments(most_numbers);
  }

  TimelineSeries make() {
    make_steps();
    for (std::size_t step = 0; step < steps(); ++step) {
      make_runner(step);
      make_pressure(step);
      make_others(step);
      make_cgroups(step);
    }
    make_vcpus();
    return std::move(series_);
  }

 private:
  [[nodiscard]] std::size_t steps() const { return moments_.size() - 1; }
  [[nodiscard]] const TimelineTick& before(std::size_t step) const { return *moments_[step]; }
  [[nodiscard]] const TimelineTick& after(std::size_t step) const { return *moments_[step + 1]; }
  [[nodiscard]] double ns_of(std::size_t step) const {
    return static_cast<double>(after(step).begin_ns - before(step).begin_ns);
  }

  [[nodiscard]] const TimelineSubject* subject(std::uint64_t number, std::string_view kind) const {
    const auto found = timeline_.subjects.find(number);
    return found != timeline_.subjects.end() && found->second.kind == kind ? &found->second : nullptr;
  }

  /// Who the ticks speak of; a subject without an entry takes no room.
  void find_names() {
    for (const TimelineTick& tick : timeline_.ticks) {
      for (const VcpuTick& vcpu : tick.vcpus) {
        const TimelineSubject* of = subject(vcpu.subject, "vcpu");
        if (of == nullptr) continue;
        names_[of->node].insert(of->vcpu);
        if (vcpu.blocking.value_or(0) != 0 || vcpu.halted_ns.value_or(0) != 0)
          counts_halts_.insert({of->pid, of->start_ticks});
      }
      for (const OthersTick& others : tick.others) {
        if (const TimelineSubject* of = subject(others.subject, "others")) names_[of->node];
      }
      for (const CgroupTick& cgroup : tick.cgroups) {
        if (const TimelineSubject* of = subject(cgroup.subject, "cgroup")) names_[of->node];
      }
    }
  }

  void choose_names(std::size_t most_numbers) {
    const std::size_t room = most_numbers / std::min(timeline_.ticks.size() - 1, k_fewest_steps);
    for (const auto& [name, vcpus] : names_) {
      const std::size_t numbers = k_node_numbers + k_vcpu_numbers * vcpus.size();
      if (numbers_ + numbers > room) {
        ++series_.nodes_left_out;
        continue;
      }
      numbers_ += numbers;
      nodes_[name] = series_.nodes.size();
      NodeSeries& node = series_.nodes.emplace_back();
      node.node = name;
      for (const std::uint64_t vcpu : vcpus) node.vcpus.emplace_back().vcpu = vcpu;
    }
  }

  /// Counters go on: a step over several ticks is the difference of its ends.
  void choose_moments(std::size_t most_numbers) {
    const std::size_t all = timeline_.ticks.size() - 1;
    const std::size_t most = std::max<std::size_t>(most_numbers / numbers_, 1);
    series_.merged = (all + most - 1) / most;
    for (std::size_t tick = 0; tick < all; tick += series_.merged) moments_.push_back(&timeline_.ticks[tick]);
    moments_.push_back(&timeline_.ticks.back());
  }

  void make_steps() {
    for (std::size_t step = 0; step < steps(); ++step) {
      series_.starts.push_back(seconds_of(static_cast<double>(before(step).begin_ns - series_.begin_ns)));
      series_.seconds.push_back(seconds_of(ns_of(step)));
      bool gap = false;
      for (const TimelineTick* tick = &before(step); tick < &after(step); ++tick) gap = gap || is_gap(tick[0], tick[1]);
      series_.gap.push_back(gap);
    }
  }

  static bool is_gap(const TimelineTick& before, const TimelineTick& after) {
    return after.missed > 0 || after.due_ns - before.due_ns > after.interval_ns + after.interval_ns / 2;
  }

  void put(Series& series, std::size_t step, const std::optional<double>& number) const {
    if (!number) return;
    series.resize(steps());
    if (!series[step]) series[step] = *number;  // what stands there twice counts once
  }

  /// Of a share: what clocks that were read one after the other make too much is no time.
  void put_share(Series& series, std::size_t step, const std::optional<double>& ns) const {
    if (ns) put(series, step, std::clamp(*ns / ns_of(step), 0.0, 1.0));
  }

  void make_runner(std::size_t step) {
    const auto ticks = [&](std::size_t column) {
      return delta(at(before(step).cpu, column), at(after(step).cpu, column));
    };
    RunnerSeries& runner = series_.runner;
    const std::array<std::pair<Series*, std::optional<double>>, 6> columns{
        {{&runner.user, sum_of(ticks(0), ticks(1))},
         {&runner.system, number_of(ticks(2))},
         {&runner.idle, number_of(ticks(3))},
         {&runner.iowait, number_of(ticks(4))},
         {&runner.interrupts, sum_of(ticks(5), ticks(6))},
         {&runner.steal, number_of(ticks(7))}}};
    double total = 0;
    for (const auto& [series, number] : columns) total += number.value_or(0);
    if (total <= 0) return;
    for (const auto& [series, number] : columns) {
      if (number) put(*series, step, *number / total);
    }
  }

  void make_pressure(std::size_t step) {
    PressureSeries& pressure = series_.pressure;
    constexpr double k_ns_per_us = 1000;
    const std::array totals{&pressure.cpu_some, &pressure.io_some, &pressure.io_full, &pressure.memory_some,
                            &pressure.memory_full};
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const Count us = delta(at(before(step).pressure, i), at(after(step).pressure, i));
      if (us) put_share(*totals[i], step, static_cast<double>(*us) * k_ns_per_us);
    }
    put(series_.memory_available_kb, step, number_of(after(step).memory_kb));
  }

  NodeSeries* node_of(const TimelineSubject* subject) {
    const auto found = subject == nullptr ? nodes_.end() : nodes_.find(subject->node);
    return found == nodes_.end() ? nullptr : &series_.nodes[found->second];
  }

  void make_others(std::size_t step) {
    std::map<std::uint64_t, const OthersTick*> known;
    for (const OthersTick& others : before(step).others) known.emplace(others.subject, &others);
    for (const OthersTick& others : after(step).others) {
      NodeSeries* node = node_of(subject(others.subject, "others"));
      const auto from = known.find(others.subject);
      if (node == nullptr || from == known.end()) continue;
      const Count ran = delta(from->second->ran_ns, others.ran_ns);
      if (ran) put(node->others_cpus, step, static_cast<double>(*ran) / ns_of(step));
    }
  }

  void make_cgroups(std::size_t step) {
    std::map<std::uint64_t, const CgroupTick*> known;
    for (const CgroupTick& cgroup : before(step).cgroups) known.emplace(cgroup.subject, &cgroup);
    std::map<NodeSeries*, double> throttled;
    for (const CgroupTick& cgroup : after(step).cgroups) {
      const TimelineSubject* of = subject(cgroup.subject, "cgroup");
      NodeSeries* node = node_of(of);
      const auto from = known.find(cgroup.subject);
      if (node == nullptr || from == known.end()) continue;
      const Count usage = of->level == 0 ? delta(from->second->usage_ns, cgroup.usage_ns) : std::nullopt;
      if (usage) put(node->cgroup_cpus, step, static_cast<double>(*usage) / ns_of(step));
      const Count lost = delta(from->second->throttled_ns, cgroup.throttled_ns);
      if (!lost || cgroup.periods.value_or(0) == 0) continue;  // without a quota the kernel counts no periods
      double& most = throttled.try_emplace(node, 0).first->second;
      most = std::max(most, static_cast<double>(*lost));
    }
    for (const auto& [node, ns] : throttled) put_share(node->throttled, step, ns);
  }

  void make_vcpus() {
    std::map<std::uint64_t, std::vector<VcpuMoment>> all;
    for (std::size_t moment = 0; moment < moments_.size(); ++moment) {
      for (const VcpuTick& vcpu : moments_[moment]->vcpus) {
        if (node_of(subject(vcpu.subject, "vcpu")) == nullptr) continue;
        std::vector<VcpuMoment>& own = all[vcpu.subject];
        if (own.empty() || own.back().moment != moment) own.push_back({moment, moments_[moment]->begin_ns, &vcpu});
      }
    }
    for (const auto& [number, moments] : all) {
      const TimelineSubject& of = timeline_.subjects.at(number);
      NodeSeries& node = *node_of(&of);
      const auto vcpu = std::lower_bound(node.vcpus.begin(), node.vcpus.end(), of.vcpu,
                                         [](const VcpuSeries& one, std::uint64_t index) { return one.vcpu < index; });
      const bool counts_halts = counts_halts_.contains({of.pid, of.start_ticks});
      for (const VcpuStep& step : vcpu_steps(moments, counts_halts)) put_step(step, *vcpu);
    }
  }

  /// A step that another thread of this number has is that one's alone: parts of both would pass the step.
  void put_step(const VcpuStep& step, VcpuSeries& vcpu) const {
    const std::array parts{std::pair(&vcpu.ran, step.ran), std::pair(&vcpu.waited, step.waited),
                           std::pair(&vcpu.halted, step.halted), std::pair(&vcpu.other, step.other),
                           std::pair(&vcpu.halted_or_other, step.halted_or_other)};
    const auto holds = [&](const Series& series) { return !series.empty() && series[step.step].has_value(); };
    bool taken = holds(vcpu.exits_per_second);
    for (const auto& [series, ns] : parts) taken = taken || holds(*series);
    if (taken) return;
    for (const auto& [series, ns] : parts) put_share(*series, step.step, ns);
    if (step.exits)
      put(vcpu.exits_per_second, step.step, static_cast<double>(*step.exits) / series_.seconds[step.step]);
  }

  const Timeline& timeline_;
  TimelineSeries series_;
  Names names_;
  std::set<Process> counts_halts_;
  std::map<std::string, std::size_t> nodes_;  ///< places in series_.nodes
  std::size_t numbers_ = k_runner_numbers;    ///< of a step
  std::vector<const TimelineTick*> moments_;
};

}  // namespace

std::optional<TimelineSeries> timeline_series(const Timeline& timeline, std::size_t most_numbers) {
  if (timeline.ticks.size() < 2) return std::nullopt;
  return SeriesMaker(timeline, most_numbers).make();
}

}  // namespace cozy
