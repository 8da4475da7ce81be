#pragma once

#include <string>
#include <vector>

#include "collector/analyse/compare.hpp"
#include "collector/render/format.hpp"
#include "collector/render/json_object.hpp"

namespace cozy {

/// Two reports, snapshot by snapshot.
struct ReportComparison {
  std::string green_path;
  std::string red_path;
  std::vector<std::string> notes;  ///< what was not compared and why, escaped
  std::vector<Comparison> snapshots;
};

/// "schema": "cozybracket.comparison/1" in JSON. A number that a side lacks is absent, never 0.
std::string render(const ReportComparison& comparison, Format format);

/// What it is in JSON, to be a part of something else.
JsonObject comparison_json(const ReportComparison& comparison);

}  // namespace cozy
