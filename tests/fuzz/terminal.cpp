#include "collector/render/terminal.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

namespace {

std::string without_colour(std::string_view text) {
  std::string plain;
  for (;;) {
    const std::size_t at = text.find('\x1b');
    plain += text.substr(0, at);
    if (at == std::string_view::npos) return plain;
    const std::size_t end = text.find('m', at);
    require(end != std::string_view::npos && end - at < 8, "a colour is a short sequence");
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void terminal(std::string_view bytes) {
  const ReportAnalysis report = analysis_of_sections(bytes);
  RenderOptions options;
  options.width = 40 + bytes.size() % 100;
  const std::string text = to_terminal(report, options);
  require_harmless_text(text);
  options.colour = true;
  require_for(without_colour(to_terminal(report, options)) == text, "colour carries nothing", text);
}

}  // namespace cozy::fuzz
