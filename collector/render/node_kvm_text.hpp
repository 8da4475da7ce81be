#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// A small bar chart of plain characters.
struct BarChart {
  std::string heading;             ///< neutral text
  std::vector<std::string> lines;  ///< labels, counts and bars: no byte from outside
};

/// The halts of a node that ended in the window, by their length; none where they are not known or none ended.
std::optional<BarChart> halt_chart(const NodeBudget& node);

/// What KVM holds of a node's VM at the moment of each sample and what is no rate: "srv1 (vm 894-12): pages_4k
/// 512 -> 514, pages_2m 7". Empty where there is none. Neutral text.
std::string vm_values_text(const NodeBudget& node);

/// The values of one heading, as "vm 894-12".
struct ScopeValues {
  std::string scope;  ///< raw bytes
  std::vector<FieldValue> values;
};

/// Where sandbox-kvm-exits holds gauges alone: what they were, in the order of the capture.
std::vector<ScopeValues> kvm_gauges(const Analysis& analysis);

/// The same as vm_values_text() of the VMs that are tied to no node, and of a capture that holds gauges alone.
/// At most a few lines.
std::vector<std::string> other_vm_values(const Analysis& analysis);

}  // namespace cozy
