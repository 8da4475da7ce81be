#include "collector/render/html.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "collector/analyse/verdict.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

namespace {

using Json = nlohmann::json;

constexpr std::string_view k_template =
    "<title>@COZYBRACKET_TITLE@</title>\n<pre>\n@COZYBRACKET_PLAIN@</pre>\n"
    "<script id=\"cozybracket-data\">@COZYBRACKET_DATA@</script>\n";
constexpr std::size_t k_most_text = 3000;

std::string_view data_of(std::string_view page) {
  constexpr std::string_view k_begin = "id=\"cozybracket-data\">";
  const std::size_t from = page.find(k_begin) + k_begin.size();
  return page.substr(from, page.rfind("</script>") - from);
}

/// Every list of a timeline has as many items as there are steps.
void require_lists(const Json& timeline, std::size_t steps) {
  for (const auto& [key, member] : timeline.items()) {
    if (key == "gaps" || member.is_string()) continue;
    const bool parts = member.is_object() || (member.is_array() && (key == "nodes" || key == "vcpus"));
    if (member.is_object()) require_lists(member, steps);
    if (member.is_array() && parts) {
      for (const Json& part : member) require_lists(part, steps);
    }
    if (member.is_array() && !parts) require_for(member.size() == steps, "a list has one item a step", key);
  }
}

void require_sound(const Json& data) {
  for (const Json& report : data.at("reports")) {
    for (const Json& timeline : report.at("timelines")) require_lists(timeline, timeline.at("starts").size());
    for (const Json& capture : report.at("captures"))
      require(capture.at("text").is_string() && capture.at("cut_bytes").is_number_unsigned(), "a capture has its text");
  }
}

void require_harmless(std::string_view page) {
  require_for(std::count(page.begin(), page.end(), '<') == std::count(k_template.begin(), k_template.end(), '<'),
              "nothing from outside is markup", page);
  require_harmless_text(page);
  const std::string_view text = data_of(page);
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  require_for(std::all_of(text.begin(), text.end(), is_plain), "the data is ASCII on one line", text);
  const Json data = Json::parse(text, nullptr, false);
  require_for(data.is_object(), "the data can be parsed", text);
  require_sound(data);
}

}  // namespace

void html(std::string_view bytes) {
  const Report report = report_of_sections(bytes);
  AnalysisOptions options;
  options.series = true;
  ReportAnalysis analysed = describe(report);
  for (const Snapshot& snapshot : report.snapshots) analysed.snapshots.push_back(analyse(snapshot, options));
  sort_worst_first(analysed.snapshots);
  analysed.texts = capture_texts(report, "", k_most_text);
  PageParts parts{"fuzz", {}, nullptr, {}};
  parts.reports.push_back({"", std::move(analysed)});
  const auto page = to_html(k_template, parts);
  require(page.ok() && page->size() <= k_largest_page, "there is a page");
  require_harmless(*page);
  const std::size_t less = page->size() - 1 - bytes.size() % page->size() / 2;
  const auto smaller = to_html(k_template, std::move(parts), less);
  if (!smaller) return;
  require(smaller->size() <= less, "a page is not larger than it may be");
  require_harmless(*smaller);
}

}  // namespace cozy::fuzz
