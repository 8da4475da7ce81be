#include "collector/report/shell_frame.hpp"

#include <array>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// What stands between `open` and `close` behind each place where `open` does, from the last one on, until one
/// is accepted. It may follow data on the same line, where those were cut.
template <class Parse>
auto find_last(std::string_view text, std::string_view open, std::string_view close, Parse parse)
    -> decltype(parse(std::string_view())) {
  constexpr std::size_t k_longest = 100;
  std::size_t at = text.size();
  while (at != 0 && (at = text.rfind(open, at - 1)) != std::string_view::npos) {
    const std::string_view behind = text.substr(at + open.size(), k_longest);
    const std::size_t end = behind.find(close);
    if (end == std::string_view::npos) continue;
    if (auto found = parse(behind.substr(0, end))) return found;
  }
  return std::nullopt;
}

std::optional<ShellStamps> parse_stamps(std::string_view words) {
  constexpr std::uint64_t k_latest_s = 4'000'000'000;  // the year 2096
  const auto list = split_words(words);
  if (list.size() != 3 || list[1] != "to") return std::nullopt;
  const auto from = parse_u64(list[0]);
  const auto to = parse_u64(list[2]);
  if (!from || !to || *from == 0 || *from > k_latest_s || *to > k_latest_s) return std::nullopt;
  const auto stamp = [](std::uint64_t s) { return Stamp{0, static_cast<std::int64_t>(s) * k_ns_per_second}; };
  return ShellStamps{stamp(*from), stamp(*to)};
}

std::optional<int> parse_exit_code(std::string_view words) {
  const auto code = parse_u64(words);
  return code && *code < 256 ? std::optional(static_cast<int>(*code)) : std::nullopt;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::array<std::pair<std::string_view, ShellStatement::Word>, 3> k_words{{
    {"incomplete", ShellStatement::Word::incomplete},
    {"unavailable", ShellStatement::Word::unavailable},
    {"unknown", ShellStatement::Word::unknown},
}};

}  // namespace

std::optional<ShellStamps> find_shell_stamps(std::string_view text) {
  return find_last(text, "[read attempted from ", " epoch seconds]", parse_stamps);
}

std::optional<int> find_shell_exit_code(std::string_view text) {
  return find_last(text, "[capture exit code: ", "]", parse_exit_code);
}

std::string exit_code_words(int code) {
  const std::string number = "exit code " + std::to_string(code);
  switch (code) {
    case 0:
      return number;
    case 124:
      return number + ": a bound fired, or the reader itself ended so";
    case 125:
      return number + ": the bound could not be set up";
    case 126:
      return number + ": the reader could not be executed";
    case 127:
      return number + ": the reader was not found";
    case 137:
      return number + ": SIGKILL, by the grace period or by anybody";
    default:
      return code > 128 ? number + ": signal " + std::to_string(code - 128) : number;
  }
}

std::optional<ShellStatement> parse_statement(std::string_view line) {
  constexpr std::size_t k_longest_reason = 300;
  const std::size_t colon = line.find(':');
  // A bracket before the colon: a sentence of the legend, perhaps behind data that were cut.
  if (colon == std::string_view::npos || line.find('[') < colon) return std::nullopt;
  const std::string_view before = trim(line.substr(0, colon));
  for (const auto& [name, word] : k_words) {
    // Data that were cut may stand directly before it: "cpu7 120 3unavailable:".
    if (!before.ends_with(name)) continue;
    if (before.size() > name.size() && is_letter(before[before.size() - name.size() - 1])) continue;
    return ShellStatement{word, make_line(trim(line.substr(colon + 1)).substr(0, k_longest_reason))};
  }
  return std::nullopt;
}

}  // namespace cozy
