#pragma once

#include "collector/run/tenant_sample.hpp"

namespace cozy {

/// One line for all tenant workers of a sample, and one for each that fell short.
void log_tenants(const SampleOptions& options, const TenantOutcome& outcome, int sample);

}  // namespace cozy
