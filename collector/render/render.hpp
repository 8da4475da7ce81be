#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// Every format but a page, which to_html() makes.
std::string render(const ReportAnalysis& report, Format format, const RenderOptions& options = {});

}  // namespace cozy
