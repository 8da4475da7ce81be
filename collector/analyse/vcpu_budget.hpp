#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "collector/analyse/node_facts.hpp"
#include "collector/analyse/thread_kind.hpp"
#include "collector/analyse/time_parts.hpp"

/// Where the wall time of each node's vCPUs went, from two readings of the QEMU threads.
namespace cozy {

/// One vCPU thread of both readings.
struct VcpuTime {
  std::uint64_t index = 0;  ///< N of "CPU N/KVM"
  std::uint64_t tid = 0;
  std::optional<Interval> window;  ///< without it there are no parts
  TimeParts parts;
  bool ran_by_ticks = false;           ///< utime + stime: the kernel keeps no schedstat
  bool impossible = false;             ///< the parts passed the window by more than clocks can differ: scaled to it
  std::optional<double> over_seconds;  ///< by how much ran and waited together passed the window, unscaled
  std::optional<std::uint64_t> start_ticks;  ///< after boot; with the tid it is the thread's identity
  /// A halt had begun and not ended in the second reading: halted is at least halted_seconds, and at most that
  /// and the rest. Absent where KVM's statistics do not say.
  std::optional<bool> halt_in_progress;
  std::optional<double> exits_per_second;        ///< absent until KVM's statistics of this vCPU were read
  std::optional<double> guest_exits_per_second;  ///< without those that an interrupt of the runner made
};

/// Any other thread of both readings.
struct ThreadTime {
  ThreadKind kind = ThreadKind::other;
  std::string name;  ///< raw bytes
  std::uint64_t tid = 0;
  std::optional<Interval> window;
  std::optional<double> ran_seconds;
  std::optional<double> waited_seconds;
  std::optional<std::uint64_t> start_ticks = std::nullopt;
};

/// All threads of a process together, so it may pass the window.
struct ProcessTime {
  std::optional<Interval> window;
  std::optional<double> cpu_seconds;     ///< by the process's own totals, which keep what ended threads used
  bool summed = false;                   ///< no totals were read: the sum over the threads of both readings
  std::optional<double> waited_seconds;  ///< the sum over the threads of both readings
};

enum class NodeState {
  present,     ///< the same process in both readings
  left,        ///< in the first reading alone
  appeared,    ///< in the second reading alone
  restarted,   ///< another process in the second reading
  no_process,  ///< in neither
  unread,      ///< in one reading, where the other was cut: not known
};

std::string_view node_state_name(NodeState state);

/// One node, or one QEMU process that no node's evidence names ("process 412").
struct NodeBudget {
  std::string name;
  bool anonymous = false;
  NodeState state = NodeState::no_process;
  std::optional<std::uint64_t> pid_before;
  std::optional<std::uint64_t> pid_after;
  std::vector<std::string> evidence;
  std::vector<std::string> notes;
  std::string process_state_before;  ///< the letter of stat field 3; "T" is stopped; empty where not read
  std::string process_state_after;

  std::vector<VcpuTime> vcpus;  ///< by index
  std::vector<ThreadTime> others;
  std::size_t vcpus_unpaired = 0;    ///< vCPU threads of one reading alone, or begun anew
  std::size_t threads_unpaired = 0;  ///< other threads of one reading alone, or begun anew
  bool vcpus_by_statistics = false;  ///< no thread has a vCPU's name: they are known by KVM's statistics
  /// Counters of its vCPUs that fell, so that no rate is made of them: "run_delay_ns of vCPU 0".
  std::vector<std::string> went_back = {};
  TimeParts sum;  ///< over the vCPUs; a part that one of them lacks is absent
  bool ran_by_ticks = false;
  bool impossible = false;
  ProcessTime process;
  std::optional<double> exits_per_second;     ///< absent until KVM statistics can be tied to nodes
  std::optional<std::uint64_t> start_before;  ///< of the process, ticks after boot
  std::optional<std::uint64_t> start_after;
  std::optional<NodeKvm> kvm;
  std::optional<NodeCgroup> cgroup;
};

/// Indexes of vCPUs by (process, thread).
using VcpuThreads = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

struct BudgetFacts {
  std::uint64_t ticks_per_second = 100;
  /// Halted nanoseconds by node and vCPU index, where KVM's statistics are tied to nodes.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> halted_ns;
  /// By the ids of KVM's statistics. Used for a process of which no thread has a vCPU's name, and whose threads
  /// have all of these numbers: then they are of the same PID namespace.
  VcpuThreads vcpu_threads = {};
};

/// Nodes in the order of the readings' evidence, then processes without a node by pid.
std::vector<NodeBudget> vcpu_budget(const Difference& threads, const BudgetFacts& facts);

}  // namespace cozy
