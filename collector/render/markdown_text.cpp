#include "collector/render/markdown_text.hpp"

#include "probes/text.hpp"

namespace cozy {

namespace {

/// The entity of a character that a backslash does not take its meaning from everywhere.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '@':
      return "&commat;";
    default:
      return {};
  }
}

}  // namespace

std::string markdown_text(std::string_view escaped_words) {
  constexpr std::string_view k_meaningful = "\\`*_{}[]#!|~$^";
  const std::string line = make_line(escaped_words);
  const std::string_view view = line;
  std::string out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const std::string_view rest = view.substr(i);
    const std::string_view entity = entity_of(view[i]);
    if (!entity.empty()) {
      out += entity;
    } else if (rest.starts_with("://") || rest.starts_with("::")) {
      out += "&colon;";  // no link of a bare address, and no command
    } else if (rest.starts_with("www.")) {
      out += "www&period;";
      i += 3;
    } else {
      if (k_meaningful.find(view[i]) != std::string_view::npos) out += '\\';
      out += view[i];
    }
  }
  return out;
}

std::string markdown_bytes(std::string_view bytes) { return markdown_text(escape(bytes)); }

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row;
}

}  // namespace cozy
