#pragma once

#include <cstddef>
#include <string_view>

namespace cozy {

enum class Format { text, markdown, json, openmetrics, html, perfetto };

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
    case Format::perfetto:
      return "perfetto";
  }
  return "text";
}

/// True for a format that shows every second of a timeline.
constexpr bool draws_timeline(Format format) { return format == Format::html || format == Format::perfetto; }

struct RenderOptions {
  bool explain = false;     ///< the thresholds and the rules, too
  std::size_t width = 100;  ///< text: columns; fewer than 40 are taken as 40
  bool colour = false;      ///< text: for a terminal
};

}  // namespace cozy
