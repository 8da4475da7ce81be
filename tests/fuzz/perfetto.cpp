#include "collector/render/perfetto.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"
#include "tests/render/trace_format.hpp"

namespace cozy::fuzz {

void perfetto(std::string_view bytes) {
  const std::string text = to_perfetto(analysis_of_sections(bytes));
  require_harmless_text(text);
  require(text.find("::") == std::string::npos && text.find('<') == std::string::npos, "a trace commands nobody");
  const nlohmann::json trace = nlohmann::json::parse(text, nullptr, false);
  require_for(trace.is_object(), "a trace can be parsed", text);
  const std::vector<std::string> faults = trace_format::Checker().faults(trace);
  require_for(faults.empty(), "a trace is as its format says", faults.empty() ? "" : faults.front());
}

}  // namespace cozy::fuzz
