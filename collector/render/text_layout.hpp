#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text in columns of a terminal. The text is one line of valid UTF-8.
namespace cozy {

/// Columns that it takes: 2 for a wide character, 0 for a mark that joins the one before it.
std::size_t display_width(std::string_view text);

/// At most that many columns, without half a character; "..." where something was cut.
std::string clipped(std::string_view text, std::size_t columns);

/// Broken at blanks into lines of at most that many columns; a longer word stands alone, whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Lines of cells, each column as wide as its widest cell, two blanks between them. The first column is
/// aligned left, the others right, and so is the last where `last_left` says.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows, bool last_left);

/// The same with every column aligned left.
std::vector<std::string> aligned_left(const std::vector<std::vector<std::string>>& rows);

}  // namespace cozy
