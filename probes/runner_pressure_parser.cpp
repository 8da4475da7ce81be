#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "reading.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_header = "[/proc/pressure/";

/// "12.78": what the kernel writes of a percentage.
bool is_percentage(std::string_view word) {
  const auto parts = split_at(word, '.');
  return parts.size() == 2 && parts[1].size() == 2 && parse_u64(parts[0]) && parse_u64(parts[1]);
}

class PressureLines {
 public:
  explicit PressureLines(Reading& reading) : reading_(reading) {}

  void take(std::string_view line) {
    if (const auto off = after_prefix(line, "NO-PSI: ")) {
      reading_.finding = line;
    } else if (line.starts_with(k_header) && line.ends_with(']')) {
      resource_ = line.substr(k_header.size(), line.size() - k_header.size() - 1);
      const bool known = resource_ == "cpu" || resource_ == "memory" || resource_ == "io";
      if (!known || !seen_.insert(std::string(resource_)).second) resource_ = {};
    } else if (!resource_.empty()) {
      values(line);
    }
  }

 private:
  /// some avg10=12.78 avg60=9.21 avg300=2.50 total=157276243
  void values(std::string_view line) {
    const auto words = split_words(line);
    if (words.empty() || (words[0] != "some" && words[0] != "full")) return;
    const std::string who(words[0]);
    if (line.find('[') != std::string_view::npos) {
      // A read that was cut in mid-line has the next written line on the same one: its number may be cut short.
      return add_words(reading_.partial, std::string(resource_) + " " + who + " was cut in mid-line");
    }
    if (!seen_.insert(std::string(resource_) + " " + who).second) return;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto parts = split_at(words[i], '=');
      if (parts.size() != 2) continue;
      const bool average = parts[0] == "avg10" || parts[0] == "avg60" || parts[0] == "avg300";
      const auto total = parts[0] == "total" ? parse_u64(parts[1]) : std::nullopt;
      if (total)
        add(who + ".total_usec", *total, Kind::cumulative);
      else if (average && is_percentage(parts[1]))
        add(who + "." + std::string(parts[0]), std::string(parts[1]), Kind::instant);
      else if (average || parts[0] == "total")
        add_words(reading_.refused, std::string(resource_) + " " + who + " " + std::string(parts[0]) + ": \"" +
                                        escape(parts[1].substr(0, 64)) + "\" is no such number");
    }
  }

  void add(const std::string& field, Value value, Kind kind) {
    if (seen_.insert(std::string(resource_) + " " + field).second)
      reading_.add(std::string(resource_), field, std::move(value), kind);
  }

  Reading& reading_;
  std::string_view resource_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

/// The lines of the three files behind their paths in brackets. Only "total" is a counter; the averages are the
/// kernel's own and are kept as it wrote them. A line or a number that is not there is absent.
Reading parse_runner_pressure(std::string_view text) {
  Reading reading;
  PressureLines lines(reading);
  for (const std::string_view line : whole_lines(text, reading)) {
    if (!parse_common_line(line, reading)) lines.take(line);
  }
  if (reading.rows.empty() && reading.finding.empty()) reading.unavailable = "no line of /proc/pressure in the text";
  return reading;
}

}  // namespace cozy
