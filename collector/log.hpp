#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cozy {

/// One line of the job log: "cozybracket: WORDS" on stderr, harmless whatever the words hold. A reader
/// that does not take it within a second loses it, and the next line that gets through says so.
void log_line(std::string_view words);

/// A line that has its prefix already.
void log_raw_line(std::string_view line);

/// "812 bytes", "9.4 KiB", "38 KiB", as a line says what was written.
std::string size_text(std::uint64_t bytes);

}  // namespace cozy
