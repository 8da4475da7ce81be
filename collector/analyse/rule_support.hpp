#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/analyse/analysis.hpp"

/// What several rules share: who can be judged, words for numbers, evidence. The words are one line, escaped.
namespace cozy {

inline constexpr std::string_view k_cpu_time_capture = "runner-kernel-cpu-time";
inline constexpr std::string_view k_threads_capture = "sandbox-qemu-thread-cpu";
inline constexpr std::string_view k_kvm_capture = "sandbox-kvm-exits";
inline constexpr std::string_view k_cgroup_capture = "sandbox-vm-cgroup-cpu";
inline constexpr std::string_view k_pressure_capture = "runner-pressure";

/// "31 %", "3.2 %", "0.02 %" of a share of 0 to 1.
std::string percent_text(double share);
/// "0.3", "812", "28.1 k", "3.2 M"
std::string number_text(double number);
/// "412.6 s"
std::string seconds_text(double seconds);
/// "srv1..srv3" for neighbours, else "srv1, srv3"; the rest of a long list is counted.
std::string names_text(const std::vector<std::string>& names);

/// What one of several stands beside. A report can hold as many nodes as threads.
class MedianOfOthers {
 public:
  explicit MedianOfOthers(std::vector<double> values);
  /// Of all values but one of those that equal `value`; of an even number the mean of the two in the middle.
  /// None where there is no other.
  [[nodiscard]] std::optional<double> without(double value) const;

 private:
  std::vector<double> sorted_;
};

/// The wall time of each of a node's vCPUs; the node has to have some.
double vcpu_window_seconds(const NodeBudget& node);
/// The window of a node's vCPUs, or of its process where it has none.
std::optional<Interval> window_of(const NodeBudget& node);
/// The same process in both samples, with vCPUs, over a window that can be judged and that holds what they did.
bool has_judged_vcpus(const NodeBudget& node);
std::vector<const NodeBudget*> judged_nodes(const Analysis& analysis);

/// True where the kernel counted more time than there was, by more than waiting that began before it explains.
bool passes_its_window(const NodeBudget& node);

/// What a reader has to know of a node's parts; empty for a node that was read whole.
std::string caveat_of(const Analysis& analysis, const NodeBudget& node);

/// Collects the rows that a finding rests on, as many as a reader looks at.
class EvidenceList {
 public:
  EvidenceList(const Analysis& analysis, std::string_view capture);
  /// False for a row that no reading has.
  bool add(std::string_view scope, std::string_view field);
  void add(Evidence evidence);
  [[nodiscard]] std::vector<Evidence> take() { return std::move(list_); }

 private:
  const ComparedPair* pair_;
  std::string capture_;
  std::vector<Evidence> list_;
};

/// "thread 894/896", "process 894"
std::string thread_scope(const NodeBudget& node, std::uint64_t tid);
std::string process_scope(std::uint64_t pid);

/// A field of each of a node's vCPU threads.
void add_vcpu_evidence(const NodeBudget& node, std::string_view field, EvidenceList& list);

}  // namespace cozy
