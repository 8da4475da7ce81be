#pragma once

#include <cstdint>
#include <string_view>

namespace cozy {

/// What a thread of a QEMU process is for.
enum class ThreadKind {
  vcpu,    ///< "CPU N/KVM"
  main,    ///< tid == pid: main loop and emulator
  io,      ///< an IOThread object, "IO NAME"
  worker,  ///< of a thread pool
  kernel,  ///< made by the kernel inside the process: vhost, io_uring, kvm-nx-lpage-recovery
  other,
};

std::string_view thread_kind_name(ThreadKind kind);

/// The kernel's own word (PF_IO_WORKER, PF_USER_WORKER, PF_KTHREAD in `flags`, stat field 9) comes before
/// any name: a name can be anything. `comm` is the name that QEMU gives with debug-threads=on.
ThreadKind thread_kind(std::uint64_t pid, std::uint64_t tid, std::string_view comm, std::uint64_t flags);

}  // namespace cozy
