#include "collector/render/json.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"
#include "tests/render/json_schema.hpp"

namespace cozy::fuzz {

namespace {

using Json = nlohmann::json;

/// collector/render/analysis.schema.json: no share above 1, no unknown key.
const Json& schema() {
  static const Json k_schema = [] {
    std::ifstream file(COZY_SCHEMA);
    return Json::parse(file, nullptr, false);
  }();
  require(k_schema.is_object(), "the schema is there");
  return k_schema;
}

/// The library writes null for a number that is not finite.
void require_no_null(const Json& value) {
  require(!value.is_null(), "JSON holds no null");
  if (!value.is_structured()) return;
  for (const Json& member : value) require_no_null(member);
}

}  // namespace

void json(std::string_view bytes) {
  const std::string text = to_json(analysis_of_sections(bytes));
  require_harmless_text(text);
  require(text.find("::") == std::string::npos && text.find('<') == std::string::npos, "JSON commands nobody");
  const Json value = Json::parse(text, nullptr, false);
  require_for(value.is_object(), "JSON can be parsed", text);
  require_no_null(value);
  const std::vector<std::string> faults = json_schema::Validator(schema()).faults(value);
  require_for(faults.empty(), "JSON is as its schema says", faults.empty() ? "" : faults.front());
}

}  // namespace cozy::fuzz
