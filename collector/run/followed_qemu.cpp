#include "collector/run/followed_qemu.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "probes/cgroup_knobs.hpp"
#include "probes/kvm_stats.hpp"
#include "probes/text.hpp"
#include "probes/thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_statistics_link = "anon_inode:kvm-vcpu-stats:";
constexpr std::size_t k_most_threads = 4096;
constexpr std::size_t k_most_vcpus = 1024;
constexpr std::size_t k_most_descriptors = 65536;

/// The names of a directory of /proc that are numbers.
std::vector<std::uint64_t> numbers_in(const std::string& directory, std::size_t most) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  std::vector<std::uint64_t> found;
  while (open && found.size() < most) {
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    if (const auto number = parse_u64(entry->d_name)) found.push_back(*number);
  }
  return found;
}

Descriptor open_process(std::uint64_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

struct VcpuCounters {
  std::optional<std::uint64_t> halted_ns;
  std::optional<std::uint64_t> exits;
  std::optional<std::uint64_t> blocking;
};

VcpuCounters read_counters(const HeldFile& statistics) {
  VcpuCounters counters;
  const auto bytes = statistics.read();
  const auto parsed = bytes ? parse_kvm_statistics(*bytes) : Error{"", "not read", 0};
  if (!parsed) return counters;
  for (const KvmStatistic& statistic : parsed->statistics) {
    if (statistic.values.size() != 1) continue;
    if (statistic.name == "halt_wait_ns") counters.halted_ns = statistic.values.front();
    if (statistic.name == "exits") counters.exits = statistic.values.front();
    if (statistic.name == "blocking") counters.blocking = statistic.values.front();
  }
  return counters;
}

void begin_list_entry(std::string& tick) {
  if (!tick.ends_with('[')) tick += ',';
}

}  // namespace

std::string number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string json_string(std::string_view words) {
  std::string text = "\"";
  for (const char c : escape(words)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

FollowedQemu::FollowedQemu(std::uint64_t pid, std::uint64_t start_ticks, std::string node, std::uint64_t& next_subject)
    : pid_(pid),
      start_ticks_(start_ticks),
      node_(std::move(node)),
      others_subject_(next_subject++),
      pidfd_(open_process(pid)) {
  // Asked after the descriptor is there: the number may have become another's.
  const HeldFile stat(path("stat"));
  const auto text = stat.read();
  const auto parsed = text ? parse_thread_stat(*text) : Error{"", "not read", 0};
  if (!parsed || parsed->start_ticks != start_ticks_) pidfd_ = Descriptor();
}

std::string FollowedQemu::path(std::string_view below) const {
  return "/proc/" + std::to_string(pid_) + "/" + std::string(below);
}

void FollowedQemu::rename(std::string node, std::string& lines) {
  if (node == node_) return;
  node_ = std::move(node);
  write_others_subject(lines);
  for (const FollowedVcpu& vcpu : vcpus_) write_subject(vcpu, lines);
  for (const FollowedCgroup& cgroup : cgroups_) write_subject(cgroup, lines);
}

void FollowedQemu::find_threads(std::uint64_t& next_subject, std::string& lines) {
  if (!looked_) write_others_subject(lines);
  const std::vector<std::uint64_t> threads = numbers_in(path("task"), k_most_threads);
  std::erase_if(others_, [&](const FollowedThread& thread) {
    return std::find(threads.begin(), threads.end(), thread.tid) == threads.end();
  });
  find_statistics(next_subject, lines);
  for (const std::uint64_t tid : threads) {
    const auto is_it = [&](const auto& thread) { return thread.tid == tid; };
    const bool known =
        std::any_of(vcpus_.begin(), vcpus_.end(), is_it) || std::any_of(others_.begin(), others_.end(), is_it);
    if (!known) add_thread(tid, next_subject, lines);
  }
  looked_ = true;
}

void FollowedQemu::find_statistics(std::uint64_t& next_subject, std::string& lines) {
  const bool all = looked_ && !vcpus_.empty() &&
                   std::all_of(vcpus_.begin(), vcpus_.end(), [](const auto& v) { return v.statistics.open(); });
  if (all) return;
  for (const std::uint64_t number : numbers_in(path("fd"), k_most_descriptors)) {
    std::array<char, 64> target{};
    const ssize_t size = ::readlink(path("fd/" + std::to_string(number)).c_str(), target.data(), target.size());
    if (size <= 0) continue;
    const auto index = after_prefix(std::string_view(target.data(), static_cast<std::size_t>(size)), k_statistics_link);
    const auto vcpu = index ? parse_u64(*index) : std::nullopt;
    if (!vcpu || vcpus_.size() >= k_most_vcpus) continue;
    HeldFile file(
        Descriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd_.number(), static_cast<int>(number), 0))));
    const auto bytes = file.read();
    const auto parsed = bytes ? parse_kvm_statistics(*bytes) : Error{"", "not read", 0};
    if (!parsed) continue;
    FollowedVcpu& followed = vcpu_numbered(*vcpu, next_subject);
    if (followed.statistics.open()) continue;
    followed.statistics = std::move(file);
    // Where our PID namespace is the initial one, its thread is known by it, whatever the thread is called.
    const HeldFile times(path("task/" + std::to_string(parsed->tid) + "/schedstat"));
    if (followed.tid == 0 && times.open()) {
      followed.tid = parsed->tid;
      followed.times = HeldFile(path("task/" + std::to_string(parsed->tid) + "/schedstat"));
      followed.stat = HeldFile(path("task/" + std::to_string(parsed->tid) + "/stat"));
      std::erase_if(others_, [&](const FollowedThread& thread) { return thread.tid == followed.tid; });
    }
    write_subject(followed, lines);
  }
}

FollowedVcpu& FollowedQemu::vcpu_numbered(std::uint64_t vcpu, std::uint64_t& next_subject) {
  const auto known = std::find_if(vcpus_.begin(), vcpus_.end(), [&](const auto& v) { return v.vcpu == vcpu; });
  if (known != vcpus_.end()) return *known;
  FollowedVcpu added;
  added.subject = next_subject++;
  added.vcpu = vcpu;
  return vcpus_.emplace_back(std::move(added));
}

void FollowedQemu::add_thread(std::uint64_t tid, std::uint64_t& next_subject, std::string& lines) {
  const std::string directory = path("task/" + std::to_string(tid));
  HeldFile stat(directory + "/stat");
  const auto text = stat.read();
  const auto parsed = text ? parse_thread_stat(*text) : Error{"", "not read", 0};
  if (!parsed) return;
  const auto named = vcpu_of_name(parsed->comm);
  if (named && vcpus_.size() < k_most_vcpus) {
    FollowedVcpu& vcpu = vcpu_numbered(*named, next_subject);
    if (vcpu.tid != 0 && ::access(path("task/" + std::to_string(vcpu.tid)).c_str(), F_OK) == 0) return;
    vcpu.tid = tid;
    vcpu.times = HeldFile(directory + "/schedstat");
    vcpu.stat = std::move(stat);
    vcpu.ran_ns.reset();
    return write_subject(vcpu, lines);
  }
  FollowedThread thread;
  thread.tid = tid;
  thread.times = HeldFile(directory + "/schedstat");
  if (!looked_) thread.before = read_sched_times(thread.times).value_or(SchedTimes{});
  others_.push_back(std::move(thread));
}

void FollowedQemu::take_cgroups(std::vector<FollowedCgroup> cgroups, std::uint64_t& next_subject, std::string& lines) {
  const auto same = [](const FollowedCgroup& a, const FollowedCgroup& b) {
    return a.path == b.path && a.level == b.level;
  };
  if (std::equal(cgroups.begin(), cgroups.end(), cgroups_.begin(), cgroups_.end(), same)) return;
  cgroups_ = std::move(cgroups);
  for (FollowedCgroup& cgroup : cgroups_) {
    cgroup.subject = next_subject++;
    write_subject(cgroup, lines);
  }
}

void FollowedQemu::write_subject(const FollowedVcpu& vcpu, std::string& lines) const {
  lines += R"({"subject":)" + std::to_string(vcpu.subject) + R"(,"kind":"vcpu","node":)" + json_string(node_) +
           R"(,"pid":)" + std::to_string(pid_) + R"(,"start":)" + std::to_string(start_ticks_) + R"(,"vcpu":)" +
           std::to_string(vcpu.vcpu) + R"(,"tid":)" + std::to_string(vcpu.tid) + "}\n";
}

void FollowedQemu::write_subject(const FollowedCgroup& cgroup, std::string& lines) const {
  lines += R"({"subject":)" + std::to_string(cgroup.subject) + R"(,"kind":"cgroup","node":)" + json_string(node_) +
           R"(,"pid":)" + std::to_string(pid_) + R"(,"start":)" + std::to_string(start_ticks_) + R"(,"level":)" +
           std::to_string(cgroup.level) + R"(,"path":)" + json_string(cgroup.path) + "}\n";
}

void FollowedQemu::write_others_subject(std::string& lines) const {
  lines += R"({"subject":)" + std::to_string(others_subject_) + R"(,"kind":"others","node":)" + json_string(node_) +
           R"(,"pid":)" + std::to_string(pid_) + R"(,"start":)" + std::to_string(start_ticks_) + "}\n";
}

void FollowedQemu::write_vcpus(std::string& tick) {
  step_ = {};
  for (FollowedVcpu& vcpu : vcpus_) {
    const auto times = read_sched_times(vcpu.times);
    const VcpuCounters counters = read_counters(vcpu.statistics);
    if (!times && !counters.exits) continue;
    begin_list_entry(tick);
    tick += "[" + std::to_string(vcpu.subject) + "," + (times ? std::to_string(times->ran_ns) : "null") + "," +
            (times ? std::to_string(times->waited_ns) : "null") + "," + number_or_null(counters.halted_ns) + "," +
            number_or_null(counters.exits) + "," + number_or_null(counters.blocking);
    // Why a thread does not run is asked only where it did not.
    const auto state = times && vcpu.ran_ns == times->ran_ns ? read_thread_state(vcpu.stat) : std::nullopt;
    if (state) tick += "," + json_string(std::string_view(&*state, 1));
    tick += "]";
    take_step(vcpu, times);
  }
}

void FollowedQemu::take_step(FollowedVcpu& vcpu, const std::optional<SchedTimes>& times) {
  if (times && vcpu.ran_ns && times->ran_ns >= *vcpu.ran_ns && times->waited_ns >= vcpu.waited_ns) {
    step_.ran_ns += times->ran_ns - *vcpu.ran_ns;
    step_.waited_ns += times->waited_ns - vcpu.waited_ns;
    ++step_.vcpus;
  }
  vcpu.ran_ns = times ? std::optional(times->ran_ns) : std::nullopt;
  if (times) vcpu.waited_ns = times->waited_ns;
}

void FollowedQemu::write_others(std::string& tick) {
  for (FollowedThread& thread : others_) {
    const auto times = read_sched_times(thread.times);
    if (!times) continue;
    others_sum_.ran_ns += times->ran_ns - std::min(times->ran_ns, thread.before.ran_ns);
    others_sum_.waited_ns += times->waited_ns - std::min(times->waited_ns, thread.before.waited_ns);
    thread.before = *times;
  }
  begin_list_entry(tick);
  tick += "[" + std::to_string(others_subject_) + "," + std::to_string(others_sum_.ran_ns) + "," +
          std::to_string(others_sum_.waited_ns) + "]";
}

void FollowedQemu::write_cgroups(std::string& tick) const {
  constexpr std::uint64_t k_ns_per_us = 1000;
  for (const FollowedCgroup& cgroup : cgroups_) {
    const auto text = cgroup.stat.read();
    const FlatKeys keys = text ? parse_flat_keys(*text) : FlatKeys{};
    const auto in_ns = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const auto value = keys.find(key);
      if (!value || *value > UINT64_MAX / k_ns_per_us) return std::nullopt;
      return *value * k_ns_per_us;
    };
    std::optional<std::uint64_t> usage = in_ns("usage_usec");
    std::optional<std::uint64_t> throttled = in_ns("throttled_usec");
    if (cgroup.version == 1) {
      throttled = keys.find("throttled_time");
      const auto used = cgroup.usage.read();
      usage = used ? parse_u64(trim(*used)) : std::nullopt;
    }
    begin_list_entry(tick);
    tick += "[" + std::to_string(cgroup.subject) + "," + number_or_null(usage) + "," +
            number_or_null(keys.find("nr_periods")) + "," + number_or_null(keys.find("nr_throttled")) + "," +
            number_or_null(throttled) + "]";
  }
}

}  // namespace cozy
