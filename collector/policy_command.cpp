#include "collector/policy_command.hpp"

#include <string>
#include <string_view>

#include "collector/log.hpp"
#include "collector/policy/audit.hpp"
#include "collector/policy/node_cgroups.hpp"
#include "collector/render/audit_text.hpp"
#include "collector/render/policy_text.hpp"
#include "collector/run/bounded.hpp"
#include "collector/standard_output.hpp"

namespace cozy {

namespace {

constexpr int k_not_as_asked = 1;

/// Begin the text that comes out of the process which looks at the nodes.
constexpr char k_as_asked = 'A';
constexpr char k_differing = 'D';

std::string policy_in_words(const Invocation& invocation) {
  const PolicyOptions& policy = invocation.policy;
  return invocation.format == Format::json ? policy_to_json(policy.pod, policy.knobs)
                                           : policy_to_text(policy.pod, policy.knobs);
}

std::string audit_in_words(const Invocation& invocation) {
  const PolicyOptions& policy = invocation.policy;
  Watchdog watchdog(FileCalls::system(), probe_bounds(invocation.options.read_timeout_ns));
  const ProbeContext context{Root(invocation.options.root), invocation.options.sandbox, invocation.options.nodes,
                             FileCalls::system(), watchdog};
  const Audit found = audit(policy.pod, policy.knobs, read_node_cgroups(context));
  const std::string text = invocation.format == Format::json
                               ? audit_to_json(policy.pod, policy.knobs, found)
                               : policy_to_text(policy.pod, policy.knobs) + audit_to_text(found);
  return (found.as_asked() ? k_as_asked : k_differing) + text;
}

}  // namespace

int policy_command(const Invocation& invocation) {
  std::string text = policy_in_words(invocation);
  int status = 0;
  if (invocation.policy.audit) {
    const auto audited = run_bounded(invocation.options.read_timeout_ns, [&] { return audit_in_words(invocation); });
    if (!audited || audited->empty()) {
      log_line("policy: the audit: " + (audited ? "it did not end" : audited.error().text()));
      return k_not_as_asked;
    }
    status = audited->front() == k_as_asked ? 0 : k_not_as_asked;
    text = audited->substr(1);
  }
  if (print(text)) return status;
  log_line("policy: the answer could not be written: stdout is closed or full");
  return k_not_as_asked;
}

}  // namespace cozy
