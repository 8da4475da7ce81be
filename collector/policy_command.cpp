#include "collector/policy_command.hpp"

#include <string>

#include "collector/log.hpp"
#include "collector/render/policy_text.hpp"
#include "collector/standard_output.hpp"

namespace cozy {

int policy_command(const Invocation& invocation) {
  const PolicyOptions& policy = invocation.policy;
  const std::string text = invocation.format == Format::json ? policy_to_json(policy.pod, policy.knobs)
                                                             : policy_to_text(policy.pod, policy.knobs);
  if (print(text)) return 0;
  log_line("policy: the answer could not be written: stdout is closed or full");
  return 1;
}

}  // namespace cozy
