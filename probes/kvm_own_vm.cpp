#include "kvm_own_vm.hpp"

#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "pseudo_file.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_table_cap = 64UL * 1024;

/// A descriptor that is closed at the end of a scope; errno stays.
class Owned {
 public:
  explicit Owned(int descriptor) : descriptor_(descriptor) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    const int code = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    errno = code;
  }
  [[nodiscard]] bool open() const { return descriptor_ >= 0; }
  [[nodiscard]] int number() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The statistics file of a VM or a vCPU. KVM_GET_STATS_FD, Linux 5.14.
bool read_statistics(int of, std::string& table) {
  const Owned file(::ioctl(of, KVM_GET_STATS_FD, nullptr));
  if (!file.open()) return false;
  table.resize(k_table_cap);
  const ssize_t got = ::pread(file.number(), table.data(), table.size(), 0);
  if (got < 0) return false;
  table.resize(static_cast<std::size_t>(got));
  return true;
}

/// Half of the interrupt controllers in the kernel: a VM without any turns on a slow path for all VMs of the
/// machine while it lives (kvm_has_noapic_vcpu), which patches the kernel's code. Only x86 has this.
void keep_local_apics(int vm) {
  struct kvm_enable_cap capability {};
  capability.cap = KVM_CAP_SPLIT_IRQCHIP;
  capability.args[0] = 24;  // pins, as an I/O APIC has
  ::ioctl(vm, KVM_ENABLE_CAP, &capability);
}

}  // namespace

int FileCalls::own_vm_statistics(const std::string& device, std::array<std::string, 2>& tables) {
  const Owned kvm(::open(device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!kvm.open()) return -1;
  // Each is closed before what it belongs to: up to Linux 6.4 a statistics file does not keep its VM.
  const Owned vm(::ioctl(kvm.number(), KVM_CREATE_VM, 0UL));
  if (!vm.open()) return -1;
  keep_local_apics(vm.number());
  const Owned vcpu(::ioctl(vm.number(), KVM_CREATE_VCPU, static_cast<unsigned long>(k_own_vm_vcpu)));
  if (!vcpu.open()) return -1;
  const bool read = read_statistics(vm.number(), tables[0]) && read_statistics(vcpu.number(), tables[1]);
  return read ? 0 : -1;
}

}  // namespace cozy
