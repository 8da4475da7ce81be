#include "tests/fuzz/fuzz.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "probes/text.hpp"

namespace cozy::fuzz {

namespace {

/// GitHub's runner obeys "::NAME::" behind any white space, and "##[NAME]" anywhere in a line.
bool is_runner_command(std::string_view line) {
  static constexpr std::array<std::string_view, 7> k_spaces{
      " ", "\t", "\xc2\xa0", "\xe2\x80\x83", "\xe2\x80\x8b", "\xe3\x80\x80", "\xef\xbb\xbf"};
  if (line.find("##[") != std::string_view::npos) return true;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : k_spaces) {
      if (!line.starts_with(space)) continue;
      line.remove_prefix(space.size());
      found = true;
    }
  }
  return line.starts_with("::");
}

}  // namespace

void require(bool holds, std::string_view words) { require_for(holds, words, {}); }

void require_for(bool holds, std::string_view words, std::string_view shown) {
  if (holds) return;
  const std::string line = "fuzz: it does not hold that " + std::string(words) +
                           (shown.empty() ? "" : ": \"" + escape(shown.substr(0, 2000)) + "\"") + "\n";
  std::fputs(line.c_str(), stderr);
  std::abort();
}

void require_harmless_line(std::string_view line) {
  require_for(make_line(line) == line, "a line holds no control byte and is valid UTF-8", line);
}

void require_harmless_text(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    require_harmless_line(line);
    require_for(!is_runner_command(line), "no line is a command to a CI runner", line);
  }
}

}  // namespace cozy::fuzz
