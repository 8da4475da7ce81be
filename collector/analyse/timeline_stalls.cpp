#include "collector/analyse/timeline_stalls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "probes/clock.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_stalls = 200;
constexpr double k_quiet_share = 0.02;  // of a step: the kernel's own work in a thread that is stopped

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(k_ns_per_second); }
double seconds_of(const Count& ns) { return ns ? static_cast<double>(*ns) / 1e9 : 0; }

/// One vCPU from one tick to the next.
struct Step {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t epoch_from_ns = 0;
  Count ran;
  Count waited;
  Count halted;
  std::optional<bool> halted_at_end;  ///< not known where KVM does not tell of a halt in progress
  char state = 0;

  /// What is left of the step: neither ran, nor waited, nor halted.
  [[nodiscard]] std::int64_t rest_ns() const {
    const double rest = seconds_of(to_ns - from_ns) - seconds_of(ran) - seconds_of(waited) - seconds_of(halted);
    return static_cast<std::int64_t>(std::clamp(rest, 0.0, seconds_of(to_ns - from_ns)) * 1e9);
  }
};

/// Whether it neither ran nor halted. A thread that sleeps is taken for halted unless its halts are counted.
bool is_quiet(const Step& step, bool counts_halts) {
  const double most = k_quiet_share * seconds_of(step.to_ns - step.from_ns);
  if (!step.ran || seconds_of(step.ran) > most) return false;
  if (step.halted_at_end == true || seconds_of(step.halted) > most) return false;
  const bool stopped = step.state == 'T' || step.state == 't';
  return stopped || step.state == 'R' || step.state == 'D' ||
         (counts_halts && step.halted && step.halted_at_end == false);
}

struct VcpuSteps {
  std::vector<Step> steps;
  bool counts_halts = false;
  const VcpuTick* last = nullptr;
  const TimelineTick* last_tick = nullptr;
};

std::map<std::uint64_t, VcpuSteps> steps_of(const Timeline& timeline) {
  std::map<std::uint64_t, VcpuSteps> all;
  for (const TimelineTick& tick : timeline.ticks) {
    for (const VcpuTick& vcpu : tick.vcpus) {
      VcpuSteps& own = all[vcpu.subject];
      if (vcpu.blocking.value_or(0) != 0 || vcpu.halted_ns.value_or(0) != 0) own.counts_halts = true;
      if (own.last_tick == &tick) continue;  // stands there twice
      if (own.last != nullptr) {
        const VcpuTick& before = *own.last;
        own.steps.push_back({own.last_tick->begin_ns, tick.begin_ns, own.last_tick->epoch_ns,
                             delta(before.ran_ns, vcpu.ran_ns), delta(before.waited_ns, vcpu.waited_ns),
                             delta(before.halted_ns, vcpu.halted_ns),
                             vcpu.blocking ? std::optional(*vcpu.blocking != 0) : std::nullopt, vcpu.state});
      }
      own.last = &vcpu;
      own.last_tick = &tick;
    }
  }
  return all;
}

/// The stall of the steps from `first` up to `end`, with what of the steps beside it belongs to it.
Stall stall_of(const std::vector<Step>& steps, std::size_t first, std::size_t end) {
  Stall stall;
  stall.from_ns = steps[first].from_ns;
  stall.epoch_from_ns = steps[first].epoch_from_ns;
  stall.to_ns = steps[end - 1].to_ns;
  if (first > 0 && steps[first - 1].to_ns == stall.from_ns && steps[first - 1].halted_at_end != true) {
    stall.from_ns -= steps[first - 1].rest_ns();
    stall.epoch_from_ns -= steps[first - 1].rest_ns();
  }
  if (end < steps.size() && steps[end].from_ns == stall.to_ns && steps[end].halted_at_end != true)
    stall.to_ns += steps[end].rest_ns();
  std::set<char> states;
  for (std::size_t i = first; i < end; ++i) {
    if (steps[i].state != 0) states.insert(steps[i].state);
  }
  stall.states.assign(states.begin(), states.end());
  return stall;
}

std::vector<Stall> stalls_of(const VcpuSteps& vcpu, double shortest_seconds) {
  std::vector<Stall> found;
  const std::vector<Step>& steps = vcpu.steps;
  for (std::size_t first = 0; first < steps.size();) {
    std::size_t end = first;
    while (end < steps.size() && is_quiet(steps[end], vcpu.counts_halts)) ++end;
    if (end > first) {
      Stall stall = stall_of(steps, first, end);
      if (stall.seconds() >= shortest_seconds) found.push_back(std::move(stall));
    }
    first = end + 1;
  }
  return found;
}

/// Takes a stall of one more vCPU in, or adds it.
void merge(Stall stall, std::vector<Stall>& all) {
  for (Stall& known : all) {
    const bool overlaps = known.from_ns <= stall.to_ns && stall.from_ns <= known.to_ns;
    if (!overlaps || known.node != stall.node) continue;
    if (stall.from_ns < known.from_ns) known.epoch_from_ns = stall.epoch_from_ns;
    known.from_ns = std::min(known.from_ns, stall.from_ns);
    known.to_ns = std::max(known.to_ns, stall.to_ns);
    const std::uint64_t vcpu = stall.vcpus.front();
    if (std::find(known.vcpus.begin(), known.vcpus.end(), vcpu) == known.vcpus.end()) known.vcpus.push_back(vcpu);
    for (const char state : stall.states) {
      if (known.states.find(state) == std::string::npos) known.states += state;
    }
    return;
  }
  if (all.size() < k_most_stalls) all.push_back(std::move(stall));
}

/// The first tick at or behind the begin of a stall, and the last before its end.
std::pair<const TimelineTick*, const TimelineTick*> ticks_inside(const Timeline& timeline, const Stall& stall) {
  const TimelineTick* first = nullptr;
  const TimelineTick* last = nullptr;
  for (const TimelineTick& tick : timeline.ticks) {
    if (tick.begin_ns < stall.from_ns || tick.begin_ns > stall.to_ns) continue;
    if (first == nullptr) first = &tick;
    last = &tick;
  }
  return {first, last};
}

Count at(const std::vector<Count>& values, std::size_t i) { return i < values.size() ? values[i] : std::nullopt; }

std::optional<double> pressure_share(const TimelineTick& first, const TimelineTick& last, std::size_t i) {
  const Count us = delta(at(first.pressure, i), at(last.pressure, i));
  if (!us) return std::nullopt;
  return std::clamp(static_cast<double>(*us) / 1e6 / step_seconds(first, last), 0.0, 1.0);
}

/// What happened around a stall, from the ticks that lie in it.
void take_surroundings(const Timeline& timeline, Stall& stall) {
  const auto [first, last] = ticks_inside(timeline, stall);
  if (first == nullptr || first == last) return;
  double total = 0;
  std::vector<Count> columns;
  constexpr std::size_t k_idle = 3;
  constexpr std::size_t k_steal = 7;
  for (std::size_t i = 0; i <= k_steal; ++i) {  // guest times are inside user and nice
    columns.push_back(delta(at(first->cpu, i), at(last->cpu, i)));
    total += static_cast<double>(columns.back().value_or(0));
  }
  if (total > 0 && columns[k_idle]) stall.runner_idle = static_cast<double>(*columns[k_idle]) / total;
  if (total > 0 && columns[k_steal]) stall.runner_steal = static_cast<double>(*columns[k_steal]) / total;
  stall.pressure_cpu = pressure_share(*first, *last, 0);
  stall.pressure_io = pressure_share(*first, *last, 1);
  for (const CgroupTick& before : first->cgroups) {
    const auto subject = timeline.subjects.find(before.subject);
    if (subject == timeline.subjects.end() || subject->second.node != stall.node) continue;
    const auto after = std::find_if(last->cgroups.begin(), last->cgroups.end(),
                                    [&](const CgroupTick& c) { return c.subject == before.subject; });
    if (after == last->cgroups.end() || after->periods.value_or(0) == 0) continue;  // no quota, no periods
    const Count throttled = delta(before.throttled_ns, after->throttled_ns);
    if (throttled) stall.throttled_seconds = std::max(stall.throttled_seconds.value_or(0), seconds_of(throttled));
  }
}

}  // namespace

double step_seconds(const TimelineTick& before, const TimelineTick& after) {
  return seconds_of(after.begin_ns - before.begin_ns);
}

Count delta(const Count& before, const Count& after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

std::vector<Stall> find_stalls(const Timeline& timeline, double shortest_seconds) {
  std::vector<Stall> all;
  for (const auto& [number, vcpu] : steps_of(timeline)) {
    const auto subject = timeline.subjects.find(number);
    if (subject == timeline.subjects.end() || subject->second.kind != "vcpu") continue;
    for (Stall& stall : stalls_of(vcpu, shortest_seconds)) {
      stall.node = subject->second.node;
      stall.vcpus = {subject->second.vcpu};
      merge(std::move(stall), all);
    }
  }
  for (Stall& stall : all) {
    std::sort(stall.vcpus.begin(), stall.vcpus.end());
    take_surroundings(timeline, stall);
  }
  std::stable_sort(all.begin(), all.end(), [](const Stall& a, const Stall& b) { return a.seconds() > b.seconds(); });
  return all;
}

}  // namespace cozy
