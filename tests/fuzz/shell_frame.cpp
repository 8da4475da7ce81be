#include "collector/report/shell_frame.hpp"

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void shell_frame(std::string_view bytes) {
  if (const auto stamps = find_shell_stamps(bytes)) {
    require(stamps->begin.epoch_ns > 0 && stamps->end.epoch_ns >= 0, "a stamp of the shell is after 1970");
    require(bytes.find("[read attempted from ") != std::string_view::npos, "a stamp stands in the text");
  }
  if (const auto code = find_shell_exit_code(bytes)) {
    require(*code >= 0 && *code < 256, "an exit code is one byte");
    require_harmless_line(exit_code_words(*code));
  }
  for (const std::string_view line : split_lines(bytes)) {
    if (const auto statement = parse_statement(line)) require_harmless_line(statement->reason);
  }
}

}  // namespace cozy::fuzz
