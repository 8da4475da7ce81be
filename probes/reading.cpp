#include "reading.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text.hpp"

namespace cozy {

namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 5> k_kind_names{{
    {Kind::unknown, "unknown"},
    {Kind::cumulative, "cumulative"},
    {Kind::instant, "instant"},
    {Kind::peak, "peak"},
    {Kind::histogram, "histogram"},
}};

}  // namespace

std::string_view kind_name(Kind kind) {
  for (const auto& [known, name] : k_kind_names) {
    if (known == kind) return name;
  }
  return "unknown";
}

std::optional<Kind> kind_of_name(std::string_view name) {
  for (const auto& [kind, known] : k_kind_names) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::string value_text(const Value& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

bool is_number(const Value& value) { return !std::holds_alternative<std::string>(value); }

const Row* Reading::find(std::string_view scope, std::string_view field) const {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.field == field && r.scope == scope; });
  return row == rows.end() ? nullptr : &*row;
}

std::optional<std::uint64_t> Reading::number(std::string_view scope, std::string_view field) const {
  const Row* row = find(scope, field);
  if (row == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::uint64_t>(&row->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string Reading::word(std::string_view scope, std::string_view field) const {
  const Row* row = find(scope, field);
  return row == nullptr ? std::string() : value_text(row->value);
}

const Subject* Reading::subject(std::string_view scope) const {
  const auto found = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& s) { return s.scope == scope; });
  return found == subjects.end() ? nullptr : &*found;
}

void Reading::add(std::string scope, std::string field, Value value, Kind kind) {
  rows.push_back({std::move(scope), std::move(field), std::move(value), kind});
}

void add_words(std::vector<std::string>& list, std::string words) {
  constexpr std::size_t k_most_words = 4096;
  if (list.size() < k_most_words)
    list.push_back(std::move(words));
  else if (list.size() == k_most_words)
    list.emplace_back("and more, which are left out here");
}

std::vector<std::string_view> whole_lines(std::string_view text, Reading& reading) {
  std::vector<std::string_view> lines = split_lines(text);
  if (!text.empty() && text.back() != '\n') {
    add_words(reading.partial, "the last line was cut in mid-line: " + escape(lines.back().substr(0, 64)));
    lines.pop_back();
  }
  return lines;
}

bool parse_common_line(std::string_view line, Reading& reading) {
  if (!line.starts_with('[') || !line.ends_with(']')) return false;
  line = line.substr(1, line.size() - 2);
  if (const auto stalled = after_prefix(line, "stalled ")) {
    add_words(reading.stalled, std::string(*stalled));
    add_words(reading.partial, "stalled: " + std::string(*stalled));
    return true;
  }
  if (const auto refused = after_prefix(line, "not read ")) {
    add_words(reading.refused, std::string(*refused));
    return true;
  }
  if (const auto cut = after_prefix(line, "walk cut: ")) {
    add_words(reading.partial, trim(*cut).empty() ? "the walk was cut" : std::string(*cut));
    return true;
  }
  if (const auto note = after_prefix(line, "note: ")) {
    add_words(reading.notes, std::string(*note));
    return true;
  }
  return false;
}

}  // namespace cozy
