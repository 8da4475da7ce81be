#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "facts.hpp"
#include "hypervisor.hpp"
#include "probe.hpp"
#include "text.hpp"

namespace cozy {

namespace {

using Answer = Watchdog::Answer;
using What = Watchdog::What;

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", number);
  return text.data();
}

void write_hypervisor(const ProbeContext& context, Sink& sink) {
  if (!context.root.is_machine()) return sink.line("[not read cpuid: --root names another machine than this one]");
  const auto hypervisor = read_hypervisor();
  if (!hypervisor) return sink.line("[not read cpuid: " + hypervisor.error().reason + "]");
  write_fact(sink, "hypervisor-bit", hypervisor->present ? "yes" : "no");
  const std::string signature = hypervisor->signature.empty() ? "unnamed" : hypervisor->signature;
  write_fact(sink, "hypervisor", hypervisor->present ? signature : "none");
  if (!hypervisor->kvm) return;
  write_fact(sink, "kvm-features-leaf", hexadecimal(hypervisor->kvm->features_leaf));
  write_fact(sink, "kvm-features", hexadecimal(hypervisor->kvm->features));
  write_fact(sink, "kvm-steal-clock", hypervisor->kvm->steal_clock() ? "yes" : "no");
}

/// Only this word is looked for: the rest of the line is nobody's business.
void write_command_line(const Answer& answer, Sink& sink) {
  if (!answer.ok()) return sink.not_read("/proc/cmdline", answer);
  bool found = false;
  for (const std::string_view word : split_words(trim(answer.file.text))) found = found || word == "no-steal-acc";
  write_fact(sink, "no-steal-acc", found ? "yes" : "no");
}

/// The eighth column of the first row: cpu  25377 0 11896 184448 569 0 89 24 15284 0
void write_steal_since_boot(const Answer& answer, Sink& sink) {
  if (!answer.ok()) return sink.not_read("/proc/stat", answer);
  const std::string_view text = answer.file.text;
  const auto words = split_words(text.substr(0, text.find('\n')));
  const auto steal = words.size() > 8 && words[0] == "cpu" ? parse_u64(words[8]) : std::nullopt;
  if (steal)
    write_fact(sink, "steal-ticks-since-boot", std::to_string(*steal));
  else
    sink.line("[not read /proc/stat: its first row has no steal column]");
}

}  // namespace

/// Whether this machine can show steal at all. Documentation/virt/kvm/x86/cpuid.rst, KVM_FEATURE_STEAL_TIME;
/// Documentation/admin-guide/kernel-parameters.txt, no-steal-acc.
void run_runner_steal_clock(const ProbeContext& context, Sink& sink) {
  const auto answers = context.watchdog.read({
      {context.root.path("proc/cmdline"), What::stream, 64UL * 1024},
      {context.root.path("proc/stat"), What::stream, 4096},  // the first row is enough
  });
  write_hypervisor(context, sink);
  write_command_line(answers[0], sink);
  write_steal_since_boot(answers[1], sink);
}

}  // namespace cozy
