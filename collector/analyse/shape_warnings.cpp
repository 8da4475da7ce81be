#include "collector/analyse/shape_warnings.hpp"

#include <cstddef>
#include <map>
#include <string_view>

#include "collector/analyse/cpu_list.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

/// How many CPUs: by the online list, else by the rows of /proc/stat; empty where neither says.
std::string cpu_count(const Analysis& analysis) {
  const auto online = parse_cpu_list(analysis.shape_fact("cpus-online"));
  if (online) return std::to_string(online->size());
  if (!analysis.runner || !analysis.runner->container_view.empty() || analysis.runner->cpus.empty()) return "";
  return std::to_string(analysis.runner->cpus.size());
}

/// The vCPU threads of each node that has a process, whatever became of it.
std::map<std::string, std::size_t> vcpus_of(const Analysis& analysis) {
  std::map<std::string, std::size_t> vcpus;
  for (const NodeBudget& node : analysis.nodes) {
    // A process without a node's name has another number on each machine.
    if (node.state != NodeState::no_process && !node.anonymous)
      vcpus[node.name] = node.vcpus.size() + node.vcpus_unpaired;
  }
  return vcpus;
}

std::size_t node_count(const Analysis& analysis) {
  std::size_t count = 0;
  for (const NodeBudget& node : analysis.nodes) count += node.state == NodeState::no_process ? 0 : 1;
  return count;
}

class Warnings {
 public:
  void fact(std::string_view name, const std::string& green, const std::string& red) {
    if (green.empty() || red.empty()) {
      unknown_.emplace_back(name);
    } else if (green != red) {
      list_.push_back("the machines differ in " + std::string(name) + ": " + escape(green) + " and " + escape(red));
    }
  }

  void nodes(const Analysis& green, const Analysis& red) {
    const std::size_t first = node_count(green);
    const std::size_t second = node_count(red);
    fact("nodes", first == 0 ? "" : std::to_string(first), second == 0 ? "" : std::to_string(second));
    const auto vcpus = vcpus_of(green);
    for (const auto& [node, count] : vcpus_of(red)) {
      const auto found = vcpus.find(node);
      const bool known = found != vcpus.end() && found->second > 0 && count > 0;
      if (known) fact("vCPUs of " + escape(node), std::to_string(found->second), std::to_string(count));
    }
  }

  std::vector<std::string> take() {
    if (!unknown_.empty()) {
      list_.push_back("not known of both machines, so that they may differ: " + join(unknown_, ", "));
    }
    return std::move(list_);
  }

 private:
  std::vector<std::string> list_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::vector<std::string> shape_warnings(const Analysis& green, const Analysis& red) {
  Warnings warnings;
  warnings.fact("CPUs", cpu_count(green), cpu_count(red));
  warnings.fact("CPU model", green.shape_fact("cpu-model"), red.shape_fact("cpu-model"));
  warnings.fact("kernel", green.shape_fact("kernel-release"), red.shape_fact("kernel-release"));
  warnings.nodes(green, red);
  return warnings.take();
}

}  // namespace cozy
