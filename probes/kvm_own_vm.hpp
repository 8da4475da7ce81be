#pragma once

#include <string_view>

/// A VM of the collector's own: it asks KVM for the kinds and units of all statistics and runs nothing.
namespace cozy {

/// The number of its one vCPU. A guest has a vCPU 0, and so this one's directory in debugfs shows another
/// collector, in whatever PID namespace, that these statistics are nobody's.
inline constexpr unsigned k_own_vm_vcpu = 240;
inline constexpr std::string_view k_own_vm_vcpu_directory = "vcpu240";

}  // namespace cozy
