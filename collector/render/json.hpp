#pragma once

#include <string>

#include "collector/render/format.hpp"
#include "collector/render/json_object.hpp"
#include "collector/render/report_analysis.hpp"

namespace cozy {

/// The analysis as JSON, "schema": "cozybracket.analysis/1", as analysis.schema.json says it: keys in a fixed
/// order, what is absent left out, numbers finite. Bytes from outside are escaped, so that the text is valid
/// UTF-8; "::", "##[" and "<" stand in it as \u escapes, so that neither a CI runner nor a page acts on it.
std::string to_json(const ReportAnalysis& report, const RenderOptions& options = {});

/// The same, to be a part of something else.
JsonObject analysis_json(const ReportAnalysis& report, const RenderOptions& options = {});

}  // namespace cozy
