#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/report/timeline.hpp"

namespace cozy {

/// Where a step of a vCPU went, in nanoseconds; the parts that are known do not pass the step together.
struct VcpuStep {
  std::size_t step = 0;
  std::optional<double> ran;
  std::optional<double> waited;
  std::optional<double> halted;
  std::optional<double> other;
  std::optional<double> halted_or_other;
  Count exits;
};

/// A vCPU at one of the moments between which the steps lie.
struct VcpuMoment {
  std::size_t moment = 0;
  std::int64_t time_ns = 0;
  const VcpuTick* vcpu = nullptr;
};

/// The steps of one thread, of whose moments none stands twice. A step is there where both of its moments are.
/// A halt is counted by the kernel when it ends: what of it lies before that step is given to the steps before it,
/// in which the vCPU was halted.
/// counts_halts: false where halt_wait_ns stays at zero, so that nothing says what a sleeping thread does.
std::vector<VcpuStep> vcpu_steps(const std::vector<VcpuMoment>& moments, bool counts_halts);

}  // namespace cozy
