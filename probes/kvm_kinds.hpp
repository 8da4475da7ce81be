#pragma once

#include "probe.hpp"

namespace cozy {

/// What tells the kinds of debugfs's values, as a line "[kinds by ...]", behind the last reading.
/// Where counters or peaks were read of a VM, KVM's own descriptions are asked for, through a VM of this
/// process's own: "[kind] NAME TYPE UNIT BASE^EXPONENT" each. Where they are not to be had, the permission bits
/// tell instantaneous values and the legend tells peaks by name.
void write_kvm_kinds(const ProbeContext& context, bool counters_of_vms, Sink& sink);

}  // namespace cozy
