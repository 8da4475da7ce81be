#include "collector/render/text_layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "probes/text.hpp"

namespace cozy {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// The large blocks: what a name holds, not all of Unicode.
constexpr std::array k_wide{Range{0x1100, 0x115f},   Range{0x2e80, 0x303e},  Range{0x3041, 0xa4cf},
                            Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},  Range{0xfe30, 0xfe6f},
                            Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},  Range{0x1f300, 0x1f64f},
                            Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd}};
constexpr std::array k_joining{Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd},
                               Range{0x064b, 0x065f}, Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff},
                               Range{0x20d0, 0x20ff}, Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}};

template <class Table>
bool is_in(const Table& table, char32_t character) {
  return std::any_of(table.begin(), table.end(),
                     [&](const Range& range) { return character >= range.first && character <= range.last; });
}

std::size_t columns_of(char32_t character) {
  if (is_in(k_joining, character)) return 0;
  return is_in(k_wide, character) ? 2 : 1;
}

/// Takes the first character off.
char32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  length = std::min(length, text.size());
  char32_t character = length == 1 ? first : first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) character = (character << 6U) | (byte(i) & 0x3fU);
  text.remove_prefix(length);
  return character;
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
  const std::size_t own = display_width(cell);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return left ? cell + blanks : blanks + cell;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += columns_of(take_character(text));
  return columns;
}

std::string clipped(std::string_view text, std::size_t columns) {
  constexpr std::string_view k_mark = "...";
  if (display_width(text) <= columns) return std::string(text);
  if (columns <= k_mark.size()) return std::string(k_mark.substr(0, columns));
  std::size_t taken = 0;
  std::string_view rest = text;
  while (true) {
    std::string_view next = rest;
    taken += columns_of(take_character(next));
    if (taken > columns - k_mark.size()) break;
    rest = next;
  }
  return std::string(text.substr(0, text.size() - rest.size())) + std::string(k_mark);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const std::string_view word : split_words(text)) {
    const std::size_t own = display_width(word);
    if (lines.empty() || width + 1 + own > columns) {
      lines.emplace_back(word);
      width = own;
    } else {
      lines.back() += " " + std::string(word);
      width += 1 + own;
    }
  }
  return lines;
}

namespace {

std::vector<std::string> lines_of(const std::vector<std::vector<std::string>>& rows,
                                  const std::function<bool(std::size_t column, std::size_t columns)>& is_left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : "  ") + padded(row[i], widths[i], is_left(i, widths.size()));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows, bool last_left) {
  return lines_of(rows, [&](std::size_t column, std::size_t columns) {
    return column == 0 || (last_left && column + 1 == columns);
  });
}

std::vector<std::string> aligned_left(const std::vector<std::vector<std::string>>& rows) {
  return lines_of(rows, [](std::size_t, std::size_t) { return true; });
}

}  // namespace cozy
