#pragma once

#include <string>
#include <string_view>

/// Bytes from outside in texts that GitHub Actions reads. Its runner obeys a line that begins with
/// "::COMMAND::" behind any white space, and "##[COMMAND]" anywhere in a line.
namespace cozy {

/// Makes raw bytes one harmless line: escape(), then every "::" that could begin a command becomes ":\x3a"
/// and every "##[" becomes "#\x23[". unescape() gives the bytes back. Safe at the begin of a line as well.
std::string neutral(std::string_view bytes);

/// The same for text that went through escape() before: backslashes are not doubled.
std::string neutral_escaped(std::string_view escaped_text);

/// The data of the tool's own "::warning PROPERTY=...::MESSAGE" lines, as @actions/core escapes them. The
/// text is to be neutral or ours.
std::string annotation_message(std::string_view text);
std::string annotation_property(std::string_view text);

}  // namespace cozy
