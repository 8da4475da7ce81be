#include "collector/render/render.hpp"

#include "collector/render/json.hpp"
#include "collector/render/markdown.hpp"
#include "collector/render/openmetrics.hpp"
#include "collector/render/perfetto.hpp"
#include "collector/render/terminal.hpp"

namespace cozy {

std::string render(const ReportAnalysis& report, Format format, const RenderOptions& options) {
  switch (format) {
    case Format::text:
      return to_terminal(report, options);
    case Format::markdown:
      return to_markdown(report, options);
    case Format::json:
      return to_json(report, options);
    case Format::openmetrics:
      return to_openmetrics(report);
    case Format::html:  // has more to it than an analysis, see html.hpp
      break;
    case Format::perfetto:
      return to_perfetto(report);
  }
  return {};
}

}  // namespace cozy
