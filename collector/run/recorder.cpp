#include "collector/run/recorder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "collector/report/files.hpp"
#include "collector/run/followed_qemu.hpp"
#include "probes/cgroup_knobs.hpp"
#include "probes/sandbox_processes.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_longest_ns = 6 * 3600 * k_ns_per_second;
constexpr std::size_t k_byte_budget = 8UL * 1024 * 1024;
constexpr std::int64_t k_scan_every_ns = 2 * k_ns_per_second;
constexpr std::int64_t k_scan_share = 400;  // a scan that took 10 ms is done every 4 s at most
constexpr std::int64_t k_look_again_ns = 30 * k_ns_per_second;
constexpr std::int64_t k_settle_ns = 10 * k_ns_per_second;  // a pid file is written after the start
constexpr Watchdog::Bounds k_scan_bounds{250 * k_ns_per_ms, 2 * k_ns_per_second};
constexpr std::size_t k_most_followed = 256;

constexpr std::string_view k_legend =
    R"("legend":{"subject":"what the numbers of a list are of, by the first of them; a later line replaces an earlier one",)"
    R"("t":"boot-time ns: when the tick was due, begun, ended; then the epoch ns of its begin",)"
    R"("missed":"ticks that were left out before this one, since it was due too late","cpu":"first line of /proc/stat, in ticks",)"
    R"("psi":"total us of cpu some, io some, io full, memory some, memory full","mem":"MemAvailable, kB",)"
    R"("self":"CPU time of the recorder, ns",)"
    R"("v":"vcpu: subject, ran ns, waited for a CPU ns, halted ns (known when a halt ends), exits, 1 while halted, state of the thread where it did not run",)"
    R"("o":"all other threads of the QEMU since it is followed: subject, ran ns, waited ns",)"
    R"("c":"cgroup: subject, usage ns, periods, throttled periods, throttled ns","left":"a process that ended; null: not known"})";

std::string list_of(const std::vector<std::string>& items) { return "[" + join(items, ",") + "]"; }

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

std::string node_of(const SandboxProcesses& sandbox, std::uint64_t pid) {
  for (const NodeEvidence& node : sandbox.nodes) {
    if (node.pid == pid) return node.node;
  }
  return "process " + std::to_string(pid);
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

class Recorder {
 public:
  Recorder(const SampleOptions& options, std::int64_t interval_ns)
      : options_(options), interval_ns_(interval_ns), begin_ns_(boottime_ns()) {}

  std::string run() {
    if (const auto made = make_file(); !made) return made.error().text();
    raise_descriptor_limit();
    open_machine();
    if (!put(head())) return failure_;
    const pid_t starter = ::getppid();
    std::int64_t due_ns = boottime_ns();
    std::uint64_t missed = 0;
    for (;;) {
      if (boottime_ns() - begin_ns_ > k_longest_ns) return "ended after its longest duration";
      scan_if_due();
      if (!put(tick(due_ns, missed))) return failure_;
      if (::getppid() != starter) return {};
      due_ns += interval_ns_;
      const std::int64_t behind_ns = boottime_ns() - due_ns;
      missed = behind_ns > 0 ? static_cast<std::uint64_t>(behind_ns / interval_ns_) : 0;
      due_ns += static_cast<std::int64_t>(missed) * interval_ns_;
      wait_until(due_ns);
    }
  }

 private:
  Result<Done> make_file() {
    const std::string path = timeline_file(options_);
    if (const auto made = make_directories(path.substr(0, path.rfind('/'))); !made) return made.error();
    ::unlink(path.c_str());
    constexpr mode_t k_mode = 0644;
    file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, k_mode));
    if (!file_.open()) return Error{path, errno_text(errno), errno};
    return Done{};
  }

  static void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  void open_machine() {
    stat_ = HeldFile("/proc/stat");
    memory_ = HeldFile("/proc/meminfo");
    for (const char* resource : {"cpu", "io", "memory"})
      pressure_.emplace_back(std::string("/proc/pressure/") + resource);
  }

  [[nodiscard]] std::string head() const {
    const Stamp stamp = now();
    return R"({"schema":"cozybracket-timeline-1","interval_ns":)" + std::to_string(interval_ns_) +
           R"(,"ticks_per_second":)" + std::to_string(::sysconf(_SC_CLK_TCK)) + R"(,"cpus":)" +
           std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + R"(,"boottime_ns":)" + std::to_string(stamp.boottime_ns) +
           R"(,"epoch_ns":)" + std::to_string(stamp.epoch_ns) + "," + std::string(k_legend) + "}\n";
  }

  /// Whole lines, in one write. Slows down as the budget is used up.
  bool put(const std::string& lines) {
    if (lines.empty()) return true;
    if (bytes_ + lines.size() > k_byte_budget) {
      failure_ = "the file has reached " + std::to_string(k_byte_budget) + " bytes";
      return false;
    }
    const ssize_t written = ::write(file_.number(), lines.data(), lines.size());
    if (written != static_cast<ssize_t>(lines.size())) {
      failure_ = "could not be written: " + (written < 0 ? errno_text(errno) : "the disk is full");
      return false;
    }
    bytes_ += lines.size();
    if (bytes_ < slow_down_at_) return true;
    slow_down_at_ += (k_byte_budget - slow_down_at_) / 2;
    interval_ns_ *= 2;
    return put(R"({"interval_ns":)" + std::to_string(interval_ns_) + R"(,"at":)" + std::to_string(boottime_ns()) +
               R"(,"why":"byte budget"})" + "\n");
  }

  void scan_if_due() {
    const std::int64_t begin_ns = boottime_ns();
    if (stuck_ || begin_ns < next_scan_ns_) return;
    std::set<std::uint64_t> pids = qemu_pids();
    if (pids != pids_) changed_ns_ = begin_ns;
    pids_ = std::move(pids);
    const bool settling = begin_ns - changed_ns_ < k_settle_ns;
    if (settling || begin_ns - looked_ns_ > k_look_again_ns) look(begin_ns);
    std::string lines;
    for (FollowedQemu& qemu : followed_) qemu.find_threads(next_subject_, lines);
    put(lines);
    const std::int64_t took_ns = boottime_ns() - begin_ns;
    next_scan_ns_ = begin_ns + std::max(k_scan_every_ns, took_ns * k_scan_share);
  }

  /// Which QEMU is which node, and its cgroup: by the same evidence as the samples.
  void look(std::int64_t time_ns) {
    looked_ns_ = time_ns;
    Watchdog watchdog(FileCalls::system(), k_scan_bounds);
    const ProbeContext context{Root(options_.root), options_.sandbox, options_.nodes, FileCalls::system(), watchdog};
    StringSink quiet;
    const SandboxProcesses sandbox = find_sandbox_processes(context, quiet);
    const CgroupMounts mounts = read_cgroup_mounts(context.root, watchdog);
    std::string lines;
    for (const ProcessFacts& process : sandbox.processes) {
      if (!process.qemu || process.zombie) continue;
      FollowedQemu* qemu = follow(process, node_of(sandbox, process.pid));
      if (qemu == nullptr) continue;
      qemu->rename(node_of(sandbox, process.pid), lines);
      qemu->take_cgroups(cgroups_of(context, mounts, process.pid), next_subject_, lines);
    }
    // A file that never answers keeps its thread: there is no second one to be left in it.
    stuck_ = watchdog.abandoned() > 0;
    put(lines);
  }

  FollowedQemu* follow(const ProcessFacts& process, const std::string& node) {
    for (FollowedQemu& qemu : followed_) {
      if (qemu.pid() == process.pid && qemu.start_ticks() == process.start_ticks) return &qemu;
    }
    FollowedQemu qemu(process.pid, process.start_ticks, node, next_subject_);
    if (!qemu.follows() || followed_.size() >= k_most_followed) return nullptr;
    return &followed_.emplace_back(std::move(qemu));
  }

  std::string tick(std::int64_t due_ns, std::uint64_t missed) {
    const Stamp begin = now();
    std::string vcpus = "[";
    std::string others = "[";
    std::string cgroups = "[";
    for (FollowedQemu& qemu : followed_) {
      qemu.write_vcpus(vcpus);
      qemu.write_others(others);
      qemu.write_cgroups(cgroups);
    }
    const std::string machine = R"("cpu":)" + cpu_list() + R"(,"psi":)" + pressure_list() + R"(,"mem":)" + memory();
    timespec own{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    const std::int64_t end_ns = boottime_ns();
    return R"({"t":[)" + std::to_string(due_ns) + "," + std::to_string(begin.boottime_ns) + "," +
           std::to_string(end_ns) + "," + std::to_string(begin.epoch_ns) + R"(],"missed":)" + std::to_string(missed) +
           "," + machine + R"(,"self":)" + std::to_string(bounded_ns(own.tv_sec, own.tv_nsec)) + R"(,"v":)" + vcpus +
           R"(],"o":)" + others + R"(],"c":)" + cgroups + "]}\n";
  }

  [[nodiscard]] std::string cpu_list() const {
    std::vector<std::string> columns;
    const auto text = stat_.read();
    const auto line = text ? between(*text, "cpu ", "\n") : std::nullopt;
    for (const std::string_view word : line ? split_words(*line) : std::vector<std::string_view>{})
      columns.push_back(number_or_null(parse_u64(word)));
    return list_of(columns);
  }

  [[nodiscard]] std::string pressure_list() const {
    std::vector<std::string> totals;
    for (std::size_t i = 0; i < pressure_.size(); ++i) {
      const auto text = pressure_[i].read();
      for (const std::string_view kind : {"some ", "full "}) {
        if (i == 0 && kind == "full ") continue;
        const std::size_t at = text ? text->find(kind) : std::string_view::npos;
        const auto total = at == std::string_view::npos ? std::nullopt : between(text->substr(at), "total=", "\n");
        totals.push_back(number_or_null(total ? parse_u64(*total) : std::nullopt));
      }
    }
    return list_of(totals);
  }

  [[nodiscard]] std::string memory() const {
    const auto text = memory_.read();
    const auto words = text ? between(*text, "MemAvailable:", " kB") : std::nullopt;
    return number_or_null(words ? parse_u64(trim(*words)) : std::nullopt);
  }

  /// Lets go of a process as soon as it ends: what is held of it keeps its VM.
  void wait_until(std::int64_t due_ns) {
    for (;;) {
      std::vector<pollfd> watched;
      for (const FollowedQemu& qemu : followed_) watched.push_back({qemu.pidfd(), POLLIN, 0});
      const std::int64_t rest_ns = std::max<std::int64_t>(due_ns - boottime_ns(), 0);
      const timespec rest{rest_ns / k_ns_per_second, rest_ns % k_ns_per_second};
      const int ready = ::ppoll(watched.data(), watched.size(), &rest, nullptr);
      if (ready > 0) drop_ended(watched);
      if (boottime_ns() >= due_ns) return;
    }
  }

  void drop_ended(const std::vector<pollfd>& watched) {
    std::string lines;
    for (std::size_t i = watched.size(); i-- > 0;) {
      if (watched[i].revents == 0) continue;
      lines += R"({"left":)" + std::to_string(followed_[i].pid()) + R"(,"start":)" +
               std::to_string(followed_[i].start_ticks()) + R"(,"at":)" + std::to_string(boottime_ns()) + "}\n";
      followed_.erase(followed_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    put(lines);
  }

  const SampleOptions& options_;
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
  Descriptor file_;
  std::string failure_;
  std::size_t bytes_ = 0;
  std::size_t slow_down_at_ = k_byte_budget / 2;
  HeldFile stat_;
  HeldFile memory_;
  std::vector<HeldFile> pressure_;
  std::vector<FollowedQemu> followed_;
  std::uint64_t next_subject_ = 0;
  std::set<std::uint64_t> pids_;
  bool stuck_ = false;
  std::int64_t next_scan_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t changed_ns_ = 0;
};

}  // namespace

std::string timeline_file(const SampleOptions& options) {
  return options.report_dir + "/snapshots/" + options.snapshot + "/timeline/timeline.jsonl";
}

std::string record_timeline(const SampleOptions& options, std::int64_t interval_ns) {
  const std::string why = Recorder(options, interval_ns).run();
  return why.empty() ? why : "the timeline ended early: " + why;
}

}  // namespace cozy
