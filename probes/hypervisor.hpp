#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "result.hpp"

namespace cozy {

/// KVM's own leaves of CPUID, where KVM offers them.
struct KvmLeaves {
  std::uint32_t features_leaf = 0;  ///< 0x40000001, or later where another interface comes first
  std::uint32_t features = 0;       ///< EAX of that leaf

  /// KVM_FEATURE_STEAL_TIME: the machine below writes down how long it kept a vCPU waiting.
  [[nodiscard]] bool steal_clock() const { return (features & (1U << 5U)) != 0; }
};

/// Who made this machine, by the processor's own word.
struct Hypervisor {
  bool present = false;   ///< CPUID leaf 1, ECX bit 31
  std::string signature;  ///< of leaf 0x40000000: "KVMKVMKVM", "VMwareVMware"; empty where it spells nothing
  std::optional<KvmLeaves> kvm;
};

/// CPUID is neither privileged nor of a namespace: inside a container it is what the machine was given. An error
/// where there is no such instruction. Documentation/virt/kvm/x86/cpuid.rst.
Result<Hypervisor> read_hypervisor();

}  // namespace cozy
