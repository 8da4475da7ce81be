#include <unistd.h>

#include <string>
#include <vector>

#include "facts.hpp"
#include "hypervisor.hpp"
#include "kernel_mount.hpp"
#include "probe.hpp"
#include "text.hpp"

namespace cozy {

namespace {

using Answer = Watchdog::Answer;
using What = Watchdog::What;

/// One small file and the name that its value gets. Absent files are normal: each machine has some of them.
struct ShapeFile {
  const char* name;
  const char* path;
};

constexpr ShapeFile k_files[] = {
    {"kernel-release", "proc/sys/kernel/osrelease"},
    {"kernel-version", "proc/sys/kernel/version"},
    {"cpus-online", "sys/devices/system/cpu/online"},
    {"cpus-possible", "sys/devices/system/cpu/possible"},
    {"smt-control", "sys/devices/system/cpu/smt/control"},
    {"cpu0-thread-siblings", "sys/devices/system/cpu/cpu0/topology/thread_siblings_list"},
    {"numa-nodes-online", "sys/devices/system/node/online"},
    {"clock-source", "sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"transparent-hugepages", "sys/kernel/mm/transparent_hugepage/enabled"},
    {"kvm-halt-poll-ns", "sys/module/kvm/parameters/halt_poll_ns"},
    {"kvm-intel-nested", "sys/module/kvm_intel/parameters/nested"},
    {"kvm-amd-nested", "sys/module/kvm_amd/parameters/nested"},
    {"kvm-intel-ept", "sys/module/kvm_intel/parameters/ept"},
    {"kvm-amd-npt", "sys/module/kvm_amd/parameters/npt"},
    {"lockdown", "sys/kernel/security/lockdown"},
};

/// The value of "label<blanks>: value" in a file of such lines.
std::string labelled(std::string_view text, std::string_view label) {
  for (const std::string_view line : split_lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == label)
      return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

/// CPUs that share a core, counted from a list such as "0-1" or "0,24".
std::size_t count_list(std::string_view list) {
  constexpr std::uint64_t k_most_cpus = 65536;
  std::size_t count = 0;
  for (const std::string_view range : split_at(list, ',')) {
    const auto ends = split_at(range, '-');
    const auto first = parse_u64(ends.front());
    const auto last = parse_u64(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first || *last > k_most_cpus) return 0;
    count += *last - *first + 1;
  }
  return count;
}

/// The kernel names its whole set of choices and brackets the one in force: "always [madvise] never".
std::string chosen(std::string_view text) { return std::string(between(text, "[", "]").value_or(trim(text))); }

void write_memory(const Answer& meminfo, Sink& sink) {
  if (meminfo.ok())
    write_fact(sink, "memory-total", labelled(meminfo.file.text, "MemTotal"));
  else
    sink.not_read("/proc/meminfo", meminfo);
}

void write_cpu_model(const Answer& cpuinfo, Sink& sink) {
  if (!cpuinfo.ok()) return sink.not_read("/proc/cpuinfo", cpuinfo);
  const std::string model = labelled(cpuinfo.file.text, "model name");
  if (!model.empty()) write_fact(sink, "cpu-model", model);
  const std::string flags = " " + labelled(cpuinfo.file.text, "flags") + " ";
  if (flags.size() > 2)
    write_fact(sink, "hypervisor-flag", flags.find(" hypervisor ") != std::string::npos ? "yes" : "no");
}

void write_hypervisor(const ProbeContext& context, Sink& sink) {
  if (!context.root.is_machine()) return sink.line("[not read cpuid: --root names another machine than this one]");
  const auto hypervisor = read_hypervisor();
  if (!hypervisor) return sink.line("[not read cpuid: " + hypervisor.error().reason + "]");
  const std::string signature = hypervisor->signature.empty() ? "unnamed" : hypervisor->signature;
  write_fact(sink, "hypervisor", hypervisor->present ? signature : "none");
}

/// Lockdown stands in securityfs, which few containers mount.
void write_lockdown(const ProbeContext& context, const Answer& mounted, Sink& sink) {
  if (mounted.ok()) return write_fact(sink, "lockdown", chosen(mounted.file.text));
  if (context.root.is_machine()) {
    const auto mount = DetachedMount::of("securityfs");
    if (mount) {
      const Answer answer = context.watchdog.read({mount->path() + "/lockdown", What::stream, 4096});
      if (answer.ok()) return write_fact(sink, "lockdown", chosen(answer.file.text));
    }
  }
  sink.not_read("/sys/kernel/security/lockdown", mounted);
}

}  // namespace

/// What machine this is: small files, read once. Documentation/ABI/testing/sysfs-devices-system-cpu and
/// the files' own documents; Documentation/virt/kvm/x86/cpuid.rst for the hypervisor.
void run_runner_shape(const ProbeContext& context, Sink& sink) {
  std::vector<Watchdog::Request> requests;
  for (const ShapeFile& file : k_files) requests.push_back({context.root.path(file.path), What::stream, 64UL * 1024});
  requests.push_back({context.root.path("proc/meminfo"), What::stream, 64UL * 1024});
  requests.push_back({context.root.path("proc/cpuinfo"), What::stream, 8192});  // the first processor is enough
  const std::vector<Answer> answers = context.watchdog.read(std::move(requests));

  constexpr std::size_t k_count = std::size(k_files);
  for (std::size_t i = 0; i < k_count; ++i) {
    const std::string_view name = k_files[i].name;
    const Answer& answer = answers[i];
    if (name == "lockdown") {
      write_lockdown(context, answer, sink);
    } else if (!answer.ok()) {
      sink.not_read(std::string("/") + k_files[i].path, answer);
    } else if (name == "cpu0-thread-siblings") {
      const std::size_t threads = count_list(trim(answer.file.text));
      write_fact(sink, name, trim(answer.file.text));
      if (threads > 0) write_fact(sink, "threads-per-core", std::to_string(threads));
    } else {
      write_fact(sink, name,
                 name == "transparent-hugepages" ? chosen(answer.file.text) : std::string(trim(answer.file.text)));
    }
  }
  write_memory(answers[k_count], sink);
  write_cpu_model(answers[k_count + 1], sink);
  write_hypervisor(context, sink);
}

}  // namespace cozy
