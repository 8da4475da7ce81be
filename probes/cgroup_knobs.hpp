#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup_path.hpp"
#include "probe.hpp"
#include "result.hpp"

/// What the CPU controller of a cgroup is set to, and its counters.
/// Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst.
namespace cozy {

/// "200000 100000" or "max 100000" of cpu.max.
struct CpuMax {
  std::optional<std::uint64_t> quota_usec;  ///< absent: no quota
  std::uint64_t period_usec = 0;
};

/// Both words have to be there: "max" alone is malformed.
Result<CpuMax> parse_cpu_max(std::string_view text);

/// The lines "key value" of cpu.stat and its like, in their order. A value is digits, up to 2^64 - 1; what is
/// anything else is not there, and one that is too large is said in `too_large`. Key and value are parted by
/// one blank or more, and by tabs; a line end may be CR LF; a key that stands there twice counts once, the
/// first.
struct FlatKeys {
  std::vector<std::pair<std::string, std::uint64_t>> values;
  std::vector<std::string> too_large;  ///< keys

  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view key) const;
};

FlatKeys parse_flat_keys(std::string_view text);

/// Each value is absent until its file was read; `quota_usec` is absent for `limited == false` as well.
struct CpuKnobs {
  int version = 2;
  std::string path;             ///< in its hierarchy, raw bytes
  std::optional<bool> limited;  ///< false: the kernel says that there is no quota
  std::optional<std::uint64_t> quota_usec = std::nullopt;
  std::optional<std::uint64_t> period_usec = std::nullopt;
  std::optional<std::uint64_t> burst_usec = std::nullopt;
  std::optional<std::uint64_t> weight = std::nullopt;  ///< version 2
  std::optional<std::uint64_t> shares = std::nullopt;  ///< version 1
  std::optional<std::string> cpus = std::nullopt;      ///< cpuset.cpus.effective

  /// Quota over period; none without a quota.
  [[nodiscard]] std::optional<double> cpus_of_quota() const;
};

/// Takes the text of one file: cpu.max, cpu.max.burst, cpu.weight, cpuset.cpus.effective, or version 1's
/// cpu.cfs_quota_us, cpu.cfs_period_us, cpu.cfs_burst_us, cpu.shares. An error for a text that is none of its
/// kind; other files are no error and change nothing.
Result<Done> take_knob(std::string_view file, std::string_view text, CpuKnobs& knobs);

/// The files that take_knob() reads, of one version.
std::vector<std::string> knob_files(int version);

/// The cgroup mounts of this machine; none with the reason in `unread` where they could not be read.
struct CgroupMounts {
  std::vector<CgroupMount> mounts;
  std::string unread;  ///< why /proc/self/mountinfo gave none
};

/// By ROOT/proc/self/mountinfo: files are opened in our own mount namespace, whatever the process's is.
CgroupMounts read_cgroup_mounts(const Root& root, Watchdog& watchdog);

/// The cgroup that carries a controller for a live process; an error where /proc/PID/cgroup cannot be read.
Result<CgroupPlace> find_cgroup(const Root& root, Watchdog& watchdog, const CgroupMounts& mounts, std::uint64_t pid,
                                std::string_view controller = "cpu");

/// The knobs of a cgroup that was found, and of every ancestor up to the mount: the cgroup itself is the first.
/// A quota of any of them throttles. Files that are not there leave their values absent; those that could not
/// be read for another reason, or held something else, are named in `problems`.
std::vector<CpuKnobs> read_cpu_knobs(const Root& root, Watchdog& watchdog, const CgroupPlace& place,
                                     std::vector<std::string>& problems);

}  // namespace cozy
