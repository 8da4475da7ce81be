#include "collector/analyse/vcpu_budget.hpp"

#include <algorithm>
#include <set>

#include "collector/analyse/process_threads.hpp"
#include "probes/text.hpp"
#include "probes/thread_stat.hpp"

namespace cozy {

namespace {

/// A guest share below this, over all vCPUs of a node, is not claimed: where KVM runs guests as ordinary
/// user or kernel time (PVM), guest_time stays near 0 while the guest computes.
constexpr double k_least_guest_share = 0.01;

constexpr double k_ns = static_cast<double>(k_ns_per_second);

std::optional<double> seconds_of(const std::optional<std::uint64_t>& delta, double per_second) {
  if (!delta) return std::nullopt;
  return static_cast<double>(*delta) / per_second;
}

/// What one thread used and waited, unclamped.
struct ThreadUse {
  std::optional<Interval> window;
  std::optional<double> ran_seconds;
  bool by_ticks = false;
  std::optional<double> tick_seconds;  ///< utime + stime
  std::optional<double> guest_seconds;
  std::optional<double> waited_seconds;
  std::optional<std::uint64_t> start_ticks;
};

class Budget {
 public:
  Budget(const Difference& threads, const BudgetFacts& facts)
      : threads_(threads), facts_(facts), processes_(processes_of(threads)) {
    for (const auto& [pid, process] : processes_) find_vcpus_by_statistics(pid, process);
  }

  std::vector<NodeBudget> nodes() {
    for (const NodeEvidence& node : threads_.before().nodes) take_evidence(node, &NodeBudget::pid_before, 1);
    for (const NodeEvidence& node : threads_.after().nodes) take_evidence(node, &NodeBudget::pid_after, 2);
    add_processes_without_node();
    for (NodeBudget& node : nodes_) {
      node.state = state_of(node);
      fill_process_states(node);
      if (node.state == NodeState::present) fill_threads(node);
    }
    return std::move(nodes_);
  }

 private:
  /// Where no thread has a vCPU's name and the process's threads have all the numbers of the statistics' ids.
  void find_vcpus_by_statistics(std::uint64_t pid, const ProcessScope& process) {
    const auto begin = facts_.vcpu_threads.lower_bound({pid, 0});
    VcpuThreads known(begin, facts_.vcpu_threads.upper_bound({pid, UINT64_MAX}));
    if (known.empty()) return;
    std::size_t found = 0;
    for (const ThreadScope& thread : process.threads) {
      if (vcpu_of_name(comm_of(threads_, thread.scope))) return;
      if (known.contains({pid, thread.tid})) ++found;
    }
    if (found == known.size()) vcpus_by_statistics_.merge(known);
  }

  [[nodiscard]] std::optional<std::uint64_t> vcpu_by_statistics(std::uint64_t pid, std::uint64_t tid) const {
    const auto known = vcpus_by_statistics_.find({pid, tid});
    return known == vcpus_by_statistics_.end() ? std::nullopt : std::optional(known->second);
  }

  NodeBudget& node_named(const std::string& name) {
    const auto [at, inserted] = by_name_.try_emplace(name, nodes_.size());
    if (inserted) nodes_.emplace_back().name = name;
    return nodes_[at->second];
  }

  void take_evidence(const NodeEvidence& evidence, std::optional<std::uint64_t> NodeBudget::*pid, int sample) {
    NodeBudget& node = node_named(evidence.node);
    for (const std::string& note : evidence.notes) {
      if (std::find(node.notes.begin(), node.notes.end(), note) == node.notes.end()) node.notes.push_back(note);
    }
    if (!evidence.pid) return;
    // A pid file keeps the number of a process that is gone: it has to have been read to count.
    const auto process = processes_.find(*evidence.pid);
    const bool there = process != processes_.end() && (sample == 1 ? process->second.before : process->second.after);
    if (!there) {
      node.notes.push_back("process " + std::to_string(*evidence.pid) + " was not among those of sample " +
                           std::to_string(sample));
      return;
    }
    node.*pid = evidence.pid;
    node.evidence = evidence.evidence;
    claimed_.insert(*evidence.pid);
  }

  [[nodiscard]] bool looks_like_qemu(std::uint64_t pid, const ProcessScope& process) const {
    const std::string comm = comm_of(threads_, process.scope);
    if (comm.starts_with("qemu-system") || comm.starts_with("qemu-kvm")) return true;
    return std::any_of(process.threads.begin(), process.threads.end(), [&](const ThreadScope& thread) {
      return kind_of_thread(threads_, pid, thread) == ThreadKind::vcpu;
    });
  }

  void add_processes_without_node() {
    for (const auto& [pid, process] : processes_) {
      if (claimed_.contains(pid) || !looks_like_qemu(pid, process)) continue;
      NodeBudget& node = nodes_.emplace_back();
      node.name = "process " + std::to_string(pid);
      node.anonymous = true;
      if (process.before) node.pid_before = pid;
      if (process.after) node.pid_after = pid;
    }
  }

  [[nodiscard]] NodeState state_of(const NodeBudget& node) const {
    if (!node.pid_before && !node.pid_after) return NodeState::no_process;
    if (!node.pid_after) return threads_.whole_after() ? NodeState::left : NodeState::unread;
    if (!node.pid_before) return threads_.whole_before() ? NodeState::appeared : NodeState::unread;
    const bool same =
        node.pid_before == node.pid_after && same_process(threads_, *node.pid_before, processes_.at(*node.pid_before));
    return same ? NodeState::present : NodeState::restarted;
  }

  /// The letter of the process, or of its main thread where the process's own line was not read.
  [[nodiscard]] std::string process_state(std::uint64_t pid, const Row* RowChange::*side) const {
    const std::string number = std::to_string(pid);
    for (const std::string& scope : {"process " + number, "thread " + number + "/" + number}) {
      const RowChange* row = threads_.find(scope, "state");
      if (row != nullptr && row->*side != nullptr) return value_text((row->*side)->value);
    }
    return {};
  }

  [[nodiscard]] std::optional<std::uint64_t> start_of(const std::string& scope, const Row* RowChange::*side) const {
    const RowChange* row = threads_.find(scope, "start");
    return row != nullptr && row->*side != nullptr ? counter_value((row->*side)->value) : std::nullopt;
  }

  /// Of the process, or of its main thread where the process's own line was not read: they are the same.
  [[nodiscard]] std::optional<std::uint64_t> process_start(std::uint64_t pid, const Row* RowChange::*side) const {
    const std::string number = std::to_string(pid);
    const auto start = start_of("process " + number, side);
    return start ? start : start_of("thread " + number + "/" + number, side);
  }

  void fill_process_states(NodeBudget& node) const {
    if (node.pid_before) {
      node.process_state_before = process_state(*node.pid_before, &RowChange::before);
      node.start_before = process_start(*node.pid_before, &RowChange::before);
    }
    if (node.pid_after) {
      node.process_state_after = process_state(*node.pid_after, &RowChange::after);
      node.start_after = process_start(*node.pid_after, &RowChange::after);
    }
  }

  /// None for a thread of one reading alone and for another thread under the same number.
  [[nodiscard]] std::optional<ThreadUse> use_of(const std::string& scope) const {
    const RowChange* utime = threads_.find(scope, "utime");
    const bool paired = utime != nullptr && utime->before != nullptr && utime->after != nullptr;
    if (!paired || utime->change == Change::reset) return std::nullopt;
    const auto hz = static_cast<double>(facts_.ticks_per_second);
    ThreadUse use;
    use.window = utime->interval;
    const auto user = seconds_of(utime->delta, hz);
    const auto system = seconds_of(threads_.delta(scope, "stime"), hz);
    if (user && system) use.tick_seconds = *user + *system;
    use.ran_seconds = seconds_of(threads_.delta(scope, "on_cpu_ns"), k_ns);
    use.by_ticks = !use.ran_seconds && use.tick_seconds;
    if (use.by_ticks) use.ran_seconds = use.tick_seconds;
    use.guest_seconds = seconds_of(threads_.delta(scope, "guest_time"), hz);
    use.waited_seconds = seconds_of(threads_.delta(scope, "run_delay_ns"), k_ns);
    use.start_ticks = start_of(scope, &RowChange::after);
    return use;
  }

  void note_falls(const std::string& scope, std::uint64_t index, NodeBudget& node) const {
    for (const char* field : {"utime", "stime", "on_cpu_ns", "run_delay_ns", "guest_time"}) {
      const RowChange* row = threads_.find(scope, field);
      if (row == nullptr || row->change != Change::went_back) continue;
      node.went_back.push_back(std::string(field) + " of vCPU " + std::to_string(index));
    }
  }

  void add_vcpu(const ThreadScope& thread, std::uint64_t index, const ThreadUse& use, NodeBudget& node) const {
    VcpuTime vcpu;
    vcpu.tid = thread.tid;
    vcpu.index = index;
    vcpu.window = use.window;
    vcpu.ran_by_ticks = use.by_ticks;
    vcpu.start_ticks = use.start_ticks;
    note_falls(thread.scope, index, node);
    vcpu.parts.ran_seconds = use.ran_seconds;
    vcpu.parts.guest_seconds = use.guest_seconds;
    vcpu.parts.waited_seconds = use.waited_seconds;
    const auto halted = facts_.halted_ns.find({node.name, vcpu.index});
    if (halted != facts_.halted_ns.end()) vcpu.parts.halted_seconds = seconds_of(halted->second, k_ns);
    if (use.window) {
      vcpu.parts.window_seconds = use.window->seconds();
      trim_halted(vcpu.parts);
      const double over = use.ran_seconds.value_or(0) + use.waited_seconds.value_or(0) - vcpu.parts.window_seconds;
      if (over > 0) vcpu.over_seconds = over;
      vcpu.impossible = !fit_to_window(vcpu.parts, clock_slack_seconds(*use.window, facts_.ticks_per_second));
    }
    node.vcpus.push_back(vcpu);
  }

  /// Halts are of another capture, whose reads lie milliseconds from those of the threads: what that difference
  /// alone puts past the window is not there.
  static void trim_halted(TimeParts& parts) {
    constexpr double k_most = 0.05;
    if (!parts.halted_seconds) return;
    const double sum = parts.ran_seconds.value_or(0) + parts.waited_seconds.value_or(0) + *parts.halted_seconds;
    const double excess = sum - parts.window_seconds;
    if (excess > 0 && excess <= std::min(k_most * parts.window_seconds, *parts.halted_seconds)) {
      *parts.halted_seconds -= excess;
    }
  }

  void add_other(const ThreadScope& thread, ThreadKind kind, const ThreadUse& use, NodeBudget& node) const {
    ThreadTime other{
        kind,           comm_of(threads_, thread.scope), thread.tid, use.window, use.ran_seconds, use.waited_seconds,
        use.start_ticks};
    if (use.window && other.ran_seconds) other.ran_seconds = std::min(*other.ran_seconds, use.window->seconds());
    node.others.push_back(std::move(other));
  }

  void fill_threads(NodeBudget& node) const {
    const ProcessScope& process = processes_.at(*node.pid_before);
    std::vector<ThreadUse> uses;
    for (const ThreadScope& thread : process.threads) {
      const auto by_statistics = vcpu_by_statistics(*node.pid_before, thread.tid);
      const ThreadKind kind = by_statistics ? ThreadKind::vcpu : kind_of_thread(threads_, *node.pid_before, thread);
      node.vcpus_by_statistics = node.vcpus_by_statistics || by_statistics.has_value();
      const auto use = use_of(thread.scope);
      if (!use) {
        ++(kind == ThreadKind::vcpu ? node.vcpus_unpaired : node.threads_unpaired);
      } else if (kind == ThreadKind::vcpu) {
        const auto by_name = vcpu_of_name(comm_of(threads_, thread.scope));
        add_vcpu(thread, by_statistics ? *by_statistics : by_name.value_or(0), *use, node);
      } else {
        add_other(thread, kind, *use, node);
      }
      if (use) uses.push_back(*use);
    }
    std::stable_sort(node.vcpus.begin(), node.vcpus.end(),
                     [](const VcpuTime& a, const VcpuTime& b) { return a.index < b.index; });
    fill_process_time(process, uses, node);
    fill_sum(node);
  }

  void fill_process_time(const ProcessScope& process, const std::vector<ThreadUse>& uses, NodeBudget& node) const {
    const auto hz = static_cast<double>(facts_.ticks_per_second);
    const auto user = seconds_of(threads_.delta(process.scope, "utime"), hz);
    const auto system = seconds_of(threads_.delta(process.scope, "stime"), hz);
    ProcessTime& time = node.process;
    if (!uses.empty()) time.window = uses.front().window;
    if (user && system) {
      time.window = threads_.find(process.scope, "utime")->interval;
      time.cpu_seconds = *user + *system;
    } else {
      time.summed = true;
      time.cpu_seconds = total_of(uses, &ThreadUse::tick_seconds);
    }
    time.waited_seconds = total_of(uses, &ThreadUse::waited_seconds);
  }

  /// Absent when one of them lacks it.
  static std::optional<double> total_of(const std::vector<ThreadUse>& uses, std::optional<double> ThreadUse::*part) {
    double total = 0;
    for (const ThreadUse& use : uses) {
      if (!(use.*part)) return std::nullopt;
      total += *(use.*part);
    }
    return uses.empty() ? std::nullopt : std::optional(total);
  }

  static void drop_guest_unless_told(std::vector<VcpuTime>& vcpus) {
    double ran = 0;
    double guest = 0;
    for (const VcpuTime& vcpu : vcpus) {
      ran += vcpu.parts.ran_seconds.value_or(0);
      guest += vcpu.parts.guest_seconds.value_or(0);
    }
    if (ran <= 0 || guest >= k_least_guest_share * ran) return;
    for (VcpuTime& vcpu : vcpus) vcpu.parts.guest_seconds.reset();
  }

  static void fill_sum(NodeBudget& node) {
    drop_guest_unless_told(node.vcpus);
    std::vector<TimeParts> parts;
    for (const VcpuTime& vcpu : node.vcpus) {
      parts.push_back(vcpu.parts);
      node.ran_by_ticks = node.ran_by_ticks || vcpu.ran_by_ticks;
      node.impossible = node.impossible || vcpu.impossible;
    }
    const bool windows = std::all_of(node.vcpus.begin(), node.vcpus.end(), [](const auto& v) { return v.window; });
    if (windows) node.sum = sum_of(parts);
  }

  const Difference& threads_;
  const BudgetFacts& facts_;
  std::map<std::uint64_t, ProcessScope> processes_;
  std::vector<NodeBudget> nodes_;
  std::map<std::string, std::size_t> by_name_;
  std::set<std::uint64_t> claimed_;
  VcpuThreads vcpus_by_statistics_;
};

}  // namespace

std::string_view node_state_name(NodeState state) {
  switch (state) {
    case NodeState::present:
      return "present";
    case NodeState::left:
      return "left";
    case NodeState::appeared:
      return "appeared";
    case NodeState::restarted:
      return "restarted";
    case NodeState::no_process:
      return "no process";
    case NodeState::unread:
      return "unread";
  }
  return "unread";
}

std::vector<NodeBudget> vcpu_budget(const Difference& threads, const BudgetFacts& facts) {
  return Budget(threads, facts).nodes();
}

}  // namespace cozy
