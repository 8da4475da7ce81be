#include "facts.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "text.hpp"

namespace cozy {

namespace {

bool is_fact_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

void write_fact(Sink& sink, std::string_view name, std::string_view value) {
  sink.line(std::string(name) + ": " + escape(value));
}

Reading parse_facts(std::string_view text) {
  constexpr std::size_t k_most_facts = 1024;
  Reading reading;
  std::set<std::string, std::less<>> seen;
  for (const std::string_view line : whole_lines(text, reading)) {
    if (parse_common_line(line, reading) || line.starts_with('[')) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || reading.rows.size() >= k_most_facts) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (value.empty() || !is_fact_name(name) || !seen.emplace(name).second) continue;
    const auto number = parse_u64(value);
    reading.add("machine", std::string(name), number ? Value(*number) : Value(unescape(value)), Kind::instant);
  }
  if (reading.rows.empty()) reading.unavailable = "not one fact in the text";
  return reading;
}

}  // namespace cozy
