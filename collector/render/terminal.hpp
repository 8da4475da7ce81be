#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// For a person's eyes. The verdict of the worst snapshot is the first line. Colour carries nothing that the
/// characters do not say.
std::string to_terminal(const ReportAnalysis& report, const RenderOptions& options = {});

}  // namespace cozy
