#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/held_files.hpp"
#include "probes/cgroup_path.hpp"

/// A QEMU process whose files are kept open while it lives.
namespace cozy {

struct FollowedVcpu {
  std::uint64_t subject = 0;
  std::uint64_t vcpu = 0;
  std::uint64_t tid = 0;  ///< 0 where no thread is known for it
  HeldFile times;
  HeldFile stat;
  HeldFile statistics;                    ///< of KVM, borrowed: it keeps the VM from being freed
  std::optional<std::uint64_t> ran_ns{};  ///< at the tick before
  std::uint64_t waited_ns = 0;            ///< at the tick before, where ran_ns is known
};

struct FollowedThread {
  std::uint64_t tid = 0;
  HeldFile times;
  SchedTimes before{};
};

struct FollowedCgroup {
  std::uint64_t subject = 0;
  int version = 2;
  std::string path;
  int level = 0;  ///< 0 for the process's own, 1 and more above
  HeldFile stat;
  HeldFile usage;  ///< of version 1
};

/// What the vCPUs of a QEMU did between the last two ticks, of those that both know.
struct FollowedStep {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  std::size_t vcpus = 0;
};

/// Appends to the lines that a tick or a scan writes.
class FollowedQemu {
 public:
  /// Begins to follow; see follows().
  FollowedQemu(std::uint64_t pid, std::uint64_t start_ticks, std::string node, std::uint64_t& next_subject);

  [[nodiscard]] std::uint64_t pid() const { return pid_; }
  [[nodiscard]] std::uint64_t start_ticks() const { return start_ticks_; }
  [[nodiscard]] const std::string& node() const { return node_; }
  /// How its node is known: 2 by a pid file, 1 by its name alone, 0 not.
  [[nodiscard]] int evidence() const { return evidence_; }
  void set_evidence(int evidence) { evidence_ = evidence; }
  [[nodiscard]] const FollowedStep& last_step() const { return step_; }
  [[nodiscard]] int pidfd() const { return pidfd_.number(); }
  /// False where the process is not there any more, or is another one.
  [[nodiscard]] bool follows() const { return pidfd_.open(); }

  /// Gives it its node's name, which becomes known after its start.
  void rename(std::string node, std::string& lines);
  /// Looks for threads and descriptors that are new.
  void find_threads(std::uint64_t& next_subject, std::string& lines);
  /// Takes its cgroup, and those above it that have a quota.
  void take_cgroups(std::vector<FollowedCgroup> cgroups, std::uint64_t& next_subject, std::string& lines);

  void write_vcpus(std::string& tick);
  void write_others(std::string& tick);
  void write_cgroups(std::string& tick) const;

 private:
  void take_step(FollowedVcpu& vcpu, const std::optional<SchedTimes>& times);
  void find_statistics(std::uint64_t& next_subject, std::string& lines);
  void add_thread(std::uint64_t tid, std::uint64_t& next_subject, std::string& lines);
  FollowedVcpu& vcpu_numbered(std::uint64_t vcpu, std::uint64_t& next_subject);
  void write_subject(const FollowedVcpu& vcpu, std::string& lines) const;
  void write_subject(const FollowedCgroup& cgroup, std::string& lines) const;
  void write_others_subject(std::string& lines) const;
  [[nodiscard]] std::string path(std::string_view below) const;

  std::uint64_t pid_;
  std::uint64_t start_ticks_;
  std::string node_;
  int evidence_ = 0;
  std::uint64_t others_subject_;
  Descriptor pidfd_;
  bool looked_ = false;  ///< threads that come later count from their beginning
  std::vector<FollowedVcpu> vcpus_;
  std::vector<FollowedThread> others_;
  SchedTimes others_sum_;
  FollowedStep step_;
  std::vector<FollowedCgroup> cgroups_;
};

/// "[1,2,null]" piece by piece: a number, or null where it is absent.
std::string number_or_null(const std::optional<std::uint64_t>& number);

/// Words from outside as a JSON string.
std::string json_string(std::string_view words);

}  // namespace cozy
