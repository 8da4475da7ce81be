#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

std::string render(const ReportAnalysis& report, Format format, const RenderOptions& options = {});

}  // namespace cozy
