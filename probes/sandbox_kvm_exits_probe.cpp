#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel_mount.hpp"
#include "kvm_kinds.hpp"
#include "kvm_own_vm.hpp"
#include "probe.hpp"
#include "text.hpp"
#include "vcpu_statistics.hpp"

namespace cozy {

namespace {

using Answer = Watchdog::Answer;
using What = Watchdog::What;

constexpr std::size_t k_most_entries = 65536;
constexpr std::size_t k_value_cap = 4096;

/// Never opened: the kernel computes it at the read, under the VM's slots_lock and, for writing, its
/// MMU lock (arch/x86/kvm/debugfs.c); the guest that is being observed waits meanwhile.
constexpr std::string_view k_denied = "mmu_rmaps_stat";

/// Where debugfs can be reached. Kept while the probe runs: a detached mount ends with it.
struct Debugfs {
  std::string path;
  std::optional<DetachedMount> mount;
  std::string how;
  std::string refused;  ///< why it cannot be reached; path is empty then
};

Debugfs reach_debugfs(const ProbeContext& context) {
  if (!context.root.is_machine())
    return {context.root.path("sys/kernel/debug"), std::nullopt, "a tree given by --root", {}};
  auto mount = DetachedMount::of("debugfs");
  if (mount) {
    std::string path = mount->path();
    return {std::move(path), std::move(*mount), "a detached mount", {}};
  }
  const std::string why = mount.error().text();
  struct stat facts {};
  if (::stat("/sys/kernel/debug/kvm", &facts) == 0)
    return {"/sys/kernel/debug", std::nullopt, "the mount that is there", {}};
  const auto own = mount_privately("debugfs", "/sys/kernel/debug");
  if (own) return {"/sys/kernel/debug", std::nullopt, "a mount namespace of its own", {}};
  return {{}, std::nullopt, {}, why + "; " + own.error().text()};
}

/// The kernel's lockdown mode: "none", "integrity", "confidentiality", or why it is not known.
struct Lockdown {
  std::string words;
  bool refuses_counters = false;
};

/// security/lockdown reads "none [integrity] confidentiality"; the bracketed word is in force. Under
/// either mode debugfs opens nothing but files of mode 0444 (fs/debugfs/file.c), and each try at
/// another file writes a line to the kernel log: so it is known before anything is tried.
Lockdown read_lockdown(const ProbeContext& context) {
  std::string path = context.root.path("sys/kernel/security/lockdown");
  Answer answer = context.watchdog.read({path, What::stream, k_value_cap});
  std::optional<DetachedMount> securityfs;
  if (!answer.ok() && context.root.is_machine()) {
    if (auto mount = DetachedMount::of("securityfs")) {
      securityfs.emplace(std::move(*mount));
      answer = context.watchdog.read({securityfs->path() + "/lockdown", What::stream, k_value_cap});
    }
  }
  if (!answer.ok()) return {"unknown (" + answer.reason() + ")", false};
  const auto mode = between(answer.file.text, "[", "]");
  if (!mode) return {"unknown (\"" + escape(trim(answer.file.text)) + "\")", false};
  return {escape(*mode), *mode != "none"};
}

/// Walks the directories and writes a row for every integer file.
class KvmWalk {
 public:
  KvmWalk(const ProbeContext& context, Sink& sink, Lockdown lockdown, const VcpuStatistics& vcpus)
      : context_(context), sink_(sink), lockdown_(std::move(lockdown)), vcpus_(vcpus) {}

  void walk(const std::string& debugfs) {
    const std::string kvm = debugfs + "/kvm";
    debugfs_length_ = debugfs.size() + 1;
    const Answer top = list(kvm);
    if (top.vanished()) return no_kvm(list(debugfs));
    if (!top.ok()) return sink_.not_read("kvm", top);
    read_directory(kvm, "global", top, kernel_wide_);
    for (const DirectoryEntry& entry : top.entries) {
      if (entry.directory) walk_vm(kvm + "/" + entry.name, entry);
    }
    write_owners();
    if (kernel_wide_ + per_vm_ + not_opened_ + failed_ == 0)
      sink_.line("NO-COUNTER-FILES: the kvm directory holds not one counter");
    sink_.line("[counters read: " + std::to_string(kernel_wide_) + " kernel-wide and " + std::to_string(per_vm_) +
               " per-VM, across " + std::to_string(vms_) + " per-VM director(ies); " +
               std::to_string(skipped_ + not_opened_) + " file(s) skipped]");
    write_kvm_kinds(context_, counters_of_vms_, sink_);
    if (not_opened_ > 0) {
      sink_.line("[lockdown: " + std::to_string(not_opened_) + " counter files were not opened or were refused; mode " +
                 lockdown_.words + "]");
    }
  }

 private:
  void no_kvm(const Answer& debugfs) {
    if (debugfs.ok())
      sink_.line("NO-KVM-DIR: debugfs has no kvm directory: this kernel runs no KVM");
    else
      sink_.line("NO-DEBUGFS: debugfs could not be reached: " + escape(debugfs.reason()));
  }

  Answer list(const std::string& path) {
    return context_.watchdog.read({path, What::listing_with_modes, k_most_entries});
  }

  void walk_vm(const std::string& path, const DirectoryEntry& directory) {
    const std::string scope = "vm " + escape(directory.name);
    const Answer listing = list(path);
    if (listing.vanished()) {
      sink_.line("[" + scope + " left during the walk]");
      return;
    }
    if (is_no_guest(directory, listing, scope)) return;
    ++vms_;
    if (!listing.ok()) return not_listed(scope, listing);
    directories_.push_back({directory.name, directory.mtime_ns, {}});
    read_directory(path, scope, listing, per_vm_);
    for (const DirectoryEntry& entry : listing.entries) {
      if (!entry.directory || !entry.name.starts_with("vcpu")) continue;
      const std::string vcpu = path + "/" + entry.name;
      const std::string vcpu_scope = scope + " " + escape(entry.name);
      const Answer files = list(vcpu);
      if (files.ok())
        read_directory(vcpu, vcpu_scope, files, per_vm_);
      else if (files.vanished())
        sink_.line("[" + vcpu_scope + " left while it was read]");
      else
        not_listed(vcpu_scope, files);
    }
    sink_.flush();
  }

  /// A VM that another collector has made to ask for kinds, and one that is being made and has run nothing.
  bool is_no_guest(const DirectoryEntry& directory, const Answer& listing, const std::string& scope) {
    std::vector<std::string_view> vcpus;
    for (const DirectoryEntry& entry : listing.entries) {
      if (entry.directory && entry.name.starts_with("vcpu")) vcpus.push_back(entry.name);
    }
    if (vcpus.size() == 1 && vcpus.front() == k_own_vm_vcpu_directory) {
      sink_.line("[" + scope + " left out: made by a collector, without a guest]");
      return true;
    }
    const bool young = context_.root.is_machine() && now().epoch_ns - directory.mtime_ns < k_ns_per_second;
    if (!listing.ok() || !vcpus.empty() || !young) return false;
    sink_.line("[" + scope + " left out: it is being made and has no vCPU]");
    return true;
  }

  void write_owners() {
    const std::vector<VmOwner> owners = find_vm_owners(directories_, vcpus_.owners);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::string scope = "vm " + escape(directories_[i].name);
      if (owners[i].owner.empty())
        sink_.line("[" + scope + " is anonymous; no evidence decides]");
      else
        sink_.line("[" + scope + " is " + owners[i].owner + "; evidence: " + join(owners[i].evidence, ", ") + "]");
    }
  }

  void not_listed(const std::string& scope, const Answer& listing) {
    ++failed_;
    sink_.not_read(scope, listing);
  }

  static bool is_gauge_mode(unsigned mode) { return (mode & ~0444U) == 0; }

  void read_directory(const std::string& path, const std::string& scope, const Answer& listing, std::size_t& count) {
    std::vector<const DirectoryEntry*> files;
    std::vector<Watchdog::Request> requests;
    std::size_t held_back = 0;
    for (const DirectoryEntry& entry : listing.entries) {
      if (entry.directory) continue;
      const std::string file = path + "/" + entry.name;
      if (entry.name == k_denied) {
        skip(scope, entry.name, "not opened (denied by name)");
      } else if (!is_gauge_mode(entry.mode) && !counters_answer(file)) {
        ++held_back;
      } else {
        files.push_back(&entry);
        if (file != first_counter_path_) requests.push_back({file, What::record, k_value_cap});
      }
    }
    if (held_back > 0) {
      not_opened_ += held_back;
      sink_.line("[skipped " + scope + "] " + std::to_string(held_back) + " files: not opened (kernel lockdown)");
    }
    const std::vector<Answer> answers = context_.watchdog.read(std::move(requests));
    auto next = answers.begin();
    bool left = false;
    for (const DirectoryEntry* file : files) {
      const Answer& answer = path + "/" + file->name == first_counter_path_ ? first_counter_ : *next++;
      if (answer.vanished())
        left = true;
      else
        write_value(path, scope, *file, answer, count);
    }
    if (left) sink_.line("[" + scope + " left while it was read]");
  }

  /// False where files of mode 0644 are refused: known from lockdown, or from the first of them, whose
  /// answer is kept, since it may have cost a bound.
  bool counters_answer(const std::string& path) {
    if (first_counter_path_.empty() && !lockdown_.refuses_counters) {
      first_counter_path_ = path;
      first_counter_ = context_.watchdog.read({path, What::record, k_value_cap});
      lockdown_.refuses_counters =
          first_counter_.state == Watchdog::State::failed && first_counter_.error.code == EPERM;
    }
    return !lockdown_.refuses_counters;
  }

  void write_value(const std::string& path, const std::string& scope, const DirectoryEntry& entry, const Answer& answer,
                   std::size_t& count) {
    if (answer.state == Watchdog::State::stalled) {
      sink_.not_read(path.substr(debugfs_length_) + "/" + entry.name, answer);
      ++skipped_;
      ++failed_;
      return;
    }
    if (!answer.ok()) {
      ++failed_;
      return skip(scope, entry.name, "could not be read: " + answer.reason());
    }
    const std::string_view value = trim(answer.file.text);
    if (!parse_i64(value) && !parse_u64(value)) return skip(scope, entry.name, "not a single integer");
    char mode[16];
    std::snprintf(mode, sizeof mode, "%04o", entry.mode);
    sink_.line("[" + scope + "] " + escape(entry.name) + " " + std::string(value) + " " + mode);
    ++count;
    if (!is_gauge_mode(entry.mode) && scope != "global") counters_of_vms_ = true;
    const std::uint64_t thread = parse_u64(value).value_or(0);
    if (entry.name == "pid" && thread != 0 && scope.find(" vcpu") != std::string::npos)
      directories_.back().threads.push_back(thread);
  }

  void skip(const std::string& scope, const std::string& name, const std::string& reason) {
    ++skipped_;
    sink_.line("[skipped " + scope + "] " + escape(name) + ": " + escape(reason));
  }

  const ProbeContext& context_;
  Sink& sink_;
  Lockdown lockdown_;
  const VcpuStatistics& vcpus_;
  std::vector<VmDirectory> directories_;  ///< those that were listed
  bool counters_of_vms_ = false;          ///< a value that is no gauge was read of a VM
  std::size_t debugfs_length_ = 0;        ///< of the path that reports leave out
  std::string first_counter_path_;        ///< the first file of mode 0644, and its answer
  Answer first_counter_;
  std::size_t kernel_wide_ = 0;
  std::size_t per_vm_ = 0;
  std::size_t vms_ = 0;
  std::size_t skipped_ = 0;
  std::size_t not_opened_ = 0;
  std::size_t failed_ = 0;  ///< files and directories that are there and gave an error or no answer
};

}  // namespace

/// KVM statistics from two sources: the statistics descriptors that QEMU holds for its vCPUs, per node and vCPU;
/// and debugfs: kvm/ (sums over the VMs alive), kvm/PID-FD/ (one VM, PID as the initial namespace numbers it)
/// and kvm/PID-FD/vcpuN/. Documentation/virt/kvm/api.rst; virt/kvm/kvm_main.c.
void run_sandbox_kvm_exits(const ProbeContext& context, Sink& sink) {
  const Debugfs debugfs = reach_debugfs(context);  // before the first worker: a namespace is a thread's own
  const Lockdown lockdown = read_lockdown(context);
  sink.line("[kernel lockdown: " + lockdown.words + "]");
  const VcpuStatistics vcpus = write_vcpu_statistics(context, sink);
  sink.line("[vcpu statistics read: " + std::to_string(vcpus.vcpus) + " vCPUs, " + std::to_string(vcpus.values) +
            " values, of " + std::to_string(vcpus.processes) + " QEMU processes; " + std::to_string(vcpus.failed) +
            " failed]");
  if (debugfs.path.empty()) {
    sink.line("NO-DEBUGFS: debugfs could not be reached: " + escape(debugfs.refused));
    return;
  }
  sink.line("[debugfs: " + debugfs.how + "]");
  sink.line("[counters follow: level name value mode]");
  KvmWalk(context, sink, lockdown, vcpus).walk(debugfs.path);
}

}  // namespace cozy
