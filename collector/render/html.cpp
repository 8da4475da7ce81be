#include "collector/render/html.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collector/render/neutral.hpp"
#include "collector/render/terminal.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_longest_title = 200;
constexpr std::size_t k_longest_plain = 256UL * 1024;

/// A place of the template and what comes there.
struct Place {
  std::string_view mark;
  std::string_view filling;
  std::size_t at = 0;
};

std::string limit_words(std::size_t bytes) {
  constexpr std::size_t k_mib = 1UL << 20U;
  return bytes % k_mib == 0 ? std::to_string(bytes / k_mib) + " MiB" : std::to_string(bytes) + " bytes";
}

/// The first bytes of a text, up to the end of a character.
std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  return text.substr(0, most);
}

/// Each mark stands in the template once. What is filled in is not searched: it can hold a mark as text.
Result<std::string> filled(std::string_view page_template, std::array<Place, 3> places) {
  for (Place& place : places) {
    place.at = page_template.find(place.mark);
    const bool once = place.at != std::string_view::npos && page_template.rfind(place.mark) == place.at;
    if (!once) return Error{"the page's template", "does not hold " + std::string(place.mark) + " once", 0};
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.at < b.at; });
  std::string page;
  std::size_t done = 0;
  for (const Place& place : places) {
    page += page_template.substr(done, place.at - done);
    page += place.filling;
    done = place.at + place.mark.size();
  }
  page += page_template.substr(done);
  return page;
}

std::string title_of(const PageParts& parts) {
  std::string title = "cozybracket";
  const ReportAnalysis& last = parts.reports.back().analysis;
  const std::string verdict = last.snapshots.empty() ? "" : last.snapshots.front().verdict;
  title += parts.comparison == nullptr ? ": " : ": green and red: ";
  title += verdict.empty() ? neutral(last.path) : neutral_escaped(verdict);
  return html_text(first_bytes(title, k_longest_title));
}

std::string plain_of(const PageParts& parts) {
  RenderOptions options = parts.options;
  options.colour = false;
  const std::string text = parts.comparison != nullptr ? render(*parts.comparison, Format::text)
                                                       : to_terminal(parts.reports.front().analysis, options);
  const std::string_view shown = first_bytes(text, k_longest_plain);
  std::string plain = html_text(shown);
  if (shown.size() < text.size())
    plain += "\n" + std::to_string(text.size() - shown.size()) + " more bytes of it are cut";
  return plain;
}

/// Takes one more thing away from every report, the least needed first. False where there is nothing left.
bool leave_something_out(std::size_t step, std::size_t largest, std::vector<PageReport>& reports) {
  static constexpr std::array<std::string_view, 3> k_what{"what the captures say", "the timelines, too",
                                                          "every snapshot but the worst, too"};
  if (step >= k_what.size()) return false;
  for (PageReport& report : reports) {
    ReportAnalysis& analysis = report.analysis;
    if (step == 0) analysis.texts.clear();
    for (Analysis& snapshot : analysis.snapshots) {
      if (step == 1) snapshot.series.reset();
    }
    if (step == 2 && !analysis.snapshots.empty()) {
      analysis.snapshots.erase(analysis.snapshots.begin() + 1, analysis.snapshots.end());
    }
    analysis.notes.push_back("the page leaves out " + std::string(k_what[step]) + ": it would be larger than " +
                             limit_words(largest));
  }
  return true;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Result<std::string> to_html(std::string_view page_template, PageParts parts, std::size_t largest) {
  for (std::size_t step = 0;; ++step) {
    const std::string title = title_of(parts);
    const std::string plain = plain_of(parts);
    const std::string data = page_data(parts.program, parts.reports, parts.comparison, parts.options).dump_line();
    auto page = filled(page_template, {Place{"@COZYBRACKET_TITLE@", title}, Place{"@COZYBRACKET_PLAIN@", plain},
                                       Place{"@COZYBRACKET_DATA@", data}});
    if (!page || page->size() <= largest) return page;
    if (!leave_something_out(step, largest, parts.reports)) {
      return Error{"the page", "would be larger than " + limit_words(largest) + "; --format json has all of it", 0};
    }
  }
}

}  // namespace cozy
