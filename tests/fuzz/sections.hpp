#pragma once

#include <string_view>

#include "collector/render/report_analysis.hpp"
#include "collector/report/report.hpp"

namespace cozy::fuzz {

/// A report out of one text: each file is its path behind "@@ " on a line of its own, and then its bytes. So
/// that inputs stay small, more than 64 files are left out.
Report report_of_sections(std::string_view bytes);

/// The same, analysed as the commands do it. What the caller says beside the report is of the size of the text,
/// so that every input is taken the same way again.
ReportAnalysis analysis_of_sections(std::string_view bytes);

}  // namespace cozy::fuzz
