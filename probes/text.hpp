#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Small readers of kernel text. All are pure; none throws on any bytes.
namespace cozy {

/// Splits at '\n'. A last line without its newline is a line too; an empty text has none.
std::vector<std::string_view> split_lines(std::string_view text);

/// Splits at runs of blanks and tabs.
std::vector<std::string_view> split_words(std::string_view line);

/// Splits at every occurrence of one character; "" gives one empty piece.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// Takes blanks, tabs, CR and LF off both ends.
std::string_view trim(std::string_view text);

/// Decimal digits only, the whole text, 64 bits: no sign, no blanks. "18446744073709551616" is none.
std::optional<std::uint64_t> parse_u64(std::string_view text);

/// As parse_u64, with an optional leading '-'; down to -2^63.
std::optional<std::int64_t> parse_i64(std::string_view text);

/// Takes a prefix off; none when the text does not begin with it.
std::optional<std::string_view> after_prefix(std::string_view text, std::string_view prefix);

/// The text between two marks, searched from the left; none when either is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view open, std::string_view close);

/// Bytes from outside as one harmless line: control bytes, DEL, backslash and whatever is not valid
/// UTF-8 become \xNN, and so do the bytes of NEL, U+2028 and U+2029, which some readers take as line
/// ends, of the marks that turn the direction of text and of those that nobody can see. Other valid UTF-8
/// stays. unescape() gives the bytes back.
std::string escape(std::string_view bytes);

/// As escape(), for words that may hold escaped bytes already: backslashes stay.
std::string make_line(std::string_view words);

/// The bytes that escape() was given. A backslash that begins no \xNN stands for itself.
std::string unescape(std::string_view text);

/// "EPERM" for EPERM; "errno 999" for a number without a name.
std::string errno_name(int code);

/// "EPERM (Operation not permitted)".
std::string errno_text(int code);

/// Parts joined with a separator.
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// A number with a fixed count of decimals, in the C locale: fixed(3.14159, 2) is "3.14". "?" for what is
/// no number.
std::string fixed(double value, int decimals);

}  // namespace cozy
