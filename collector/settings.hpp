#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/result.hpp"

/// Values of options and environment variables, and why one is refused. Pure.
namespace cozy {

/// "20" or "0.5" -> nanoseconds. `zero` tells whether 0 will do. At most a day.
Result<std::int64_t> parse_seconds(const std::string& text, bool zero);

/// The environment's rule, which lanes know: whole seconds, digits only, no leading zero.
Result<std::int64_t> parse_environment_seconds(const std::string& text, bool zero);

/// A name that becomes a folder: not empty, no "/", not "." or "..", at most 100 bytes.
Result<std::string> parse_folder_name(const std::string& text);

}  // namespace cozy
