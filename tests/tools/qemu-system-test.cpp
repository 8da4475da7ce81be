// qemu-system-test -name guest=NAME -pidfile FILE [-mode spin|halt|portio] [-smp N] [-no-statistics]: what of a QEMU
// matters to KVM's statistics, for tests. One VM; a thread per vCPU ("CPU N/KVM"; 2) that makes it and, as QEMU 8.1
// and newer does, holds its statistics open; interrupt controllers in the kernel, so that the kernel itself handles
// HLT. The guest is a few instructions in real mode. The pid file is written once every vCPU runs. Ends with a signal,
// or after ten minutes; 77 where KVM cannot be used.
#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr unsigned k_longest_life_s = 600;
constexpr std::size_t k_memory = 64UL * 1024;
constexpr std::size_t k_code = 0x1000;
constexpr std::size_t k_nmi_handler = 0x1100;
constexpr std::size_t k_nmi_vector = 2;
constexpr int k_no_kvm = 77;

struct Settings {
  std::string mode = "spin";
  std::string pid_file;
  unsigned vcpus = 2;
  bool statistics = true;
};

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "qemu-system-test: %s: %s\n", what, std::strerror(errno));
  std::exit(k_no_kvm);
}

int call(int descriptor, unsigned long request, const char* name, void* argument = nullptr) {
  const int result = ::ioctl(descriptor, request, argument);
  if (result < 0) give_up(name);
  return result;
}

int call(int descriptor, unsigned long request, const char* name, unsigned long argument) {
  const int result = ::ioctl(descriptor, request, argument);
  if (result < 0) give_up(name);
  return result;
}

std::string_view program_of(std::string_view mode) {
  if (mode == "halt") return "\xf4\xeb\xfd";        // again: hlt; jmp again
  if (mode == "portio") return "\xe6\x80\xeb\xfc";  // again: out 0x80, al; jmp again
  return "\xeb\xfe";                                // again: jmp again
}

/// The guest's memory: its program, and an interrupt vector for the NMI that wakes it from a halt.
void fill_memory(unsigned char* memory, std::string_view mode) {
  const std::string_view program = program_of(mode);
  std::memcpy(memory + k_code, program.data(), program.size());
  memory[k_nmi_handler] = 0xcf;  // iret
  const unsigned short handler = k_nmi_handler;
  std::memcpy(memory + 4 * k_nmi_vector, &handler, sizeof handler);
}

int make_vm(int kvm, std::string_view mode) {
  const int vm = call(kvm, KVM_CREATE_VM, "KVM_CREATE_VM", 0UL);
  ::ioctl(vm, KVM_SET_TSS_ADDR, 0xfffbd000UL);  // some Intel CPUs need it for real mode
  call(vm, KVM_CREATE_IRQCHIP, "KVM_CREATE_IRQCHIP");
  void* memory = ::mmap(nullptr, k_memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("mmap");
  fill_memory(static_cast<unsigned char*>(memory), mode);
  kvm_userspace_memory_region region{};
  region.memory_size = k_memory;
  region.userspace_addr = reinterpret_cast<unsigned long>(memory);
  call(vm, KVM_SET_USER_MEMORY_REGION, "KVM_SET_USER_MEMORY_REGION", &region);
  return vm;
}

/// At the first instruction, in real mode, and not waiting for another vCPU to start it.
void set_registers(int vcpu, unsigned number) {
  kvm_sregs special{};
  call(vcpu, KVM_GET_SREGS, "KVM_GET_SREGS", &special);
  special.cs.base = 0;
  special.cs.selector = 0;
  call(vcpu, KVM_SET_SREGS, "KVM_SET_SREGS", &special);
  kvm_regs registers{};
  registers.rip = k_code;
  registers.rsp = 0x8000 - 0x400UL * number;
  registers.rflags = 2;
  call(vcpu, KVM_SET_REGS, "KVM_SET_REGS", &registers);
  kvm_lapic_state local_apic{};  // set as it is: only then can messages reach the vCPU that was made last
  call(vcpu, KVM_GET_LAPIC, "KVM_GET_LAPIC", &local_apic);
  call(vcpu, KVM_SET_LAPIC, "KVM_SET_LAPIC", &local_apic);
  kvm_mp_state state{KVM_MP_STATE_RUNNABLE};
  call(vcpu, KVM_SET_MP_STATE, "KVM_SET_MP_STATE", &state);
}

/// The life of a vCPU's thread. Port I/O is answered with nothing; whatever else ends the run is a fault.
void run_vcpu(int kvm, int vm, unsigned number, bool statistics, std::atomic<unsigned>& running) {
  ::prctl(PR_SET_NAME, ("CPU " + std::to_string(number) + "/KVM").c_str());
  const int vcpu = call(vm, KVM_CREATE_VCPU, "KVM_CREATE_VCPU", static_cast<unsigned long>(number));
  if (statistics) call(vcpu, KVM_GET_STATS_FD, "KVM_GET_STATS_FD");  // held open
  const auto size = static_cast<std::size_t>(call(kvm, KVM_GET_VCPU_MMAP_SIZE, "KVM_GET_VCPU_MMAP_SIZE"));
  auto* run = static_cast<kvm_run*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0));
  if (run == MAP_FAILED) give_up("mmap");
  set_registers(vcpu, number);
  ++running;
  for (;;) {
    const int result = ::ioctl(vcpu, KVM_RUN, nullptr);
    if (result < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (result < 0) give_up("KVM_RUN");
    if (run->exit_reason == KVM_EXIT_IO || run->exit_reason == KVM_EXIT_INTR) continue;
    std::fprintf(stderr, "qemu-system-test: vCPU %u: exit reason %u\n", number, run->exit_reason);
    std::exit(1);
  }
}

/// A halt ends only with an interrupt: each vCPU gets an NMI a hundred times a second.
void wake_all(int vm, unsigned vcpus) {
  constexpr unsigned k_nmi_delivery = 0x400;
  constexpr unsigned k_local_apics = 0xfee00000;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (unsigned number = 0; number < vcpus; ++number) {
      kvm_msi message{};
      message.address_lo = k_local_apics | number << 12U;
      message.data = k_nmi_delivery;
      ::ioctl(vm, KVM_SIGNAL_MSI, &message);
    }
  }
}

bool parse(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "-no-statistics") {
      settings.statistics = false;
      continue;
    }
    if (++i == argc) return false;
    if (option == "-mode") settings.mode = argv[i];
    if (option == "-pidfile") settings.pid_file = argv[i];
    if (option == "-smp") settings.vcpus = static_cast<unsigned>(std::clamp(std::atoi(argv[i]), 1, 64));
  }
  return !settings.pid_file.empty();
}

bool write_pid_file(const std::string& path) {
  const std::string unfinished = path + ".new";
  std::ofstream(unfinished) << ::getpid() << '\n';
  return std::rename(unfinished.c_str(), path.c_str()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    std::fputs(
        "usage: qemu-system-test -name guest=NAME -pidfile FILE [-mode spin|halt|portio] [-smp N] "
        "[-no-statistics]\n",
        stderr);
    return 2;
  }
  ::alarm(k_longest_life_s);
  const int kvm = ::open("/dev/kvm", O_RDWR | O_CLOEXEC);
  if (kvm < 0) give_up("/dev/kvm");
  const int vm = make_vm(kvm, settings.mode);
  std::atomic<unsigned> running{0};
  for (unsigned number = 0; number < settings.vcpus; ++number) {
    std::thread(run_vcpu, kvm, vm, number, settings.statistics, std::ref(running)).detach();
  }
  while (running < settings.vcpus) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!write_pid_file(settings.pid_file)) return 1;
  if (settings.mode == "halt") wake_all(vm, settings.vcpus);
  for (;;) ::pause();
}
