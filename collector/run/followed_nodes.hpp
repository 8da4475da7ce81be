#pragma once

#include <poll.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collector/run/followed_qemu.hpp"
#include "collector/run/sampler.hpp"
#include "probes/sandbox_processes.hpp"

namespace cozy {

/// Every QEMU that can be seen, followed while it lives: those that come are found, those that end are let go of.
class FollowedNodes {
 public:
  /// The options stay the caller's.
  explicit FollowedNodes(const SampleOptions& options) : options_(options) {}

  /// Looks for what is new where it is time to, and returns the lines about it. Bounded: a file that never answers
  /// is the last that is looked at.
  std::string scan_if_due();

  void write(std::string& vcpus, std::string& others, std::string& cgroups);

  /// Descriptors that become readable when a process ends, and, with what poll(2) has said of them, what ended.
  void add_descriptors(std::vector<pollfd>& watched) const;
  std::string drop_ended(std::span<const pollfd> watched);

  /// When the sandbox's last QEMU ended; 0 while there is one, and where there was none yet. Those that a pid file
  /// names are the sandbox's; where none is so named those with a node's name are, else all of them.
  [[nodiscard]] std::int64_t last_left_ns() const { return last_left_ns_; }

  [[nodiscard]] const std::vector<FollowedQemu>& all() const { return followed_; }

 private:
  std::string look(std::int64_t time_ns);
  FollowedQemu* follow(const ProcessFacts& process, const std::string& node);
  void note_last_left();

  const SampleOptions& options_;
  std::vector<FollowedQemu> followed_;
  std::uint64_t next_subject_ = 0;
  std::set<std::uint64_t> pids_;
  bool stuck_ = false;
  std::int64_t next_scan_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t changed_ns_ = 0;
  int best_evidence_ = 0;  ///< that any QEMU has had
  bool had_any_ = false;
  std::int64_t last_left_ns_ = 0;
};

}  // namespace cozy
