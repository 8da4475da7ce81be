#include "collector/render/markdown_text.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/text_layout.hpp"
#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

void require_layout(const std::string& line) {
  constexpr std::size_t k_columns = 20;
  require(display_width(clipped(line, k_columns)) <= k_columns, "what is clipped fits");
  require_harmless_line(clipped(line, k_columns));
  for (const std::string& part : wrapped(line, k_columns)) {
    require_harmless_line(part);
    const bool one_word = part.find(' ') == std::string::npos;
    require_for(one_word || display_width(part) <= k_columns, "what is wrapped fits", part);
  }
}

}  // namespace

void outside_text(std::string_view bytes) {
  const std::string escaped = escape(bytes);
  require_harmless_line(escaped);
  require(unescape(escaped) == bytes, "unescape() gives back what escape() was given");
  require(make_line(escaped) == escaped, "a line stays as it is");
  const std::string line = make_line(bytes);
  require(make_line(line) == line, "a line stays as it is");

  require_harmless_text(neutral(bytes));
  require(unescape(neutral(bytes)) == bytes, "unescape() gives back what neutral() was given");
  require(neutral_escaped(escaped) == neutral(bytes), "neutral() is escape() and then neutral_escaped()");
  require_harmless_text(markdown_text(escaped));
  require_harmless_text(markdown_bytes(bytes));
  const std::string message = annotation_message(neutral(bytes)) + annotation_property(neutral(bytes));
  require_harmless_line(message);
  require_layout(neutral(bytes));
}

}  // namespace cozy::fuzz
