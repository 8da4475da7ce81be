#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Which VM directory of debugfs is of which QEMU process, by evidence. All of it is pure.
namespace cozy {

/// A QEMU process that can have made a VM.
struct KvmHolder {
  std::string owner;  ///< "srv1", "process 412"
  std::uint64_t pid = 0;
  std::optional<std::int64_t> start_epoch_ns;
  std::optional<std::vector<std::uint64_t>> vm_descriptors;  ///< numbers of its anon_inode:kvm-vm, where listed
};

/// One directory PID-FD of debugfs's kvm.
struct VmDirectory {
  std::string name;
  std::int64_t birth_epoch_ns = 0;     ///< its modification time
  std::vector<std::uint64_t> threads;  ///< the pid files of its vCPUs, those that are not 0
};

/// What else is known on this machine.
struct OwnerFacts {
  std::map<std::uint64_t, std::string> owner_of_thread;  ///< by the thread number in a vCPU's statistics
  std::vector<KvmHolder> holders;
  bool initial_pid_namespace = false;  ///< the numbers of processes are those that debugfs shows
};

struct VmOwner {
  std::string owner;                  ///< empty: anonymous
  std::vector<std::string> evidence;  ///< what decided, then what agrees
};

/// One for each directory, in their order. The thread number of a vCPU's statistics decides alone. What is
/// weaker counts for a directory and a process that nothing contradicts, and only where it is one of each:
/// the number of the VM's descriptor, the birth of the directory just after the process's start, and, in the
/// initial PID namespace, the number of the process.
std::vector<VmOwner> find_vm_owners(const std::vector<VmDirectory>& directories, const OwnerFacts& facts);

}  // namespace cozy
