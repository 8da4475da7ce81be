#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// The counters of both samples as OpenMetrics text: cAdvisor's names for the nodes' cgroups, and the project's own
/// for vCPUs, the runner's CPUs and its pressure. Each counter stands with its raw value and the whole second at
/// which it was read, once for each sample that has it; nothing is divided here. A metric's name carries its
/// "_total" in the HELP and TYPE lines too, as the Prometheus text format wants it.
std::string to_openmetrics(const ReportAnalysis& report);

}  // namespace cozy
