#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/run/child.hpp"
#include "collector/run/pod_name.hpp"

/// Which tenant workers are read, and how kubectl is asked.
namespace cozy {

inline constexpr std::size_t k_most_pods = 64;

struct TenantOptions {
  std::vector<PodTarget> pods;
  std::vector<PodLabel> labels;
  std::size_t max_pods = 8;
  std::string kubectl = "kubectl";

  [[nodiscard]] bool any() const { return !pods.empty() || !labels.empty(); }
};

struct ChosenPods {
  std::vector<PodTarget> pods;          ///< those that are read, each once
  std::vector<PodTarget> left_out;      ///< beyond the most that may be read
  std::vector<std::string> shortfalls;  ///< of the lists: "pods of NAMESPACE/LABELS: WORDS"
};

/// Why a child that should have reached a cluster gave nothing: "not reached: kubectl exited 1: WORDS", "answered
/// nothing: ...". Its output is empty or does not count.
std::string unreached_words(const ChildOutput& output, std::int64_t timeout_ns);

/// The names in an answer to `kubectl get pods --output=name`: "pod/NAME" lines. What is no name is left out.
std::vector<PodTarget> parse_pod_names(const std::string& space, std::string_view text);

/// What a selection comes to: named pods first, then those of the lists in their order.
void choose(const std::vector<PodTarget>& found, std::size_t most, ChosenPods& chosen);

/// Asks for the Running pods of all labels at the same time, within the bound. `kubectl` is a path.
ChosenPods choose_pods(const TenantOptions& options, const std::string& kubectl, const ChildBound& bound);

}  // namespace cozy
