#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/policy/node_cgroups.hpp"
#include "collector/policy/pod_cpu.hpp"

/// What live nodes have beside what a pod asked for. Pure.
namespace cozy {

enum class KnobState {
  as_asked,
  differs,
  not_read,
  not_asked,  ///< the pod says nothing about it
};

std::string_view knob_state_name(KnobState state);

/// One knob of a node. A value that is not known, or does not apply, is absent; "max" is no quota.
struct KnobCheck {
  std::string knob;  ///< "quota", "period", "weight" or "shares", "burst"
  std::optional<Value> expected;
  std::optional<Value> actual;
  std::optional<Value> effective;  ///< by the tightest of its own cgroup and those above it
  KnobState state = KnobState::not_read;
};

/// What a pod may count on and does not have. The names are for programs, and stay.
struct Breach {
  std::string name;  ///< "request-as-quota"
  std::string words;
};

struct NodeAudit {
  std::string node;
  std::optional<std::uint64_t> pid;
  int version = 2;
  std::string path;                     ///< of its cgroup, raw bytes; empty where none was read
  std::string tightest;                 ///< path of the cgroup whose quota binds first, raw bytes; empty for none
  std::optional<double> expected_cpus;  ///< none: no bound
  std::optional<double> effective_cpus;
  std::string unread;
  std::vector<KnobCheck> checks;
  std::vector<Breach> breaches;
  std::vector<std::string> notes;

  [[nodiscard]] bool as_asked() const;
};

struct Audit {
  std::vector<NodeAudit> nodes;
  std::vector<Breach> breaches;  ///< among nodes
  std::vector<std::string> notes;

  /// Every node of which there is evidence has what was asked, and there is one.
  [[nodiscard]] bool as_asked() const;
};

Audit audit(const PodCpu& pod, const PodKnobs& expected, const SandboxKnobs& found);

}  // namespace cozy
