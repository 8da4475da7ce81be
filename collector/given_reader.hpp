#pragma once

#include "collector/cli.hpp"
#include "collector/given.hpp"
#include "collector/option_reader.hpp"

namespace cozy {

/// "run", "sample", ...
const char* command_name(Invocation::What what);

/// What the texts of a command's options come to; the command stands in the invocation. What is wrong is refused by
/// the reader.
void read_given(const Given& given, OptionReader& reader, Invocation& invocation);

}  // namespace cozy
