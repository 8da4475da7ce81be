#include "collector/run/followed_nodes.hpp"

#include <dirent.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include "probes/cgroup_knobs.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_scan_every_ns = 2 * k_ns_per_second;
constexpr std::int64_t k_scan_share = 400;  // a scan that took 10 ms is done every 4 s at most
constexpr std::int64_t k_look_again_ns = 30 * k_ns_per_second;
constexpr std::int64_t k_settle_ns = 10 * k_ns_per_second;  // a pid file is written after the start
constexpr Watchdog::Bounds k_scan_bounds{250 * k_ns_per_ms, 2 * k_ns_per_second};
constexpr std::size_t k_most_followed = 256;

/// QEMU processes by their names: what a scan can afford to look at.
std::set<std::uint64_t> qemu_pids() {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  std::set<std::uint64_t> found;
  while (proc) {
    const dirent* entry = ::readdir(proc.get());
    if (entry == nullptr) break;
    const auto pid = parse_u64(entry->d_name);
    if (!pid) continue;
    const HeldFile comm("/proc/" + std::to_string(*pid) + "/comm");
    const auto name = comm.read();
    if (name && name->starts_with("qemu-system")) found.insert(*pid);
  }
  return found;
}

/// Which node a process is, and how that is known: 2 by a pid file, 1 by its name alone, 0 not.
std::pair<std::string, int> node_of(const SandboxProcesses& sandbox, std::uint64_t pid) {
  for (const NodeEvidence& node : sandbox.nodes) {
    if (node.pid != pid) continue;
    const bool by_file = std::find(node.evidence.begin(), node.evidence.end(), "pid file") != node.evidence.end();
    return {node.node, by_file ? 2 : 1};
  }
  return {"process " + std::to_string(pid), 0};
}

/// Its own cgroup, and those above it that have a quota.
std::vector<FollowedCgroup> cgroups_of(const ProbeContext& context, const CgroupMounts& mounts, std::uint64_t pid) {
  std::vector<FollowedCgroup> found;
  const auto own = find_cgroup(context.root, context.watchdog, mounts, pid);
  if (!own || own->state != PlaceState::found) return found;
  std::vector<std::string> problems;
  const std::vector<CpuKnobs> levels = read_cpu_knobs(context.root, context.watchdog, *own, problems);
  CgroupPlace at = *own;
  for (std::size_t level = 0; level < levels.size() && at.state == PlaceState::found; ++level) {
    if (level == 0 || levels[level].limited == true) {
      FollowedCgroup cgroup;
      cgroup.version = at.version;
      cgroup.path = at.path;
      cgroup.level = static_cast<int>(level);
      cgroup.stat = HeldFile(at.directory + "/cpu.stat");
      if (at.version == 1) cgroup.usage = HeldFile(at.directory + "/cpuacct.usage");
      found.push_back(std::move(cgroup));
    }
    at = parent_of(at);
  }
  return found;
}

std::int64_t cpu_time_ns() {
  timespec own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  return own.tv_sec * k_ns_per_second + own.tv_nsec;
}

}  // namespace

std::string FollowedNodes::scan_if_due() {
  const std::int64_t begin_ns = boottime_ns();
  const std::int64_t begin_cpu_ns = cpu_time_ns();
  std::string lines;
  if (stuck_ || begin_ns < next_scan_ns_) return lines;
  std::set<std::uint64_t> pids = qemu_pids();
  if (pids != pids_) changed_ns_ = begin_ns;
  pids_ = std::move(pids);
  const bool settling = begin_ns - changed_ns_ < k_settle_ns;
  if (settling || begin_ns - looked_ns_ > k_look_again_ns) lines = look(begin_ns);
  for (FollowedQemu& qemu : followed_) qemu.find_threads(next_subject_, lines);
  note_last_left();
  // Of its own CPU time: a scan that was held up cost nothing, and what begins meanwhile is to be seen.
  const std::int64_t cost_ns = (cpu_time_ns() - begin_cpu_ns) * k_scan_share;
  next_scan_ns_ = begin_ns + std::clamp(cost_ns, k_scan_every_ns, k_look_again_ns);
  return lines;
}

/// Which QEMU is which node, and its cgroup: by the same evidence as the samples.
std::string FollowedNodes::look(std::int64_t time_ns) {
  looked_ns_ = time_ns;
  Watchdog watchdog(FileCalls::system(), k_scan_bounds);
  const ProbeContext context{Root(options_.root), options_.sandbox, options_.nodes, FileCalls::system(), watchdog};
  StringSink quiet;
  const SandboxProcesses sandbox = find_sandbox_processes(context, quiet);
  const CgroupMounts mounts = read_cgroup_mounts(context.root, watchdog);
  std::string lines;
  for (const ProcessFacts& process : sandbox.processes) {
    if (!process.qemu || process.zombie) continue;
    const auto [node, evidence] = node_of(sandbox, process.pid);
    FollowedQemu* qemu = follow(process, node);
    if (qemu == nullptr) continue;
    qemu->rename(node, lines);
    qemu->set_evidence(evidence);
    best_evidence_ = std::max(best_evidence_, evidence);
    qemu->take_cgroups(cgroups_of(context, mounts, process.pid), next_subject_, lines);
  }
  // A file that never answers keeps its thread: there is no second one to be left in it.
  stuck_ = watchdog.abandoned() > 0;
  return lines;
}

FollowedQemu* FollowedNodes::follow(const ProcessFacts& process, const std::string& node) {
  for (FollowedQemu& qemu : followed_) {
    if (qemu.pid() == process.pid && qemu.start_ticks() == process.start_ticks) return &qemu;
  }
  FollowedQemu qemu(process.pid, process.start_ticks, node, next_subject_);
  if (!qemu.follows() || followed_.size() >= k_most_followed) return nullptr;
  return &followed_.emplace_back(std::move(qemu));
}

void FollowedNodes::write(std::string& vcpus, std::string& others, std::string& cgroups) {
  for (FollowedQemu& qemu : followed_) {
    qemu.write_vcpus(vcpus);
    qemu.write_others(others);
    qemu.write_cgroups(cgroups);
  }
}

void FollowedNodes::add_descriptors(std::vector<pollfd>& watched) const {
  for (const FollowedQemu& qemu : followed_) watched.push_back({qemu.pidfd(), POLLIN, 0});
}

std::string FollowedNodes::drop_ended(std::span<const pollfd> watched) {
  std::string lines;
  for (std::size_t i = watched.size(); i-- > 0;) {
    if (watched[i].revents == 0) continue;
    lines += R"({"left":)" + std::to_string(followed_[i].pid()) + R"(,"start":)" +
             std::to_string(followed_[i].start_ticks()) + R"(,"at":)" + std::to_string(boottime_ns()) + "}\n";
    followed_.erase(followed_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  note_last_left();
  return lines;
}

void FollowedNodes::note_last_left() {
  const bool any = std::any_of(followed_.begin(), followed_.end(),
                               [&](const FollowedQemu& qemu) { return qemu.evidence() >= best_evidence_; });
  if (any)
    last_left_ns_ = 0;
  else if (had_any_ && last_left_ns_ == 0)
    last_left_ns_ = boottime_ns();
  had_any_ = had_any_ || any;
}

}  // namespace cozy
