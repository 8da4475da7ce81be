#pragma once

#include <string>
#include <vector>

#include "collector/render/comparison.hpp"
#include "collector/render/json_object.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// One report of a page; of a comparison there are two, the green first.
struct PageReport {
  std::string label;  ///< "", "green", "red"
  ReportAnalysis analysis;
};

/// The data of a page, "schema": "cozybracket.page/1": the reports as JSON has them, their timelines as lists with
/// one number a step, and what their captures say.
///
/// A share is a whole number of thousandths, CPUs have three digits, seconds are from the begin of the timeline.
/// null in a list is absent, never 0, and a list that would hold nothing else is left out.
JsonObject page_data(const std::string& program, const std::vector<PageReport>& reports,
                     const ReportComparison* comparison, const RenderOptions& options);

}  // namespace cozy
