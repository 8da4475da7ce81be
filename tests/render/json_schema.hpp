#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

/// As much of JSON Schema (draft 2020-12) as analysis.schema.json uses. A keyword that is not known is a fault of
/// the schema, and so is a property of ours that the schema does not describe: new keys are to be written down.
namespace json_schema {

using Json = nlohmann::json;

class Validator {
 public:
  explicit Validator(const Json& schema) : root_(schema) {}

  /// One line per fault, with its place.
  std::vector<std::string> faults(const Json& value) {
    faults_.clear();
    check(value, root_, "");
    return faults_;
  }

 private:
  void fault(const std::string& place, const std::string& words) {
    faults_.push_back((place.empty() ? "/" : place) + ": " + words);
  }

  static bool is_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void check(const Json& value, const Json& schema, const std::string& place) {
    for (const auto& [keyword, rule] : schema.items()) check_keyword(value, keyword, rule, place);
    if (value.is_object()) check_object(value, schema, place);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) check(value[i], schema["items"], place + "/" + std::to_string(i));
    }
  }

  void check_keyword(const Json& value, const std::string& keyword, const Json& rule, const std::string& place) {
    if (keyword == "$ref") {
      check(value, root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), place);
    } else if (keyword == "type") {
      const std::vector<std::string> types =
          rule.is_array() ? rule.get<std::vector<std::string>>() : std::vector<std::string>{rule.get<std::string>()};
      const bool fits = std::any_of(types.begin(), types.end(), [&](const auto& type) { return is_type(value, type); });
      if (!fits) fault(place, "is not of type " + rule.dump());
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end())
        fault(place, value.dump() + " is none of " + rule.dump());
    } else if (keyword == "const") {
      if (value != rule) fault(place, value.dump() + " is not " + rule.dump());
    } else if (keyword == "minimum") {
      if (value.is_number() && value.get<double>() < rule.get<double>()) fault(place, value.dump() + " is too small");
    } else if (keyword == "maximum") {
      if (value.is_number() && value.get<double>() > rule.get<double>()) fault(place, value.dump() + " is too large");
    } else if (keyword == "minLength") {
      if (value.is_string() && value.get<std::string>().size() < rule.get<std::size_t>()) fault(place, "is too short");
    } else if (keyword == "minItems") {
      if (value.is_array() && value.size() < rule.get<std::size_t>()) fault(place, "has too few items");
    } else if (!is_known(keyword)) {
      fault(place, "the schema has a keyword that this test does not know: " + keyword);
    }
  }

  static bool is_known(const std::string& keyword) {
    static const std::vector<std::string> k_others{"$schema",  "$defs",      "title", "description",
                                                   "required", "properties", "items", "additionalProperties"};
    return std::find(k_others.begin(), k_others.end(), keyword) != k_others.end();
  }

  void check_object(const Json& value, const Json& schema, const std::string& place) {
    for (const Json& key : schema.value("required", Json::array())) {
      if (!value.contains(key.get<std::string>())) fault(place, "lacks " + key.dump());
    }
    if (!schema.contains("properties") && !schema.contains("additionalProperties")) return;
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, member] : value.items()) {
      if (properties.contains(key)) {
        check(member, properties[key], place + "/" + key);
      } else if (schema.contains("additionalProperties")) {
        check(member, schema["additionalProperties"], place + "/" + key);
      } else {
        fault(place, "has a key that the schema does not describe: " + key);
      }
    }
  }

  const Json& root_;
  std::vector<std::string> faults_;
};

}  // namespace json_schema
