#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/reading.hpp"

/// What other captures than the threads say of a node. Each is absent until its capture was read and tied to
/// the node.
namespace cozy {

/// A cumulative field of KVM's statistics, by its name.
struct FieldRate {
  std::string field;
  double per_second = 0;
};

/// A field that is no rate: a gauge or a peak. An absent side was not read.
struct FieldValue {
  std::string field;
  std::optional<Value> before;
  std::optional<Value> after;
};

/// How long the halts lasted that ended in the window, as KVM's halt_wait_hist counts them: bucket 0 is of halts
/// below 1 ns, bucket N of those from 2^(N-1) ns to below 2^N ns, and the last has no upper end.
struct HaltLengths {
  std::vector<std::uint64_t> counts;  ///< empty where they are not known

  [[nodiscard]] std::uint64_t ended() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }
};

/// KVM's statistics of the one VM that a node is.
struct NodeKvm {
  std::string source;                 ///< "vcpu stats", "debugfs"
  std::string vm;                     ///< the directory of debugfs, "894-12"; empty where only descriptors were read
  std::string evidence;               ///< why this VM is that node's
  std::vector<FieldRate> rates = {};  ///< summed over the vCPUs
  std::vector<FieldValue> values = {};
  HaltLengths halts = {};  ///< summed over the vCPUs

  [[nodiscard]] std::optional<double> rate(std::string_view field) const {
    for (const FieldRate& known : rates) {
      if (known.field == field) return known.per_second;
    }
    return std::nullopt;
  }
};

/// What the CPU controller counted and limits in one cgroup, over the interval of its own reads. Each value is
/// absent until it was read in both samples; limits are of the later one.
struct CgroupLevel {
  std::string path;                            ///< raw bytes
  std::optional<bool> limited = std::nullopt;  ///< false: the kernel says that there is no quota
  std::optional<std::uint64_t> quota_usec = std::nullopt;
  std::optional<std::uint64_t> period_usec = std::nullopt;
  std::optional<std::uint64_t> burst_usec = std::nullopt;
  std::optional<std::uint64_t> periods = std::nullopt;  ///< that went by under a quota
  std::optional<std::uint64_t> throttled_periods = std::nullopt;
  std::optional<double> throttled_seconds = std::nullopt;  ///< summed over CPUs
  std::optional<double> used_seconds = std::nullopt;       ///< CPU time; of the nodes' processes where no usage is kept
  double window_seconds = 0;                               ///< 0 where it is not known
  bool quota_changed = false;                              ///< it came to other CPUs in the earlier sample, or was none
  std::size_t nodes = 1;                                   ///< that are in it or below it: one's own, or of several

  /// A quota is in force, or was: the counters move under a quota alone. Not so is "not configured", not 0.
  [[nodiscard]] bool configured() const;
  /// The CPUs that quota over period come to.
  [[nodiscard]] std::optional<double> quota_cpus() const;
  /// Throttled periods of all, 0 to 1; none where no period went by.
  [[nodiscard]] std::optional<double> periods_share() const;
  /// What was used of what the quota allowed in the window; none where the quota changed in it.
  [[nodiscard]] std::optional<double> used_of_quota() const;
};

enum class CgroupState {
  read,       ///< in both samples
  unread,     ///< in one sample, or none: `why` says it
  moved,      ///< the process is in another cgroup in sample 2
  recreated,  ///< the path is another cgroup in sample 2: no difference means anything
};

std::string_view cgroup_state_name(CgroupState state);

/// The CPU controller of the cgroup that a node's process is in. Nodes can share one: then its numbers are of
/// all of them together, and nobody's own.
struct NodeCgroup : CgroupLevel {
  int version = 2;
  CgroupState state = CgroupState::read;
  std::string why = {};  ///< of a state that is not read
  std::optional<double> usage_seconds = std::nullopt;
  std::optional<std::uint64_t> weight = std::nullopt;
  std::optional<std::uint64_t> shares = std::nullopt;            ///< version 1
  std::string cpus = {};                                         ///< cpuset.cpus.effective; empty where not read
  std::optional<double> local_throttled_seconds = std::nullopt;  ///< by the quotas of ancestors as well
  std::vector<std::string> shared_with = {};  ///< the other nodes in it or below it, the first of a long list
  std::vector<CgroupLevel> above = {};        ///< its ancestors up to the mount, the nearest first

  std::string usage_path = {};                             ///< where another cgroup keeps the usage (version 1)
  std::size_t usage_nodes = 1;                             ///< whose usage that is
  std::optional<double> processes_seconds = std::nullopt;  ///< what their processes used, between the same stamps
  std::optional<double> beyond_seconds = std::nullopt;     ///< usage less that; below 0 by rounding alone
  double beyond_error_seconds = 0;                         ///< ticks and the width of the stamps
};

/// The cgroup itself as a level, and then those above it.
std::vector<CgroupLevel> levels_of(const NodeCgroup& cgroup);

/// By the quotas that hold this node and no other, summed over CPUs: of several that do so at once the longest
/// time, since the same time can be in each. None where there is no such quota.
std::optional<double> own_throttled_seconds(const NodeCgroup& cgroup);

/// A quota is in force on a cgroup that holds other nodes as well: what it throttled is nobody's own number.
bool throttled_together(const NodeCgroup& cgroup);

/// The level whose quota comes to the fewest CPUs; none without a quota.
std::optional<CgroupLevel> tightest_of(const NodeCgroup& cgroup);

}  // namespace cozy
