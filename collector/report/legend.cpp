#include "collector/report/legend.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

/// The texts of legends/, in the order of the table of probes. hack/cmake/embed_legends.cmake writes them.
std::span<const std::string_view> embedded_legends();

namespace {

using Json = nlohmann::json;

constexpr std::size_t k_longest_legend = 256UL * 1024;

/// Takes members out of one JSON object, each with its type checked by hand: the library throws on a wrong
/// one. The first key that is missing or wrong stays as the error, and what is taken after it is empty.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] const std::string& error() const { return error_; }

  const Json* member(const char* key) {
    const auto found = object_.find(key);  // the end for what is no object
    if (found != object_.end()) return &*found;
    refuse(key, "is missing");
    return nullptr;
  }

  void refuse(std::string_view key, std::string_view why) {
    if (error_.empty()) error_ = "\"" + where_ + std::string(key) + "\" " + std::string(why);
  }

  /// One line of text. Units may be empty, nothing else may.
  std::string text(const char* key, bool may_be_empty = false) {
    const Json* value = member(key);
    if (value == nullptr) return {};
    const auto* words = value->get_ptr<const std::string*>();
    if (words == nullptr)
      refuse(key, "is no string");
    else if (words->empty() && !may_be_empty)
      refuse(key, "is empty");
    else if (make_line(*words) != *words)
      refuse(key, "is not one line");
    else
      return *words;
    return {};
  }

  /// A name of a folder or file: nothing that could lead elsewhere.
  std::string file_name(const char* key) {
    std::string name = text(key);
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
    if (!plain || name.starts_with('.')) refuse(key, "is no plain name");
    return name;
  }

  bool flag(const char* key) {
    const Json* value = member(key);
    const bool* set = value == nullptr ? nullptr : value->get_ptr<const bool*>();
    if (set == nullptr) refuse(key, "is neither true nor false");
    return set != nullptr && *set;
  }

  Kind kind(const char* key) {
    const std::string name = text(key);
    const auto known = kind_of_name(name);
    if (!known || *known == Kind::unknown) refuse(key, "is none of cumulative, instant, peak, histogram");
    return known.value_or(Kind::unknown);
  }

  std::vector<int> samples(const char* key) {
    const Json* value = member(key);
    std::vector<int> numbers;
    if (value == nullptr) return numbers;
    const bool list = value->is_array() && !value->empty();
    for (std::size_t i = 0; list && i < value->size(); ++i) {
      const auto* number = (*value)[i].get_ptr<const Json::number_unsigned_t*>();
      if (number == nullptr || *number < 1 || *number > 2) break;
      numbers.push_back(static_cast<int>(*number));
    }
    const bool rising = numbers.size() == 1 || (numbers.size() == 2 && numbers[0] < numbers[1]);
    if (!rising || numbers.size() != value->size()) refuse(key, "is neither [1], [2] nor [1, 2]");
    return numbers;
  }

  std::vector<std::string> lines(const char* key) {
    const Json* value = member(key);
    std::vector<std::string> sentences;
    if (value == nullptr) return sentences;
    if (!value->is_array() || value->empty()) refuse(key, "is no list of sentences");
    for (const Json& item : *value) {
      const auto* words = item.get_ptr<const std::string*>();
      if (words == nullptr || words->empty() || make_line(*words) != *words) {
        refuse(key, "holds something that is not one line of text");
        return {};
      }
      sentences.push_back(*words);
    }
    return sentences;
  }

 private:
  const Json& object_;
  std::string where_;
  std::string error_;
};

/// The kinds and units by field. Returns what is wrong, or nothing.
std::string take_fields(const Json& fields, Legend& legend) {
  if (!fields.is_object()) return "\"fields\" is no object";
  for (const auto& [name, object] : fields.items()) {
    const std::string where = "fields." + escape(name) + ".";
    if (!object.is_object()) return "\"fields." + escape(name) + "\" is no object";
    Members members(object, where);
    FieldLegend field;
    field.kind = members.kind("kind");
    field.unit = members.text("unit", true);
    field.means = members.text("means");
    if (!members.error().empty()) return members.error();
    legend.fields.emplace(name, std::move(field));
  }
  return {};
}

/// In a value, brackets would read as the marks that begin and end the lines of a capture.
std::string escape_value(std::string_view value) {
  std::string out;
  for (const char c : escape(value)) {
    if (c == '[')
      out += "\\x5b";
    else if (c == ']')
      out += "\\x5d";
    else
      out += c;
  }
  return out;
}

/// GitHub Actions obeys "::command" at the begin of a line of a log, and "##[command]" anywhere in it.
std::string without_commands(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool pair = line[i] == ':' && ((i > 0 && line[i - 1] == ':') || line.substr(i + 1).starts_with(':'));
    if (pair)
      out += "\\x3a";
    else if (line.substr(i).starts_with("##["))
      out += "\\x23";
    else
      out += line[i];
  }
  return out;
}

}  // namespace

Kind Legend::kind_of(const Row& row) const {
  if (row.kind != Kind::unknown) return row.kind;
  const auto field = fields.find(row.field);
  return field == fields.end() ? default_kind : field->second.kind;
}

Result<Legend> parse_legend(std::string_view json) {
  const auto refused = [](std::string reason) { return Error{"legend", std::move(reason), 0}; };
  if (json.size() > k_longest_legend) return refused("longer than " + std::to_string(k_longest_legend) + " bytes");
  const Json document = Json::parse(json, nullptr, false);
  if (document.is_discarded()) return refused("not JSON");
  if (!document.is_object()) return refused("no JSON object");

  Legend legend;
  Members members(document, "");
  legend.capture = members.file_name("capture");
  legend.file = members.file_name("file");
  legend.title = members.text("title");
  legend.layer = members.text("layer");
  legend.source = members.text("source");
  legend.samples = members.samples("samples");
  legend.sentences = members.lines("sentences");
  legend.pairing = members.text("pairing");
  legend.empty_means = members.text("empty_means");
  legend.unavailable_is_not = members.text("unavailable_is_not");
  legend.partial_means = members.text("partial_means");
  legend.needs_counter = members.flag("needs_counter");
  legend.default_kind = members.kind("default_kind");
  const Json* fields = members.member("fields");
  if (!members.error().empty()) return refused(members.error());
  std::string wrong = take_fields(*fields, legend);
  if (!wrong.empty()) return refused(std::move(wrong));
  legend.json = json;
  return legend;
}

std::span<const Legend> legends() {
  static const std::vector<Legend> parsed = [] {
    std::vector<Legend> list;
    for (const std::string_view json : embedded_legends()) {
      if (auto legend = parse_legend(json)) list.push_back(std::move(*legend));
    }
    return list;
  }();
  return parsed;
}

const Legend* find_legend(std::string_view capture) {
  const auto all = legends();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Legend& l) { return l.capture == capture; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> legend_lines(const Legend& legend, const LegendValues& values) {
  std::vector<std::string> lines;
  for (const std::string& sentence : legend.sentences) lines.push_back("[" + fill(sentence, values) + "]");
  return lines;
}

std::string fill(std::string_view sentence, const LegendValues& values) {
  const std::pair<std::string_view, std::string> places[] = {
      {"{sample}", std::to_string(values.sample)},
      {"{other}", values.sample == 1 ? "2" : "1"},
      {"{snapshot}", escape_value(values.snapshot)},
  };
  std::string line;
  while (!sentence.empty()) {
    const auto begins = [&](const auto& place) { return sentence.starts_with(place.first); };
    const auto* place = std::find_if(std::begin(places), std::end(places), begins);
    if (place != std::end(places)) {
      line += place->second;
      sentence.remove_prefix(place->first.size());
    } else {
      const std::size_t next = std::min(sentence.find('{', 1), sentence.size());
      line += make_line(sentence.substr(0, next));
      sentence.remove_prefix(next);
    }
  }
  return without_commands(line);
}

}  // namespace cozy
