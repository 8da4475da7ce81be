#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

/// Reads the folders of fixtures/cases/: input files, context.txt, expect.txt. A line of expect.txt is
/// "key = value", a number is meant to the digits given, "none" and "absent" are words.
namespace cozy::cases {

inline std::filesystem::path folder(const std::string& id) {
  return std::filesystem::path(COZY_FIXTURES) / "cases" / id;
}

inline std::string file(const std::string& id, const std::string& name) {
  std::ifstream stream(folder(id) / name, std::ios::binary);
  INFO(id << "/" << name);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

inline Pairs key_values(const std::string& text) {
  Pairs pairs;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find(" = ");
    if (line.empty() || line.front() == '#' || equals == std::string_view::npos) continue;
    pairs.emplace_back(trim(line.substr(0, equals)), trim(line.substr(equals + 3)));
  }
  return pairs;
}

inline std::optional<std::string> context(const std::string& id, const std::string& key) {
  for (const auto& [name, value] : key_values(file(id, "context.txt"))) {
    if (name == key) return value;
  }
  return std::nullopt;
}

inline double wall_seconds(const std::string& id) { return std::stod(context(id, "wall_seconds").value_or("10")); }

/// Two reads of no width, exactly wall_seconds apart.
inline ReadSpan span_at(double seconds) {
  const auto ns = static_cast<std::int64_t>(std::llround(seconds * 1e9));
  return {Stamp{ns, 1755760000 * k_ns_per_second + ns}, Stamp{ns, 1755760000 * k_ns_per_second + ns}};
}

inline ReadSpan first_read() { return span_at(1000); }
inline ReadSpan second_read(const std::string& id) { return span_at(1000 + wall_seconds(id)); }

/// What the code under test says for a key.
struct Answer {
  std::string text;
  std::optional<double> number;

  Answer(std::string words) : text(std::move(words)) {}
  Answer(const char* words) : text(words) {}
  Answer(std::string_view words) : text(words) {}
  Answer(double value) : text(fixed(value, 6)), number(value) {}
  Answer(std::uint64_t value) : text(std::to_string(value)), number(static_cast<double>(value)) {}
  template <class Number>
  Answer(const std::optional<Number>& value) : Answer(value ? Answer(*value) : Answer("none")) {}
};

inline std::optional<double> number_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("-.0123456789") != std::string::npos) return std::nullopt;
  return std::stod(text);
}

/// To the digits given, plus or minus half of the last.
inline bool matches(const std::string& expected, const Answer& answer) {
  const auto number = number_of(expected);
  if (!number || !answer.number) return expected == answer.text;
  const std::size_t point = expected.find('.');
  const int digits = point == std::string::npos ? 0 : static_cast<int>(expected.size() - point - 1);
  if (digits == 0) return *number == *answer.number || std::abs(*number - *answer.number) < 1e-6;
  return std::abs(*number - *answer.number) <= 0.5 * std::pow(10.0, -digits) + 1e-9;
}

/// True when the words stand in the text as a whole token: 12.3 is not in 112.35. A long digit string
/// that begins every wrapped 64-bit number may go on.
inline bool has_token(const std::string& text, const std::string& token) {
  const auto part_of_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const bool prefix = token == "1844674407";
  for (std::size_t at = text.find(token); at != std::string::npos; at = text.find(token, at + 1)) {
    const std::size_t end = at + token.size();
    const bool begins = at == 0 || !(part_of_word(text[at - 1]) || text[at - 1] == '.');
    const bool goes_on = end < text.size() &&
                         (part_of_word(text[end]) ||
                          (text[end] == '.' && end + 1 < text.size() && text[end + 1] >= '0' && text[end + 1] <= '9'));
    if (begins && (prefix || !goes_on)) return true;
  }
  return false;
}

inline void check_never_in(const std::string& output, const std::string& tokens) {
  for (const std::string_view token : split_words(tokens)) {
    INFO("never: " << token << "\n" << output);
    CHECK_FALSE(has_token(output, std::string(token)));
  }
}

/// Asks for every key of the case. One that neither `answer` knows nor `elsewhere` lists fails the test.
inline void check_case(const std::string& id, const std::function<std::optional<Answer>(const std::string&)>& answer,
                       const std::function<std::string()>& output, const std::set<std::string>& elsewhere = {}) {
  for (const auto& [key, expected] : key_values(file(id, "expect.txt"))) {
    if (elsewhere.contains(key)) continue;
    if (key == "never.in.output") {
      check_never_in(output(), expected);
      continue;
    }
    const auto said = answer(key);
    INFO(id << ": " << key << " = " << expected << ", said: " << (said ? said->text : "(no such key)"));
    CHECK((said && matches(expected, *said)));
  }
}

}  // namespace cozy::cases
