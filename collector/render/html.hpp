#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/render/page_data.hpp"
#include "probes/result.hpp"

namespace cozy {

/// What a page is made of.
struct PageParts {
  std::string program;  ///< "cozybracket 0.1"
  std::vector<PageReport> reports;
  const ReportComparison* comparison = nullptr;
  RenderOptions options = {};
};

/// No page is larger, whatever a report holds.
inline constexpr std::size_t k_largest_page = 16UL * 1024 * 1024;

/// One file that needs nothing else: the template with three places filled in, "@COZYBRACKET_TITLE@",
/// "@COZYBRACKET_PLAIN@" (the text for readers without JavaScript) and "@COZYBRACKET_DATA@". Whatever comes from
/// outside is escaped for where it stands. What would make it too large is left out, the texts of captures first,
/// and a note of its report says so. An error where the template is none, or where nothing more can be left out.
Result<std::string> to_html(std::string_view page_template, PageParts parts, std::size_t largest = k_largest_page);

/// Text in HTML, as an element's content and as an attribute's value.
std::string html_text(std::string_view text);

}  // namespace cozy
