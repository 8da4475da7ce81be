#include "collector/render/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

namespace {

/// In JSON these can stand inside strings alone, where an escape means the same character.
std::string disarmed(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with("::")) {
      out += ":\\u003a";
      i += 1;
    } else if (rest.starts_with("##[")) {
      out += "#\\u0023[";
      i += 2;
    } else if (json[i] == '<') {
      out += "\\u003c";
    } else {
      out += json[i];
    }
  }
  return out;
}

/// As make_line() does it, with line ends and tabs left where they are.
std::string made_lines(std::string_view raw) {
  constexpr std::string_view k_kept = "\n\t";
  std::string out;
  while (!raw.empty()) {
    const std::size_t end = std::min(raw.find_first_of(k_kept), raw.size());
    out += make_line(raw.substr(0, end));
    if (end < raw.size()) out += raw[end];
    raw.remove_prefix(std::min(end + 1, raw.size()));
  }
  return out;
}

nlohmann::ordered_json number_json(double number, double steps) {
  constexpr double k_exact = 9e15;  // up to here a double knows every whole number
  const double scaled = std::round(number * steps);
  const double rounded = scaled / steps;
  if (!std::isfinite(rounded)) return number;
  if (std::abs(rounded) < k_exact && rounded == std::trunc(rounded)) return static_cast<std::int64_t>(rounded);
  return rounded;
}

}  // namespace

struct JsonObject::Content {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

JsonObject::JsonObject() : content_(std::make_unique<Content>()) {}
JsonObject::JsonObject(JsonObject&& other) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject&& other) noexcept = default;
JsonObject::~JsonObject() = default;

std::size_t JsonObject::size() const { return content_->json.size(); }

bool JsonObject::contains(const std::string& key) const { return content_->json.contains(key); }

void JsonObject::text(const std::string& key, std::string_view words) {
  if (!words.empty()) content_->json[key] = make_line(words);
}

void JsonObject::texts(const std::string& key, const std::vector<std::string>& words) {
  for (const std::string& entry : words) content_->json[key].push_back(make_line(entry));
}

void JsonObject::bytes(const std::string& key, std::string_view raw) { text(key, escape(raw)); }

void JsonObject::number(const std::string& key, const std::optional<double>& number, double steps) {
  if (!number || !std::isfinite(*number)) return;
  const double rounded = std::round(*number * steps) / steps;
  content_->json[key] = std::isfinite(rounded) ? rounded + 0.0 : *number;  // -0.0 becomes 0.0
}

void JsonObject::counts(const std::string& key, const std::vector<std::uint64_t>& counts) {
  if (!counts.empty()) content_->json[key] = counts;
}

void JsonObject::count(const std::string& key, const std::optional<std::uint64_t>& count) {
  if (count) content_->json[key] = *count;
}

void JsonObject::integer(const std::string& key, std::int64_t integer) { content_->json[key] = integer; }

void JsonObject::boolean(const std::string& key, const std::optional<bool>& answer) {
  if (answer) content_->json[key] = *answer;
}

void JsonObject::mark(const std::string& key, bool holds) {
  if (holds) content_->json[key] = true;
}

void JsonObject::value(const std::string& key, const std::optional<Value>& value) {
  if (!value) return;
  if (const auto* count = std::get_if<std::uint64_t>(&*value)) content_->json[key] = *count;
  if (const auto* integer = std::get_if<std::int64_t>(&*value)) content_->json[key] = *integer;
  if (const auto* word = std::get_if<std::string>(&*value)) bytes(key, *word);
}

void JsonObject::object(const std::string& key, JsonObject object) {
  if (object.size() > 0) content_->json[key] = std::move(object.content_->json);
}

void JsonObject::numbers(const std::string& key, const std::vector<std::optional<double>>& numbers, double steps) {
  auto list = nlohmann::ordered_json::array();
  bool known = false;
  for (const std::optional<double>& number : numbers) {
    const bool is_number = number && std::isfinite(*number);
    list.push_back(is_number ? number_json(*number, steps) : nlohmann::ordered_json());
    known = known || is_number;
  }
  if (known) content_->json[key] = std::move(list);
}

void JsonObject::indexes(const std::string& key, const std::vector<std::size_t>& indexes) {
  content_->json[key] = indexes;
}

void JsonObject::block(const std::string& key, std::string_view raw) { content_->json[key] = made_lines(raw); }

void JsonObject::objects(const std::string& key, std::vector<JsonObject> objects) {
  auto& array = content_->json[key] = nlohmann::ordered_json::array();
  for (JsonObject& object : objects) array.push_back(std::move(object.content_->json));
}

std::string JsonObject::dump() const {
  return disarmed(content_->json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

std::string JsonObject::dump_line() const {
  return disarmed(content_->json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

std::string json_text(std::string_view words) {
  const nlohmann::ordered_json json = make_line(words);
  return disarmed(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace cozy
