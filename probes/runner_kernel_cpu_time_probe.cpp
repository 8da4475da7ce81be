#include <unistd.h>

#include <string>

#include "probe.hpp"
#include "text.hpp"

namespace cozy {

/// /proc/stat, verbatim, and the length of its ticks. proc_stat(5); Documentation/filesystems/proc.rst
/// section 1.7. Not namespaced: inside a container these are the numbers of the kernel below it, unless
/// the file is a mount of its own (lxcfs), which mountinfo shows and which is said here.
void run_runner_kernel_cpu_time(const ProbeContext& context, Sink& sink) {
  constexpr std::size_t k_cap = 4UL * 1024 * 1024;  // an intr line of a large machine passes 64 KiB
  const std::string path = context.root.path("proc/stat");
  const auto answers = context.watchdog.read({
      {context.root.path("proc/self/mountinfo"), Watchdog::What::stream, k_cap},
      {path, Watchdog::What::record, k_cap},
  });
  const Watchdog::Answer& mounts = answers[0];
  const Watchdog::Answer& stat = answers[1];
  if (stat.ok()) {
    sink.text(stat.file.text);
    if (!stat.file.text.empty() && stat.file.text.back() != '\n') sink.line("");
    if (stat.file.cut) sink.line("[walk cut: /proc/stat is longer than " + std::to_string(k_cap) + " bytes]");
  } else {
    sink.not_read("/proc/stat", stat);
  }
  sink.line("clock ticks per second: " + std::to_string(sysconf(_SC_CLK_TCK)));
  if (!mounts.ok()) {
    sink.note("whether /proc/stat is a mount of its own is not known: /proc/self/mountinfo: " + mounts.reason());
    return;
  }
  for (const std::string_view line : split_lines(mounts.file.text)) {
    // 211 105 0:47 /proc/stat /proc/stat rw,nosuid - fuse.lxcfs lxcfs rw: the mount point is the fifth word
    const auto words = split_words(line);
    if (words.size() < 7 || words[4] != "/proc/stat") continue;
    const auto type = between(line, " - ", " ");
    sink.line("[view: container; /proc/stat is a mount of type " + escape(type.value_or("unknown")) + "]");
  }
}

}  // namespace cozy
