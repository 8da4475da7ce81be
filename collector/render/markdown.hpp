#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// One section per snapshot, the worst first: the verdict as its heading, the runner and the nodes as tables, the
/// findings, and what is open. Every line is whole in itself, so that the text can be cut between lines.
std::string to_markdown(const ReportAnalysis& report, const RenderOptions& options = {});

}  // namespace cozy
