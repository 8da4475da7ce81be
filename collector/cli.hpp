#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/policy/pod_cpu.hpp"
#include "collector/render/format.hpp"
#include "collector/run/sampler.hpp"
#include "collector/run/tenant_sample.hpp"

/// The command line and the environment. The only user of CLI11.
namespace cozy {

struct PolicyOptions {
  PodCpu pod;
  PodKnobs knobs;      ///< what comes of it
  bool audit = false;  ///< the live nodes of the sandbox, too
};

struct Invocation {
  enum class What { run, sample, watch_start, watch_stop, pack, analyze, compare, policy, doctor, probe };
  What what = What::run;
  SampleOptions options;
  TenantOptions tenants;  ///< sample
  /// run, pack: where the archive goes, "" for <report-dir>.tgz; analyze, compare: the answer, "" for stdout
  std::string output;
  int sample = 1;                              ///< sample
  bool once = false;                           ///< sample: a sample 2 of this bracket that is there already is kept
  bool summary = true;                         ///< sample: behind sample 2
  std::string probe;                           ///< probe
  std::vector<std::string> command;            ///< run
  std::int64_t interval_ns = k_ns_per_second;  ///< run, watch: between the ticks of the timeline; 0 for none
  std::int64_t longest_ns = 7200 * k_ns_per_second;  ///< watch
  std::optional<pid_t> while_pid;     ///< watch: it ends with that process; 0 for none, unset for the default
  std::vector<std::string> reports;   ///< analyze: one; compare: the green and the red; none to explain alone
  std::string one_snapshot;           ///< analyze: "" for all of them
  Format format = Format::text;       ///< analyze, compare, policy
  bool explain = false;               ///< analyze
  PolicyOptions policy;               ///< policy
  std::vector<std::string> warnings;  ///< environment variables that were ignored, and why

  [[nodiscard]] std::string archive() const;
};

/// What the command line came to: an invocation, or a text to print and a status to end with.
struct Parsed {
  std::optional<Invocation> invocation;
  std::string text;
  bool to_stderr = false;
  int status = 0;
};

/// Options beat the environment, which beats the defaults. A bad option is a usage error that names the
/// option, its value and the way out; a bad variable is a warning and the default.
Parsed parse_command_line(const std::vector<std::string>& arguments);

}  // namespace cozy
