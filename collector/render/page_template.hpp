#pragma once

#include <string>
#include <string_view>

#include "probes/result.hpp"

namespace cozy {

/// The page without its data, compressed by gzip. Where the build has none, `packed` is empty and `missing` says why.
struct EmbeddedPage {
  std::string_view packed;
  std::string_view missing;
};

/// What was built in; written by hack/cmake/embed_page.cmake from collector/render/page.
EmbeddedPage embedded_page();

/// The template for to_html(), or why there is none and the way out.
Result<std::string> page_template(const EmbeddedPage& page);

}  // namespace cozy
