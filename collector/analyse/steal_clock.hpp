#pragma once

#include <string>

#include "collector/analyse/cpu_time.hpp"
#include "probes/reading.hpp"

namespace cozy {

/// What is known of the clock by which a machine can see steal.
struct StealClockFacts {
  StealClock clock = StealClock::unknown;
  std::string name = "unknown";  ///< "kvm", "xen", "hyperv", "vmware", "none", "unknown"
  std::string why;  ///< why a steal that does not climb proves nothing; empty where it does, or nobody knows
  bool nobody_to_steal = false;  ///< there is no hypervisor: zero is natural
};

/// From the facts of runner-steal-clock, whose hypervisor may also be known from runner-shape alone. A report of
/// neither has an unknown clock.
StealClockFacts steal_clock_of(const Reading& clock, const std::string& hypervisor_of_shape);

}  // namespace cozy
