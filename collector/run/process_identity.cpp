#include "collector/run/process_identity.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "collector/run/held_files.hpp"
#include "probes/text.hpp"
#include "probes/thread_stat.hpp"

namespace cozy {

namespace {

/// By their names: what starts a hook, and ends with it.
constexpr std::array<std::string_view, 20> k_passed_over{
    "sh", "dash", "bash", "ash",     "busybox", "ksh",     "mksh", "zsh",    "fish",    "env",
    "su", "sudo", "doas", "runuser", "timeout", "setpriv", "nice", "setsid", "unshare", "nsenter"};

}  // namespace

std::optional<ProcessIdentity> process_now(pid_t pid) {
  const HeldFile stat("/proc/" + std::to_string(pid) + "/stat");
  const auto text = stat.read();
  const auto parsed = text ? parse_thread_stat(*text) : Error{"", "not read", 0};
  if (!parsed || parsed->state == 'Z' || parsed->state == 'X') return std::nullopt;
  return ProcessIdentity{pid, parsed->start_ticks, parsed->comm, static_cast<pid_t>(parsed->ppid)};
}

Descriptor open_process(const ProcessIdentity& process) {
  Descriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  // Asked after the descriptor is there: the number may have become another's.
  const auto now = process_now(process.pid);
  return now && now->is_same(process) ? std::move(descriptor) : Descriptor();
}

bool has_ended(const Descriptor& process) {
  pollfd ended{process.number(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
}

std::string boot_id() {
  const HeldFile file("/proc/sys/kernel/random/boot_id");
  const auto text = file.read();
  return text ? std::string(trim(*text)) : "";
}

std::optional<ProcessIdentity> find_starter() {
  constexpr int k_highest = 64;
  auto process = process_now(::getppid());
  for (int i = 0; i < k_highest && process && process->parent > 1; ++i) {
    process = process_now(process->parent);
    if (process && std::find(k_passed_over.begin(), k_passed_over.end(), process->name) == k_passed_over.end())
      return process;
  }
  return std::nullopt;
}

}  // namespace cozy
