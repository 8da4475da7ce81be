#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "probes/clock.hpp"

/// What stands around the data in a file of the shell collectors.
namespace cozy {

/// "[read attempted from A to B epoch seconds]". Whole seconds of the wall clock, taken before and after the
/// read, and no boot-time: `end` is the second in which the read ended, not the one after it.
struct ShellStamps {
  Stamp begin;
  Stamp end;
};

/// The last one of the text; none where none is whole.
std::optional<ShellStamps> find_shell_stamps(std::string_view text);

/// The last "[capture exit code: N]".
std::optional<int> find_shell_exit_code(std::string_view text);

/// What an exit code may mean: it never proves who ended the read.
std::string exit_code_words(int code);

/// An unbracketed line that says what fell short.
struct ShellStatement {
  enum class Word { incomplete, unavailable, unknown };
  Word word;
  std::string reason;  ///< what stands behind its colon, as one line
};

/// By the last word before the first colon; lines of data are not to be asked, they may hold anything.
std::optional<ShellStatement> parse_statement(std::string_view line);

}  // namespace cozy
