#include "collector/render/neutral.hpp"

#include <array>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// White space in the Unicode sense, which the runner takes off before it looks for "::", and marks
/// without width that a later runner could. Line ends among it are escaped already.
constexpr std::array<std::string_view, 23> k_white_space{" ",
                                                         "\xc2\xa0",
                                                         "\xe1\x9a\x80",
                                                         "\xe1\xa0\x8e",
                                                         "\xe2\x80\x80",
                                                         "\xe2\x80\x81",
                                                         "\xe2\x80\x82",
                                                         "\xe2\x80\x83",
                                                         "\xe2\x80\x84",
                                                         "\xe2\x80\x85",
                                                         "\xe2\x80\x86",
                                                         "\xe2\x80\x87",
                                                         "\xe2\x80\x88",
                                                         "\xe2\x80\x89",
                                                         "\xe2\x80\x8a",
                                                         "\xe2\x80\x8b",
                                                         "\xe2\x80\x8c",
                                                         "\xe2\x80\x8d",
                                                         "\xe2\x80\xaf",
                                                         "\xe2\x81\x9f",
                                                         "\xe2\x81\xa0",
                                                         "\xe3\x80\x80",
                                                         "\xef\xbb\xbf"};

std::size_t white_space_length(std::string_view text) {
  std::size_t at = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : k_white_space) {
      if (!text.substr(at).starts_with(space)) continue;
      at += space.size();
      found = true;
    }
  }
  return at;
}

std::string percent_encode(std::string_view text, std::string_view characters) {
  static constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (characters.find(c) == std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += k_digits[byte >> 4U];
      out += k_digits[byte & 0xfU];
    }
  }
  return out;
}

}  // namespace

std::string neutral(std::string_view bytes) {
  constexpr std::string_view k_colons = "::";
  constexpr std::string_view k_hashes = "##[";
  const std::string text = escape(bytes);
  const std::string_view view = text;
  const std::size_t begin = white_space_length(view);
  const std::size_t last = view.rfind(k_colons);

  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < view.size();) {
    // A command needs a second "::" behind its name: the last one is harmless but at the begin.
    if (view.substr(i).starts_with(k_colons) && (i == begin || i < last)) {
      out += ":\\x3a";
      i += k_colons.size();
    } else if (view.substr(i).starts_with(k_hashes)) {
      out += "#\\x23[";
      i += k_hashes.size();
    } else {
      out += view[i];
      ++i;
    }
  }
  return out;
}

std::string neutral_escaped(std::string_view escaped_text) { return neutral(unescape(escaped_text)); }

std::string annotation_message(std::string_view text) { return percent_encode(text, "%\r\n"); }

std::string annotation_property(std::string_view text) { return percent_encode(text, "%\r\n:,"); }

}  // namespace cozy
