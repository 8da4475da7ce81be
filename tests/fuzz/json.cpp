#include "collector/render/json.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

namespace {

using Json = nlohmann::json;

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
}

}  // namespace cozy::fuzz
