#include "collector/render/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/render/json_object.hpp"
#include "collector/render/markdown_text.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/text_layout.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_numbers = 2000;  ///< of the texts; all of them stand in the JSON
constexpr std::size_t k_widest_name = 24;

std::string in_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::share:
      return percent(value);
    case Unit::per_second:
      return (value < 0 ? "-" : "") + rate_text(std::abs(value));
    case Unit::cpus:
      return fixed(value, 2) + " CPUs";
    case Unit::seconds:
      return fixed(value, 3) + " s";
  }
  return fixed(value, 3);
}

std::string side_text(const std::optional<Measured>& side, Unit unit) {
  return side ? in_unit(side->value, unit) : "absent";
}

std::string change_text(const ComparedNumber& number) {
  const auto change = number.change();
  if (!change) return "-";
  return (*change >= 0 ? "+" : "") + in_unit(*change, number.unit);
}

/// The errors of both together: what the change has to pass.
std::string error_text(const ComparedNumber& number) {
  if (!number.change()) return "-";
  return in_unit(number.green->error + number.red->error, number.unit);
}

std::string key_text(const FindingKey& key) {
  return neutral_escaped(key.id) + (key.subject.empty() ? "" : " " + neutral_escaped(key.subject));
}

/// The findings of a comparison under their headings.
std::vector<std::pair<std::string, const std::vector<FindingKey>*>> finding_lists(const Comparison& comparison) {
  return {
      {"only in red", &comparison.red_only}, {"only in green", &comparison.green_only}, {"in both", &comparison.both}};
}

std::string verdict_text(const std::string& verdict) {
  return verdict.empty() ? "no verdict" : neutral_escaped(verdict);
}

void add_lines(const std::vector<std::string>& lines, std::string& text) {
  for (const std::string& line : lines) text += line + "\n";
}

void add_text(const Comparison& comparison, std::string& text) {
  text += "red    " + neutral(comparison.red_snapshot) + ": " + verdict_text(comparison.red_verdict) + "\n";
  text += "green  " + neutral(comparison.green_snapshot) + ": " + verdict_text(comparison.green_verdict) + "\n";
  for (const std::string& warning : comparison.warnings) text += "warning: " + neutral_escaped(warning) + "\n";
  std::vector<std::vector<std::string>> rows{{"subject", "number", "green", "red", "change", "error", ""}};
  const std::size_t shown = std::min(comparison.numbers.size(), k_most_numbers);
  for (std::size_t i = 0; i < shown; ++i) {
    const ComparedNumber& number = comparison.numbers[i];
    rows.push_back({clipped(neutral(number.subject), k_widest_name), neutral_escaped(number.what),
                    side_text(number.green, number.unit), side_text(number.red, number.unit), change_text(number),
                    error_text(number), number.differs ? "differs" : ""});
  }
  text += "\n";
  if (shown > 0)
    add_lines(aligned(rows, true), text);
  else
    text += "no number of either can be compared\n";
  if (shown < comparison.numbers.size())
    text += std::to_string(comparison.numbers.size() - shown) + " more numbers are in the JSON\n";
  for (const auto& [heading, keys] : finding_lists(comparison)) {
    if (keys->empty()) continue;
    text += "\nfindings " + heading + "\n";
    for (const FindingKey& key : *keys) text += "  " + key_text(key) + "\n";
  }
}

std::string text_of(const ReportComparison& comparison) {
  std::string text = "red    " + neutral(comparison.red_path) + "\ngreen  " + neutral(comparison.green_path) + "\n";
  for (const std::string& note : comparison.notes) text += "note: " + neutral_escaped(note) + "\n";
  for (const Comparison& snapshot : comparison.snapshots) {
    text += "\n";
    add_text(snapshot, text);
  }
  return text;
}

void add_markdown(const Comparison& comparison, std::string& text) {
  text += "\n- red " + markdown_bytes(comparison.red_snapshot) + ": " +
          markdown_text(verdict_text(comparison.red_verdict)) + "\n";
  text += "- green " + markdown_bytes(comparison.green_snapshot) + ": " +
          markdown_text(verdict_text(comparison.green_verdict)) + "\n";
  for (const std::string& warning : comparison.warnings) text += "- **warning** " + markdown_text(warning) + "\n";
  text += "\n| subject | number | green | red | change | error | |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n";
  const std::size_t shown = std::min(comparison.numbers.size(), k_most_numbers);
  for (std::size_t i = 0; i < shown; ++i) {
    const ComparedNumber& number = comparison.numbers[i];
    text += markdown_row({markdown_bytes(number.subject), markdown_text(number.what),
                          side_text(number.green, number.unit), side_text(number.red, number.unit), change_text(number),
                          error_text(number), number.differs ? "**differs**" : ""}) +
            "\n";
  }
  if (shown < comparison.numbers.size())
    text += "\n" + std::to_string(comparison.numbers.size() - shown) + " more numbers are in the JSON\n";
  for (const auto& [heading, keys] : finding_lists(comparison)) {
    if (keys->empty()) continue;
    text += "\nFindings " + heading + ":\n\n";
    for (const FindingKey& key : *keys) text += "- " + markdown_text(key_text(key)) + "\n";
  }
}

std::string markdown_of(const ReportComparison& comparison) {
  std::string text = "## cozybracket: red " + markdown_bytes(comparison.red_path) + " beside green " +
                     markdown_bytes(comparison.green_path) + "\n";
  for (const std::string& note : comparison.notes) text += "\n" + markdown_text(note) + "\n";
  for (const Comparison& snapshot : comparison.snapshots) add_markdown(snapshot, text);
  return text;
}

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::share:
      return "share";
    case Unit::per_second:
      return "per second";
    case Unit::cpus:
      return "cpus";
    case Unit::seconds:
      return "seconds";
  }
  return "share";
}

JsonObject number_json(const ComparedNumber& number) {
  JsonObject json;
  json.bytes("subject", number.subject);
  json.text("what", number.what);
  json.text("unit", unit_name(number.unit));
  const auto put_side = [&](const char* key, const std::optional<Measured>& side) {
    if (!side) return;
    JsonObject measured;
    measured.number("value", side->value, k_share_steps);
    measured.number("error", side->error, k_share_steps);
    json.object(key, std::move(measured));
  };
  put_side("green", number.green);
  put_side("red", number.red);
  json.number("change", number.change(), k_share_steps);
  if (number.change()) json.boolean("differs", number.differs);
  return json;
}

std::vector<JsonObject> keys_json(const std::vector<FindingKey>& keys) {
  std::vector<JsonObject> list;
  for (const FindingKey& key : keys) {
    JsonObject json;
    json.text("id", key.id);
    json.text("subject", key.subject);
    list.push_back(std::move(json));
  }
  return list;
}

JsonObject snapshot_json(const Comparison& comparison) {
  JsonObject json;
  const auto put_side = [&](const char* key, const std::string& snapshot, const std::string& verdict) {
    JsonObject side;
    side.bytes("snapshot", snapshot);
    side.text("verdict", verdict);
    json.object(key, std::move(side));
  };
  put_side("green", comparison.green_snapshot, comparison.green_verdict);
  put_side("red", comparison.red_snapshot, comparison.red_verdict);
  json.texts("warnings", comparison.warnings);
  std::vector<JsonObject> numbers;
  for (const ComparedNumber& number : comparison.numbers) numbers.push_back(number_json(number));
  json.objects("numbers", std::move(numbers));
  json.objects("green_only", keys_json(comparison.green_only));
  json.objects("red_only", keys_json(comparison.red_only));
  json.objects("both", keys_json(comparison.both));
  return json;
}

}  // namespace

JsonObject comparison_json(const ReportComparison& comparison) {
  JsonObject json;
  json.text("schema", "cozybracket.comparison/1");
  json.bytes("green", comparison.green_path);
  json.bytes("red", comparison.red_path);
  json.texts("notes", comparison.notes);
  std::vector<JsonObject> snapshots;
  for (const Comparison& snapshot : comparison.snapshots) snapshots.push_back(snapshot_json(snapshot));
  json.objects("snapshots", std::move(snapshots));
  return json;
}

std::string render(const ReportComparison& comparison, Format format) {
  switch (format) {
    case Format::text:
      return text_of(comparison);
    case Format::markdown:
      return markdown_of(comparison);
    case Format::json:
      return comparison_json(comparison).dump();
    case Format::openmetrics:  // what is of moments is not put side by side
    case Format::perfetto:
    case Format::html:  // has more to it than a comparison, see html.hpp
      break;
  }
  return {};
}

}  // namespace cozy
