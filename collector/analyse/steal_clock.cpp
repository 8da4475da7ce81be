#include "collector/analyse/steal_clock.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_kvm = "KVMKVMKVM";

/// The hypervisors whose steal clock Linux knows, by their signature in CPUID leaf 0x40000000.
std::string_view clock_name(std::string_view hypervisor) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> k_clocks{
      {{k_kvm, "kvm"}, {"XenVMMXenVMM", "xen"}, {"Microsoft Hv", "hyperv"}, {"VMwareVMware", "vmware"}}};
  for (const auto& [signature, name] : k_clocks) {
    if (hypervisor == signature) return name;
  }
  return "unknown";
}

StealClockFacts not_offered(std::string why) { return {StealClock::not_offered, "none", std::move(why), false}; }

StealClockFacts of_unknown_clock(std::string_view hypervisor, bool alive) {
  // Steal that was seen since boot proves a clock, whoever keeps it.
  const std::string_view name = alive ? clock_name(hypervisor) : "unknown";
  if (hypervisor.empty()) return {StealClock::unknown, std::string(name), "", false};
  return {StealClock::unknown, std::string(name),
          "whether the hypervisor " + escape(hypervisor) + " keeps a steal clock is not known", false};
}

}  // namespace

StealClockFacts steal_clock_of(const Reading& clock, const std::string& hypervisor_of_shape) {
  const std::string own = clock.word("machine", "hypervisor");
  const std::string& hypervisor = own.empty() ? hypervisor_of_shape : own;
  if (hypervisor == "none" || clock.word("machine", "hypervisor-bit") == "no")
    return {StealClock::not_offered, "none", "there is no hypervisor, so nobody can steal", true};
  const std::string told_not_to = clock.word("machine", "no-steal-acc");
  const std::string bit = clock.word("machine", "kvm-steal-clock");
  if (told_not_to == "yes") return not_offered("no-steal-acc is on the kernel's command line");
  if (bit == "no")
    return not_offered("KVM offers this machine no steal clock (CPUID: " + clock.word("machine", "kvm-features") +
                       ", bit 5 is clear)");
  if (bit == "yes" && told_not_to == "no") return {StealClock::offered, "kvm", "", false};
  if (bit == "yes")
    return {StealClock::unknown, "unknown", "whether the kernel was told no-steal-acc was not read", false};
  return of_unknown_clock(hypervisor, clock.number("machine", "steal-ticks-since-boot").value_or(0) > 0);
}

}  // namespace cozy
