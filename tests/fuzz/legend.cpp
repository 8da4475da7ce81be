#include "collector/report/legend.hpp"

#include "collector/report/capture.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void legend(std::string_view bytes) {
  const auto parsed = parse_legend(bytes);
  if (!parsed) return require_harmless_line(parsed.error().text());
  require(parsed->json == bytes, "a legend keeps its text");
  const std::string hostile = "a]\n::warning::[x \xe2\x80\xa8";
  for (const std::string& line : legend_lines(*parsed, {2, hostile})) require_harmless_text(line);
  for (const Outcome outcome : {Outcome::complete, Outcome::partial, Outcome::empty, Outcome::unavailable}) {
    Capture capture;
    capture.name = parsed->capture;
    capture.snapshot = hostile;
    capture.judgement.outcome = outcome;
    const auto read = parse_capture(format_capture(capture, *parsed));
    require(read.ok() && read->judgement.outcome == outcome, "whatever the legend says, the outcome is read back");
    require(read->snapshot == hostile && read->name == parsed->capture, "and so is the name");
  }
}

}  // namespace cozy::fuzz
