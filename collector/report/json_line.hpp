#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cozy {

struct JsonMember;

/// A value of one line of JSON, of what the timeline is made of: null, whole numbers of 64 bits without a sign,
/// strings, lists, objects.
struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;
  std::variant<std::monostate, std::uint64_t, std::string, List, Object> content;

  [[nodiscard]] std::optional<std::uint64_t> number() const;
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&content); }
  /// Empty for what is no list.
  [[nodiscard]] const List& list() const;
  /// Null for what is no object, or has no such key; the first of several.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// None for every other text: one that is cut, nested deeper than six, or has anything behind its value.
std::optional<JsonValue> parse_json_line(std::string_view line);

}  // namespace cozy
