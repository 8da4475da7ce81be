#pragma once

#include <cstddef>
#include <string_view>

namespace cozy {

enum class Format { text, markdown, json, openmetrics, html };

/// As `--format` names it.
constexpr std::string_view format_name(Format format) {
  switch (format) {
    case Format::text:
      return "text";
    case Format::markdown:
      return "markdown";
    case Format::json:
      return "json";
    case Format::openmetrics:
      return "openmetrics";
    case Format::html:
      return "html";
  }
  return "text";
}

struct RenderOptions {
  bool explain = false;     ///< the thresholds and the rules, too
  std::size_t width = 100;  ///< text: columns; fewer than 40 are taken as 40
  bool colour = false;      ///< text: for a terminal
};

}  // namespace cozy
