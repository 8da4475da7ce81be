#include "kvm_kinds.hpp"

#include <string>

#include "clock.hpp"
#include "kvm_stats.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_device = "dev/kvm";

void by_permission_bits(std::string_view rest, Sink& sink) {
  sink.line("[kinds by permission bits: 0444 is instantaneous; of the others the legend tells peaks by name" +
            std::string(rest) + "]");
}

std::string kind_line(const KvmStatistic& statistic) {
  return "[kind] " + statistic.name + " " + statistic.type + " " + statistic.unit + " " + statistic.base + "^" +
         std::to_string(statistic.exponent);
}

}  // namespace

void write_kvm_kinds(const ProbeContext& context, bool counters_of_vms, Sink& sink) {
  if (!counters_of_vms) return by_permission_bits("", sink);
  sink.flush();  // the readings are safe whatever comes of this
  const Stamp begin = now();
  const auto answer = context.watchdog.read({context.root.path(k_device), Watchdog::What::own_vm_statistics});
  const Stamp end = now();
  const auto refused = [&](const std::string& why) { by_permission_bits("; no descriptors: " + escape(why), sink); };
  if (!answer.ok()) return refused("/" + std::string(k_device) + ": " + answer.reason());
  const auto vm = parse_kvm_table(answer.tables[0]);
  const auto vcpu = parse_kvm_table(answer.tables[1]);
  if (!vm || !vcpu) return refused((vm ? vcpu : vm).error().text());
  sink.line("[kinds by descriptors: " + std::to_string(vm->statistics.size()) + " of a VM and " +
            std::to_string(vcpu->statistics.size()) +
            " of a vCPU, of a VM of the collector's own; made and closed from " + std::to_string(begin.boottime_ns) +
            " to " + std::to_string(end.boottime_ns) + " boot-time ns]");
  for (const auto* table : {&*vm, &*vcpu}) {
    for (const KvmStatistic& statistic : table->statistics) sink.line(kind_line(statistic));
  }
}

}  // namespace cozy
