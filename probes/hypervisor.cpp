#include "hypervisor.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cozy {

#if defined(__x86_64__)

namespace {

constexpr std::string_view k_kvm = "KVMKVMKVM";
constexpr unsigned k_first_leaf = 0x40000000U;

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

Registers cpuid(unsigned leaf) {
  Registers registers;
  __cpuid(leaf, registers.eax, registers.ebx, registers.ecx, registers.edx);
  return registers;
}

std::string signature_of(const Registers& leaf) {
  std::array<char, 13> text{};
  std::memcpy(text.data(), &leaf.ebx, 4);
  std::memcpy(text.data() + 4, &leaf.ecx, 4);
  std::memcpy(text.data() + 8, &leaf.edx, 4);
  return text.data();
}

/// KVM's leaves lie at a later multiple of 0x100 where another interface comes first.
std::optional<KvmLeaves> kvm_leaves(const std::string& first_signature) {
  constexpr unsigned k_end = 0x40010000U;
  unsigned base = k_first_leaf;
  std::string signature = first_signature;
  while (signature != k_kvm) {
    base += 0x100U;
    if (base >= k_end || first_signature.empty()) return std::nullopt;
    signature = signature_of(cpuid(base));
  }
  return KvmLeaves{base + 1, cpuid(base + 1).eax};
}

}  // namespace

Result<Hypervisor> read_hypervisor() {
  Registers first;
  if (__get_cpuid(1, &first.eax, &first.ebx, &first.ecx, &first.edx) == 0)
    return Error{"cpuid", "leaf 1 is not there", ENODEV};
  Hypervisor hypervisor;
  hypervisor.present = (first.ecx & (1U << 31U)) != 0;
  if (!hypervisor.present) return hypervisor;
  hypervisor.signature = signature_of(cpuid(k_first_leaf));
  hypervisor.kvm = kvm_leaves(hypervisor.signature);
  return hypervisor;
}

#else

Result<Hypervisor> read_hypervisor() { return Error{"cpuid", "this is no x86 machine", ENOSYS}; }

#endif

}  // namespace cozy
