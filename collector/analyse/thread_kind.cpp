#include "collector/analyse/thread_kind.hpp"

#include "probes/thread_stat.hpp"

namespace cozy {

std::string_view thread_kind_name(ThreadKind kind) {
  switch (kind) {
    case ThreadKind::vcpu:
      return "vcpu";
    case ThreadKind::main:
      return "main";
    case ThreadKind::io:
      return "io";
    case ThreadKind::worker:
      return "worker";
    case ThreadKind::kernel:
      return "kernel";
    case ThreadKind::other:
      return "other";
  }
  return "other";
}

ThreadKind thread_kind(std::uint64_t pid, std::uint64_t tid, std::string_view comm, std::uint64_t flags) {
  ThreadStat stat;
  stat.flags = flags;
  if (stat.kernel_made() || stat.kernel_thread()) return ThreadKind::kernel;
  if (tid == pid) return ThreadKind::main;
  if (vcpu_of_name(comm)) return ThreadKind::vcpu;
  if (comm.starts_with("IO ")) return ThreadKind::io;
  // util/thread-pool.c names its threads "worker"; "pool-" is what GLib calls its own.
  if (comm.starts_with("worker") || comm.starts_with("qemu-worker") || comm.starts_with("pool-")) {
    return ThreadKind::worker;
  }
  return ThreadKind::other;
}

}  // namespace cozy
