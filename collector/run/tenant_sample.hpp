#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/run/sampler.hpp"
#include "collector/run/tenant_capture.hpp"
#include "collector/run/tenant_pods.hpp"

namespace cozy {

struct TenantOutcome {
  std::vector<CaptureOutcome> captures;  ///< one for each pod, by NAMESPACE/POD
  std::vector<std::string> shortfalls;   ///< of the lists of pods, of those that were not asked, of the folder
  bool folder_written = true;            ///< what is said of the sample as a whole
  std::int64_t took_ns = 0;

  [[nodiscard]] bool nothing_written() const;
  [[nodiscard]] bool all_hold_data() const;
};

/// The files of pods, without ".txt": the pod's name, behind its namespace where two pods share the name, and
/// before the container's where it is not compute.
std::vector<std::string> tenant_file_names(const std::vector<PodTarget>& pods);

/// Reads the tenant workers, all at the same time, and writes tenant-thread-cpu/sample-N/POD.txt of each. Returns
/// within twice timeout + grace + 1 s: one for the lists, one for the pods; and the time of the writing.
TenantOutcome take_tenant_sample(const SampleOptions& options, const TenantOptions& tenants, int sample);

}  // namespace cozy
