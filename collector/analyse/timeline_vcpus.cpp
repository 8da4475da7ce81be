#include "collector/analyse/timeline_vcpus.hpp"

#include <algorithm>
#include <optional>

#include "collector/analyse/timeline_stalls.hpp"

namespace cozy {

namespace {

/// A step before its halts are known to be its own.
struct RawStep {
  VcpuStep parts;
  double left = 0;  ///< what neither ran nor waited; the most that it can be where one of the two is not known
  Count halts_ns;   ///< of the halts that ended in it, wherever they began
  bool halted_at_begin = false;
  std::optional<bool> halted_at_end;
  bool stopped = false;  ///< not once it ran, and its thread was in no state that a halt can have
};

std::optional<bool> is_halted(const VcpuTick& vcpu) {
  return vcpu.blocking ? std::optional(*vcpu.blocking != 0) : std::nullopt;
}

/// The state is of a thread that did not run; one that sleeps can be halted.
bool is_no_halt(char state) { return state == 'T' || state == 't' || state == 'R' || state == 'D'; }

std::optional<double> part_of(const Count& ns, double& left) {
  if (!ns) return std::nullopt;
  const double part = std::min(static_cast<double>(*ns), left);
  left -= part;
  return part;
}

RawStep step_between(const VcpuMoment& from, const VcpuMoment& to, bool counts_halts) {
  const VcpuTick& before = *from.vcpu;
  const VcpuTick& after = *to.vcpu;
  RawStep step;
  step.parts.step = from.moment;
  step.left = static_cast<double>(to.time_ns - from.time_ns);
  const Count ran = delta(before.ran_ns, after.ran_ns);
  step.parts.ran = part_of(ran, step.left);
  step.parts.waited = part_of(delta(before.waited_ns, after.waited_ns), step.left);
  step.parts.exits = delta(before.exits, after.exits);
  if (counts_halts) step.halts_ns = delta(before.halted_ns, after.halted_ns);
  step.halted_at_begin = is_halted(before).value_or(false);
  step.halted_at_end = is_halted(after);
  step.stopped = ran == 0U && is_no_halt(after.state);
  return step;
}

/// Gives the step its halts: those that ended in it and `later`, what of later ones lies before its end. Answers
/// with what lies before its begin.
double take_halts(RawStep& step, double later) {
  VcpuStep& parts = step.parts;
  if (!step.halts_ns) return 0;
  const auto ended = static_cast<double>(*step.halts_ns);
  const bool began_here = parts.exits.value_or(0) > 0;  // what is in progress at its end
  const bool parked = step.halted_at_begin && step.halted_at_end == true && parts.exits == 0U;
  parts.halted = parked ? step.left : std::min(step.left, ended + later);
  const double before = std::max(ended + later - *parts.halted, 0.0);
  if (!step.halted_at_begin) return 0;
  return began_here ? std::min(before, ended) : before;
}

/// Gives what is left of the step to the part that it is known to be.
void take_rest(RawStep& step) {
  VcpuStep& parts = step.parts;
  if (!parts.ran || !parts.waited) return;
  const double rest = step.left - parts.halted.value_or(0);
  const bool counted = parts.halted && step.halted_at_end == false;
  const bool known = rest <= 0 || counted || step.stopped;
  // Where halts are counted, of an open rest nothing is decided; else nothing ever is.
  if (known || parts.halted) parts.other = known ? rest : 0;
  parts.halted_or_other = known ? 0 : rest;
}

}  // namespace

std::vector<VcpuStep> vcpu_steps(const std::vector<VcpuMoment>& moments, bool counts_halts) {
  std::vector<RawStep> steps;
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    if (moments[i].moment + 1 == moments[i + 1].moment)
      steps.push_back(step_between(moments[i], moments[i + 1], counts_halts));
  }
  double later = 0;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const bool follows = i + 1 < steps.size() && steps[i].parts.step + 1 == steps[i + 1].parts.step;
    later = take_halts(steps[i], follows ? later : 0);
    take_rest(steps[i]);
  }
  std::vector<VcpuStep> parts;
  parts.reserve(steps.size());
  for (const RawStep& step : steps) parts.push_back(step.parts);
  return parts;
}

}  // namespace cozy
