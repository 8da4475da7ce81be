#include "probes/text.hpp"

#include <cerrno>
#include <limits>

#include "tests/catch.hpp"

using namespace cozy;

namespace {

using Views = std::vector<std::string_view>;

struct Escaped {
  std::string_view bytes;
  std::string_view text;
};

}  // namespace

TEST_CASE("lines end at a newline, and the last one may lack it", "[text]") {
  CHECK(split_lines("").empty());
  CHECK(split_lines("a") == Views{"a"});
  CHECK(split_lines("a\n") == Views{"a"});
  CHECK(split_lines("a\n\nb") == Views{"a", "", "b"});
  CHECK(split_lines("\n\n") == Views{"", ""});
  CHECK(split_lines("a\r\nb") == Views{"a\r", "b"});
}

TEST_CASE("words are split at runs of blanks and tabs alone", "[text]") {
  CHECK(split_words("").empty());
  CHECK(split_words(" \t ").empty());
  CHECK(split_words("  a \t b") == Views{"a", "b"});
  CHECK(split_words("a\u00a0b") == Views{"a\u00a0b"});
}

TEST_CASE("pieces keep their empty neighbours", "[text]") {
  CHECK(split_at("", ',') == Views{""});
  CHECK(split_at(",", ',') == Views{"", ""});
  CHECK(split_at("a,,b", ',') == Views{"a", "", "b"});
}

TEST_CASE("trim takes blanks and line ends off both ends", "[text]") {
  CHECK(trim("").empty());
  CHECK(trim(" \r\n\t").empty());
  CHECK(trim(" a b\r\n") == "a b");
}

TEST_CASE("an unsigned number is digits, whole, within 64 bits", "[text]") {
  CHECK(parse_u64("0") == 0U);
  CHECK(parse_u64("007") == 7U);
  CHECK(parse_u64("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const std::string_view wrong : {"", " ", "-1", "+1", " 1", "1 ", "1\n", "0x10", "1e3", "1.0", "\u22121",
                                       "18446744073709551616", "99999999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_u64(wrong));
  }
  CHECK_FALSE(parse_u64(std::string_view("1\0", 2)));
}

TEST_CASE("a signed number goes down to -2^63", "[text]") {
  CHECK(parse_i64("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_i64("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_i64("-0") == 0);
  for (const std::string_view wrong :
       {"", "-", "--1", "+1", "- 1", "-1 ", "-9223372036854775809", "9223372036854775808"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_i64(wrong));
  }
}

TEST_CASE("between and after_prefix tell missing from empty", "[text]") {
  CHECK(after_prefix("srv1", "srv") == "1");
  CHECK(after_prefix("srv", "srv") == "");
  CHECK_FALSE(after_prefix("sr", "srv"));
  CHECK(between("none [integrity] x", "[", "]") == "integrity");
  CHECK(between("[]", "[", "]") == "");
  CHECK_FALSE(between("]a[", "[", "]"));
  CHECK_FALSE(between("a", "[", "]"));
}

TEST_CASE("bytes from outside become one harmless line", "[text]") {
  const Escaped table[] = {
      {"plain \u00e9 \u6771\u4eac", "plain \u00e9 \u6771\u4eac"},
      {"a\nb", "a\\x0ab"},
      {"a\\x0ab", "a\\x5cx0ab"},
      {"\x1b[31m\x7f", "\\x1b[31m\\x7f"},
      {"caf\xc3", "caf\\xc3"},
      {"\xc3(", "\\xc3("},
      {"\xc0\xaf\xe0\x80\xaf\xed\xa0\x80\xf4\x90\x80\x80\xff",
       "\\xc0\\xaf\\xe0\\x80\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xff"},
      {"a\u2028b\u2029c\u0085d", "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9c\\xc2\\x85d"},
      {"\u202egnp.\u2066\u200f\u061c", "\\xe2\\x80\\xaegnp.\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xd8\\x9c"},
      {"\ufeff123\u200b", "\\xef\\xbb\\xbf123\\xe2\\x80\\x8b"},
      {"\u00a0::error::", "\u00a0::error::"},
      {"\U0001f600", "\U0001f600"},
  };
  for (const Escaped& row : table) {
    CAPTURE(row.text);
    CHECK(escape(row.bytes) == row.text);
    CHECK(unescape(row.text) == row.bytes);
    CHECK(escape(unescape(escape(row.bytes))) == escape(row.bytes));
  }
  CHECK(escape(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("unescape leaves what is no escape", "[text]") {
  for (const std::string_view same : {"\\", "\\x", "\\x4", "\\n", "\\xzz", "\\x4g", "a\\"}) {
    CAPTURE(same);
    CHECK(unescape(same) == same);
  }
  CHECK(unescape("\\x4A\\x4a") == "JJ");
}

TEST_CASE("make_line keeps what was escaped before", "[text]") { CHECK(make_line("a\\x0ab\n") == "a\\x0ab\\x0a"); }

TEST_CASE("errors are named", "[text]") {
  CHECK(errno_name(EPERM) == "EPERM");
  CHECK(errno_text(EPERM).starts_with("EPERM ("));
  CHECK(errno_name(99999) == "errno 99999");
  CHECK(errno_text(99999) == "errno 99999");
}

TEST_CASE("numbers are written with fixed decimals, and never as nan", "[text]") {
  CHECK(fixed(3.14159, 2) == "3.14");
  CHECK(fixed(12, 0) == "12");
  CHECK(fixed(1e300, 1).size() == 303);
  CHECK(fixed(std::numeric_limits<double>::quiet_NaN(), 1) == "?");
  CHECK(fixed(std::numeric_limits<double>::infinity(), 1) == "?");
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
}
