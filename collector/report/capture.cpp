#include "collector/report/capture.hpp"

#include <array>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 4> k_outcomes{{
    {Outcome::complete, "complete"},
    {Outcome::partial, "partial"},
    {Outcome::empty, "empty"},
    {Outcome::unavailable, "unavailable"},
}};

/// Stands between the data and all that is said about them. The last one in a file counts.
constexpr std::string_view k_data_end = "[end of the data; what follows says how to read them]";
constexpr std::string_view k_capture_line = "[cozybracket capture ";

std::string seconds(std::int64_t ns) { return fixed(static_cast<double>(ns) / 1e9, ns % k_ns_per_second == 0 ? 0 : 3); }

/// What fell short, as one unbracketed line that begins with the word that readers look for.
std::string statement(const Capture& capture, const Legend& legend) {
  std::string line;
  switch (capture.judgement.outcome) {
    case Outcome::complete:
      return "[" + fill(legend.pairing, {capture.sample, capture.snapshot}) + "]";
    case Outcome::partial:
      line = capture.name + " incomplete: " + capture.judgement.reason + ". " + legend.partial_means;
      break;
    case Outcome::empty:
      line = capture.name + " finding: " + capture.judgement.reason + ". " + legend.empty_means;
      break;
    case Outcome::unavailable:
      line = capture.name + " unavailable: " + capture.judgement.reason + ". " + legend.unavailable_is_not;
      break;
  }
  if (!capture.sidecar.empty()) line += " Its messages are in " + capture.sidecar + ".";
  return line;
}

std::string trailer(const Capture& capture) {
  std::string text;
  const auto line = [&text](const std::string& words) { text += "[" + words + "]\n"; };
  line("cozybracket capture " + capture.name + " sample " + std::to_string(capture.sample) + " snapshot " +
       escape(capture.snapshot));
  const std::string reason = capture.judgement.reason.empty() ? "" : ": " + capture.judgement.reason;
  line("outcome: " + std::string(outcome_name(capture.judgement.outcome)) + reason);
  line("bound: read timeout " + seconds(capture.bound_ns) + " s, grace " + seconds(capture.grace_ns) + " s");
  line("end: " + escape(capture.end.words));
  if (capture.begin_stamp && capture.end_stamp) {
    const Stamp& from = *capture.begin_stamp;
    const Stamp& to = *capture.end_stamp;
    line("read from " + std::to_string(from.boottime_ns) + " to " + std::to_string(to.boottime_ns) +
         " boot-time ns, in " + fixed(static_cast<double>(to.boottime_ns - from.boottime_ns) / 1e6, 3) + " ms");
    line("read from " + std::to_string(from.epoch_ns) + " to " + std::to_string(to.epoch_ns) + " epoch ns");
    line("read attempted from " + std::to_string(from.epoch_ns / k_ns_per_second) + " to " +
         std::to_string(to.epoch_ns / k_ns_per_second) + " epoch seconds");
  }
  return text + "\n[capture exit code: " + std::to_string(capture.end.exit_code) + "]\n";
}

/// Where the line begins that ends the data: the last that is nothing else. Words that quote it do not count.
std::size_t find_data_end(std::string_view text) {
  std::size_t at = text.size();
  while (at != 0 && (at = text.rfind(k_data_end, at - 1)) != std::string_view::npos) {
    const std::size_t behind = at + k_data_end.size();
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    if (begins_line && (behind == text.size() || text[behind] == '\n')) return at;
  }
  return std::string_view::npos;
}

/// The last line of the text that begins so, without the prefix and the closing bracket.
std::optional<std::string_view> last_line(std::string_view text, std::string_view prefix) {
  std::size_t at = text.size();
  while (at != 0 && (at = text.rfind(prefix, at - 1)) != std::string_view::npos) {
    if (at != 0 && text[at - 1] != '\n') continue;
    std::string_view line = text.substr(at + prefix.size());
    line = line.substr(0, line.find('\n'));
    if (!line.ends_with(']')) return std::nullopt;
    return line.substr(0, line.size() - 1);
  }
  return std::nullopt;
}

/// "[read from A to B UNIT...": the two numbers.
std::optional<std::pair<std::int64_t, std::int64_t>> read_span(std::string_view trailer_text, std::string_view unit) {
  for (const std::string_view line : split_lines(trailer_text)) {
    const auto words = split_words(line);
    if (words.size() < 6 || words[0] != "[read" || words[1] != "from" || !words[5].starts_with(unit)) continue;
    const auto from = parse_i64(words[2]);
    const auto to = parse_i64(words[4]);
    if (from && to && *from <= *to) return std::pair(*from, *to);
  }
  return std::nullopt;
}

/// "unavailable: REASON". False where it is none.
bool parse_outcome(std::string_view words, Judgement& judgement) {
  const std::size_t colon = words.find(": ");
  const auto outcome = outcome_of_name(words.substr(0, colon));
  if (!outcome) return false;
  judgement.outcome = *outcome;
  if (colon != std::string_view::npos) judgement.reason = words.substr(colon + 2);
  return true;
}

/// A file that does not say what it is, what it came to and how its read ended was cut: it is never complete.
void take_cut_trailer(bool has_outcome, Capture& capture) {
  capture.end.shortfall = "the file is cut before its last line: its end is unknown";
  Judgement& judgement = capture.judgement;
  if (!has_outcome || judgement.outcome == Outcome::complete) judgement.outcome = Outcome::partial;
  judgement.reason += (judgement.reason.empty() ? "" : "; ") + capture.end.shortfall;
}

void parse_bound(std::string_view words, Capture& capture) {
  // "read timeout 20 s, grace 5 s"; a fraction is written with three digits
  const auto ns_of = [](std::string_view word) -> std::int64_t {
    const auto parts = split_at(word, '.');
    const auto whole = parse_i64(parts.front());
    const auto ms = parts.size() == 2 ? parse_i64(parts[1]) : std::optional<std::int64_t>(0);
    const bool sane = whole && ms && *whole >= 0 && *whole < 1'000'000'000 && *ms >= 0 && *ms < 1000;
    return sane ? *whole * k_ns_per_second + *ms * k_ns_per_ms : 0;
  };
  const auto list = split_words(words);
  if (list.size() < 6) return;
  capture.bound_ns = ns_of(list[2]);
  capture.grace_ns = ns_of(list[5]);
}

bool parse_identity(std::string_view words, Capture& capture) {
  // "NAME sample N snapshot S"
  const auto list = split_words(words);
  const std::size_t snapshot = words.find(" snapshot ");
  if (list.size() < 5 || list[1] != "sample" || snapshot == std::string_view::npos) return false;
  const auto sample = parse_u64(list[2]);
  if (!sample || *sample < 1 || *sample > 2) return false;
  capture.name = list[0];
  capture.sample = static_cast<int>(*sample);
  capture.snapshot = unescape(words.substr(snapshot + 10));
  return true;
}

std::string number_word(const ReadEnd& end) { return end.shortfall.empty() ? "" : "; " + end.shortfall; }

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  for (const auto& [known, name] : k_outcomes) {
    if (known == outcome) return name;
  }
  return "unavailable";
}

std::optional<Outcome> outcome_of_name(std::string_view name) {
  for (const auto& [outcome, known] : k_outcomes) {
    if (known == name) return outcome;
  }
  return std::nullopt;
}

bool holds_data(Outcome outcome) { return outcome == Outcome::complete || outcome == Outcome::partial; }

Judgement judge(const Reading& reading, const ReadEnd& end, const Legend& legend) {
  bool numbers = false;
  bool counters = false;
  for (const Row& row : reading.rows) {
    if (row.scope == "kernel" || (legend.needs_counter && !is_number(row.value))) continue;
    numbers = true;
    counters = counters || !legend.needs_counter || legend.kind_of(row) == Kind::cumulative;
    if (counters) break;
  }
  if (counters) {
    std::vector<std::string> reasons = reading.partial;
    constexpr std::size_t k_most_reasons = 3;
    if (reasons.size() > k_most_reasons) {
      const std::size_t more = reasons.size() - k_most_reasons;
      reasons.resize(k_most_reasons);
      reasons.push_back(std::to_string(more) + " more of the kind");
    }
    if (!end.shortfall.empty()) reasons.push_back(end.shortfall);
    if (reasons.empty()) return {Outcome::complete, "", false};
    return {Outcome::partial, make_line(join(reasons, "; ")), false};
  }
  if (numbers) {
    const std::string gauges = reading.counters_refused ? "counters refused by kernel lockdown, only gauges were read"
                                                        : "only gauges were read, not one counter";
    return {Outcome::unavailable, make_line(gauges + number_word(end)), true};
  }
  if (!reading.finding.empty() && end.shortfall.empty()) return {Outcome::empty, make_line(reading.finding), false};
  std::string why = reading.unavailable.empty() ? reading.finding : reading.unavailable;
  if (why.empty()) why = "nothing usable in the text";
  if (!reading.refused.empty()) why += " (" + reading.refused.front() + ")";
  if (!reading.stalled.empty()) why += " (stalled: " + reading.stalled.front() + ")";
  return {Outcome::unavailable, make_line(why + number_word(end)), false};
}

std::string format_capture(const Capture& capture, const Legend& legend) {
  std::string text = capture.text;
  if (!text.empty() && text.back() != '\n') text += '\n';  // the mark counts as a line alone
  text += k_data_end;
  text += '\n';
  // Without data there is nothing to read; gauges need the sentences on kinds all the more.
  if (holds_data(capture.judgement.outcome) || capture.judgement.gauges_only) {
    for (const std::string& line : legend_lines(legend, {capture.sample, capture.snapshot})) text += line + "\n";
  }
  text += statement(capture, legend) + "\n";
  return text + trailer(capture);
}

Result<Capture> parse_capture(std::string_view file_text) {
  const std::size_t data_end = find_data_end(file_text);
  if (data_end == std::string_view::npos) return Error{"", "no line that ends the data", 0};
  Capture capture;
  capture.text = file_text.substr(0, data_end);
  const std::string_view rest = file_text.substr(data_end);
  const auto identity = last_line(rest, k_capture_line);
  const bool named = identity && parse_identity(*identity, capture);
  const auto outcome = last_line(rest, "[outcome: ");
  const bool judged = outcome && parse_outcome(*outcome, capture.judgement);
  if (const auto bound = last_line(rest, "[bound: ")) parse_bound(*bound, capture);
  if (const auto end = last_line(rest, "[end: ")) capture.end.words = unescape(*end);
  const auto boottime = read_span(rest, "boot-time");
  const auto epoch = read_span(rest, "epoch");
  if (boottime && epoch) {
    capture.begin_stamp = Stamp{boottime->first, epoch->first};
    capture.end_stamp = Stamp{boottime->second, epoch->second};
  }
  const auto code = last_line(rest, "[capture exit code: ");
  const auto number = code ? parse_u64(*code) : std::nullopt;
  if (number && *number < 256) capture.end.exit_code = static_cast<int>(*number);
  if (!named || !judged || !number || *number >= 256) take_cut_trailer(judged, capture);
  return capture;
}

}  // namespace cozy
