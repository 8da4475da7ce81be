#include "collector/analyse/vm_owners.hpp"

#include <cstdint>
#include <map>
#include <string_view>

#include "collector/analyse/row_index.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

/// "vm 2231-14" and "vm 2231-14 vcpu0": the directory's name; empty for any other scope.
std::string_view vm_of_scope(std::string_view scope) {
  const auto rest = after_prefix(scope, "vm ");
  return rest ? rest->substr(0, rest->find(' ')) : std::string_view();
}

}  // namespace

std::set<std::string, std::less<>> replaced_owners(const Reading& threads_before, const Reading& threads_after) {
  std::set<std::string, std::less<>> owners;
  const SubjectIndex before(threads_before.subjects);
  const SubjectIndex after(threads_after.subjects);
  const auto replaced = [&](const std::string& first_scope, const std::string& second_scope) {
    const Subject* first = before.find(first_scope);
    const Subject* second = after.find(second_scope);
    if (first == nullptr || second == nullptr) return false;
    const bool known = !first->identity.empty() && !second->identity.empty();
    return first_scope != second_scope || (known && first->identity != second->identity);
  };
  for (const Subject& subject : threads_before.subjects) {
    if (subject.scope.starts_with("process ") && replaced(subject.scope, subject.scope)) owners.insert(subject.scope);
  }
  std::map<std::string_view, std::uint64_t> pids;
  for (const NodeEvidence& node : threads_after.nodes) {
    if (node.pid) pids.emplace(node.node, *node.pid);
  }
  for (const NodeEvidence& node : threads_before.nodes) {
    const auto pid = pids.find(node.node);
    if (!node.pid || pid == pids.end()) continue;
    const std::string first = "process " + std::to_string(*node.pid);
    if (replaced(first, "process " + std::to_string(pid->second))) owners.insert(node.node);
  }
  return owners;
}

void add_replaced_vms(const Reading& kvm, const std::set<std::string, std::less<>>& owners, PairRules& rules) {
  std::set<std::string_view> vms;
  for (const Row& row : kvm.rows) {
    const std::string_view vm = vm_of_scope(row.scope);
    if (!vm.empty() && row.field == "node" && owners.contains(value_text(row.value))) vms.insert(vm);
  }
  if (vms.empty()) return;
  for (const Row& row : kvm.rows) {
    if (vms.contains(vm_of_scope(row.scope))) rules.replaced.insert(row.scope);
  }
}

}  // namespace cozy
