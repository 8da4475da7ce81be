#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace cozy {

namespace {

/// Length of the valid UTF-8 sequence at the front of text, or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!tail(1) || !tail(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (first == 0xed && byte(1) > 0x9f) return 0;  // surrogate
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

/// Valid UTF-8 that still may not stand in one line of text: C1 controls with NEL, the line and paragraph
/// separators (U+2028, U+2029), what changes the direction of text (U+061C, U+200E, U+200F, U+202A to
/// U+202E, U+2066 to U+2069), and what nobody can see (U+200B to U+200D, U+2060 to U+2064, U+FEFF).
bool breaks_a_line(std::string_view sequence) {
  if (sequence.size() == 2) {
    return sequence == "\xd8\x9c" || (sequence[0] == '\xc2' && static_cast<unsigned char>(sequence[1]) < 0xa0);
  }
  if (sequence == "\xef\xbb\xbf") return true;  // U+FEFF
  if (sequence.size() != 3 || sequence[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(sequence[1]);
  const auto third = static_cast<unsigned char>(sequence[2]);
  if (second == 0x80) return (third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && ((third >= 0xa0 && third <= 0xa4) || (third >= 0xa6 && third <= 0xa9));
}

void append_hex(std::string& out, unsigned char byte) {
  static constexpr std::string_view k_digits = "0123456789abcdef";
  out += "\\x";
  out += k_digits[byte >> 4U];
  out += k_digits[byte & 0xfU];
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  lines.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = line.find_first_of(" \t", at);
    words.push_back(line.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = end;
  }
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.front() == '+') return std::nullopt;
  return parse_whole<std::uint64_t>(text);
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  if (text.empty() || text.front() == '+') return std::nullopt;
  return parse_whole<std::int64_t>(text);
}

std::optional<std::string_view> after_prefix(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

std::optional<std::string_view> between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t start = text.find(open);
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start + open.size());
  const std::size_t end = text.find(close);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

namespace {

/// How many of the first bytes stay as they are whatever stands behind them: nearly all of most texts.
std::size_t plain_bytes(std::string_view bytes, bool backslashes) {
  const auto is_special = [&](char c) { return c < ' ' || c > '~' || (backslashes && c == '\\'); };
  return static_cast<std::size_t>(std::find_if(bytes.begin(), bytes.end(), is_special) - bytes.begin());
}

std::string escape_bytes(std::string_view bytes, bool backslashes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t plain = plain_bytes(bytes, backslashes);
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const std::size_t length = utf8_length(bytes);
    const auto first = static_cast<unsigned char>(bytes.front());
    const std::string_view sequence = bytes.substr(0, length == 0 ? 1 : length);
    const bool control = length == 1 && (first < 0x20 || first == 0x7f || (backslashes && first == '\\'));
    if (length == 0 || control || breaks_a_line(sequence)) {
      for (const char c : sequence) append_hex(out, static_cast<unsigned char>(c));
    } else {
      out += sequence;
    }
    bytes.remove_prefix(sequence.size());
  }
  return out;
}

}  // namespace

std::string escape(std::string_view bytes) { return escape_bytes(bytes, true); }

std::string make_line(std::string_view words) { return escape_bytes(words, false); }

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const int high = hex_digit(text[i + 2]);
      const int low = hex_digit(text[i + 3]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string errno_name(int code) {
  const char* name = strerrorname_np(code);
  return name != nullptr ? std::string(name) : "errno " + std::to_string(code);
}

std::string errno_text(int code) {
  const char* words = strerrordesc_np(code);
  if (words == nullptr) return errno_name(code);
  return errno_name(code) + " (" + words + ")";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "?";
  char buffer[400];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals);
  return error == std::errc{} ? std::string(buffer, end) : std::string("?");
}

}  // namespace cozy
