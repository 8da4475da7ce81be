#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/cgroup_knobs.hpp"
#include "probes/probe.hpp"

namespace cozy {

/// What a live node's cgroup is set to, as it was read.
struct NodeKnobs {
  std::string node;
  std::optional<std::uint64_t> pid;
  std::string unread;               ///< why there are no levels; empty where there are
  std::vector<CpuKnobs> levels;     ///< its own cgroup, then those above it up to the mount
  std::string shared_with;          ///< whose cgroup it is as well, so that it is no scope of the node's own
  std::vector<std::string> others;  ///< further processes in it, "812 (virtiofsd)"
  std::vector<std::string> problems;
  std::vector<std::string> notes;  ///< on how the process was found
};

struct SandboxKnobs {
  std::vector<NodeKnobs> nodes;    ///< every node of which there is evidence, alive or not
  std::vector<std::string> notes;  ///< what could not be looked at
};

/// Finds the live nodes and reads the knobs of each. Every read is bounded by the context's watchdog.
SandboxKnobs read_node_cgroups(const ProbeContext& context);

}  // namespace cozy
