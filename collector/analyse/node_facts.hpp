#pragma once

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

/// The CPU controller of the cgroup that a node's process is in. Nodes can share one: then its numbers are of
/// all of them together.
struct NodeCgroup {
  std::string path;
  int version = 2;
  std::optional<double> usage_seconds = std::nullopt;
  std::optional<double> throttled_seconds = std::nullopt;  ///< summed over CPUs; absent is "no such line", not 0
  std::optional<std::uint64_t> throttled_periods = std::nullopt;
  std::optional<std::uint64_t> periods = std::nullopt;
  std::optional<std::uint64_t> quota_usec = std::nullopt;
  std::optional<std::uint64_t> period_usec = std::nullopt;
  std::optional<std::uint64_t> weight = std::nullopt;
};

}  // namespace cozy
