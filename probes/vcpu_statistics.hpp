#pragma once

#include <cstddef>

#include "kvm_owners.hpp"
#include "probe.hpp"

namespace cozy {

/// What the vCPU statistics descriptors of QEMU gave.
struct VcpuStatistics {
  std::size_t vcpus = 0;  ///< descriptors that were read
  std::size_t values = 0;
  std::size_t failed = 0;     ///< descriptors that are there and were not read
  std::size_t processes = 0;  ///< QEMU processes that were looked at
  OwnerFacts owners;          ///< what ties debugfs's directories to them
};

/// Borrows every `anon_inode:kvm-vcpu-stats:N` that a QEMU holds (8.1 and newer), reads it once, and writes a
/// row per statistic under srv<N>/vcpu<M>, with the kernel's own kind and unit. Works in a PID namespace of its
/// own and under kernel lockdown; needs the right to trace the process. pidfd_getfd(2); kvm api.rst 4.133.
VcpuStatistics write_vcpu_statistics(const ProbeContext& context, Sink& sink);

}  // namespace cozy
