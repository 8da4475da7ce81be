#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/reading.hpp"

namespace cozy {

/// In how many steps from one whole number to the next a number is written: the noise of binary fractions is no
/// information.
inline constexpr double k_seconds_steps = 1e9;
inline constexpr double k_share_steps = 1e6;
inline constexpr double k_rate_steps = 1e3;

/// A JSON object whose keys keep the order in which they were put. What is absent is left out, numbers are
/// finite, and texts are valid UTF-8 on one line: bytes from outside are escaped. Hides nlohmann_json.
class JsonObject {
 public:
  JsonObject();
  JsonObject(JsonObject&& other) noexcept;
  JsonObject& operator=(JsonObject&& other) noexcept;
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject();

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool contains(const std::string& key) const;

  /// Words whose outside bytes are escaped already; left out when empty.
  void text(const std::string& key, std::string_view words);
  void texts(const std::string& key, const std::vector<std::string>& words);
  /// Bytes from outside; left out when empty.
  void bytes(const std::string& key, std::string_view raw);
  void number(const std::string& key, const std::optional<double>& number, double steps);
  /// Left out when there is none.
  void counts(const std::string& key, const std::vector<std::uint64_t>& counts);
  void count(const std::string& key, const std::optional<std::uint64_t>& count);
  void integer(const std::string& key, std::int64_t integer);
  void boolean(const std::string& key, const std::optional<bool>& answer);
  /// "true", or left out.
  void mark(const std::string& key, bool holds);
  void value(const std::string& key, const std::optional<Value>& value);
  /// Left out when empty.
  void object(const std::string& key, JsonObject object);
  /// A list with null where a number is absent; left out where all of them are. Whole numbers are written as such.
  void numbers(const std::string& key, const std::vector<std::optional<double>>& numbers, double steps);
  void indexes(const std::string& key, const std::vector<std::size_t>& indexes);
  /// Text of several lines, also when empty: line ends and tabs stay, bytes from outside are escaped line by line.
  void block(const std::string& key, std::string_view raw);
  /// Also when there are none: then that is known.
  void objects(const std::string& key, std::vector<JsonObject> objects);

  /// The text of the whole, with a line end. "::", "##[" and "<" stand in it as \u escapes.
  [[nodiscard]] std::string dump() const;
  /// The same on one line, in ASCII.
  [[nodiscard]] std::string dump_line() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

/// A string of a JSON text, of words whose outside bytes are escaped already; as dump() writes it.
std::string json_text(std::string_view words);

}  // namespace cozy
