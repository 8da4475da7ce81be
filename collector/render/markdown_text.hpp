#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cozy {

/// Words as markdown that shows them and nothing else: no table cell, code, link, image, heading, emphasis,
/// HTML, mention or command of a CI runner comes of them, wherever in a line they are put but at its begin.
/// Bytes from outside in them are escaped already.
std::string markdown_text(std::string_view escaped_words);

/// The same for raw bytes.
std::string markdown_bytes(std::string_view bytes);

/// "| a | b |" of cells that are markdown.
std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace cozy
