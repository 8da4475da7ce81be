#include "collector/report/json_line.hpp"

#include <algorithm>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_deepest = 6;

class Parser {
 public:
  explicit Parser(std::string_view rest) : rest_(rest) {}

  std::optional<JsonValue> whole() {
    auto value = any(0);
    skip_blanks();
    return rest_.empty() ? std::move(value) : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<JsonValue> any(int depth) {
    skip_blanks();
    if (depth > k_deepest || rest_.empty()) return std::nullopt;
    if (rest_.front() == '{') return object(depth);
    if (rest_.front() == '[') return list(depth);
    if (rest_.front() == '"') {
      auto text = string();
      return text ? std::optional(JsonValue{std::move(*text)}) : std::nullopt;
    }
    if (rest_.starts_with("null")) {
      rest_.remove_prefix(4);
      return JsonValue{};
    }
    return number();
  }

  std::optional<JsonValue> number() {
    const std::size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto value = parse_u64(rest_.substr(0, size));
    if (!value) return std::nullopt;
    rest_.remove_prefix(size);
    return JsonValue{*value};
  }

  /// The escapes of what we write: \" and \\; any other is kept as it stands.
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      const bool escaped = c == '\\' && !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\\');
      text += escaped ? rest_.front() : c;
      if (escaped) rest_.remove_prefix(1);
    }
    return std::nullopt;
  }

  std::optional<JsonValue> list(int depth) {
    JsonValue::List items;
    take('[');
    if (take(']')) return JsonValue{std::move(items)};
    do {
      auto item = any(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return JsonValue{std::move(items)};
  }

  std::optional<JsonValue> object(int depth) {
    JsonValue::Object members;
    take('{');
    if (take('}')) return JsonValue{std::move(members)};
    do {
      auto key = string();
      if (!key || !take(':')) return std::nullopt;
      auto value = any(depth + 1);
      if (!value) return std::nullopt;
      members.push_back({std::move(*key), std::move(*value)});
    } while (take(','));
    if (!take('}')) return std::nullopt;
    return JsonValue{std::move(members)};
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::uint64_t> JsonValue::number() const {
  const auto* value = std::get_if<std::uint64_t>(&content);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

const JsonValue::List& JsonValue::list() const {
  static const List k_empty;
  const List* items = std::get_if<List>(&content);
  return items == nullptr ? k_empty : *items;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* members = std::get_if<Object>(&content);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [&](const auto& m) { return m.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

std::optional<std::uint64_t> JsonValue::number(std::string_view key) const {
  const JsonValue* value = find(key);
  return value == nullptr ? std::nullopt : value->number();
}

std::string JsonValue::text(std::string_view key) const {
  const JsonValue* value = find(key);
  return value == nullptr || value->text() == nullptr ? std::string() : *value->text();
}

std::optional<JsonValue> parse_json_line(std::string_view line) { return Parser(line).whole(); }

}  // namespace cozy
