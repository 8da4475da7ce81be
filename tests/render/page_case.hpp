#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "collector/render/html.hpp"
#include "tests/render/rendered.hpp"

/// What the tests of a page share: a template of their own, and its data read back.
namespace cozy::paged {

using Json = nlohmann::json;

inline constexpr std::string_view k_template =
    "<!doctype html><title>@COZYBRACKET_TITLE@</title>\n<noscript><pre>\n@COZYBRACKET_PLAIN@</pre></noscript>\n"
    "<script type=\"application/json\" id=\"cozybracket-data\">@COZYBRACKET_DATA@</script>\n<p>end</p>\n";

inline PageParts parts_of(ReportAnalysis report) {
  PageParts parts{"cozybracket test", {}, nullptr, {}};
  parts.reports.push_back({"", std::move(report)});
  return parts;
}

inline std::string page_of(PageParts parts) {
  const auto page = to_html(k_template, std::move(parts));
  REQUIRE(page.ok());
  return *page;
}

/// What stands between two marks; each is to be there.
inline std::string part(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin);
  REQUIRE(from != std::string::npos);
  const std::size_t to = page.find(end, from + begin.size());
  REQUIRE(to != std::string::npos);
  return page.substr(from + begin.size(), to - from - begin.size());
}

inline std::string data_text(const std::string& page) { return part(page, "id=\"cozybracket-data\">", "</script>"); }

inline Json data_of(const std::string& page) {
  Json data = Json::parse(data_text(page), nullptr, false);
  REQUIRE_FALSE(data.is_discarded());
  return data;
}

}  // namespace cozy::paged
