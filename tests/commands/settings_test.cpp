// Values of options and variables, and why one is refused.
#include <cstdint>
#include <string>

#include "collector/settings.hpp"
#include "probes/clock.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

std::int64_t option(const std::string& text, bool zero = false) {
  const auto value = parse_seconds(text, zero);
  INFO(text);
  REQUIRE(value.ok());
  return *value;
}

std::string option_refusal(const std::string& text, bool zero = false) {
  const auto value = parse_seconds(text, zero);
  INFO(text);
  REQUIRE_FALSE(value.ok());
  return value.error().text();
}

std::string variable_refusal(const std::string& text, bool zero = false) {
  const auto value = parse_environment_seconds(text, zero);
  INFO(text);
  REQUIRE_FALSE(value.ok());
  return value.error().text();
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("seconds of an option may have a fraction", "[settings]") {
  CHECK(option("20") == 20 * k_ns_per_second);
  CHECK(option("0.5") == 500 * k_ns_per_ms);
  CHECK(option("1.000000001") == k_ns_per_second + 1);
  CHECK(option("0.000000001") == 1);
  CHECK(option("007") == 7 * k_ns_per_second);
  CHECK(option("86400") == 86400 * k_ns_per_second);
  CHECK(option("0", true) == 0);
  CHECK(option("0.0", true) == 0);
}

TEST_CASE("seconds of an option that are none are refused by their text", "[settings]") {
  for (const std::string text : {"", "x", "-1", "+1", "1e3", "20s", " 20", "20 ", "1.", ".5", "1.2.3", "1,5", "0x10",
                                 "nan", "inf", "1.0000000001", "18446744073709551616", "1\n"}) {
    const std::string refusal = option_refusal(text);
    CHECK(holds(refusal, "\""));
    CHECK_FALSE(holds(refusal, "\n"));
  }
  CHECK(holds(option_refusal("20s"), "\"20s\""));
  CHECK(holds(option_refusal("0"), "above 0"));
  CHECK(holds(option_refusal("0.0"), "above 0"));
  CHECK(holds(option_refusal("86401"), "more than a day"));
  CHECK(holds(option_refusal("86400.000000001"), "more than a day"));
  CHECK(holds(option_refusal("99999999999"), "more than a day"));
}

TEST_CASE("seconds of a variable are whole, digits alone, without a leading zero", "[settings]") {
  CHECK(*parse_environment_seconds("20", false) == 20 * k_ns_per_second);
  CHECK(*parse_environment_seconds("1", false) == k_ns_per_second);
  CHECK(*parse_environment_seconds("0", true) == 0);
  CHECK(*parse_environment_seconds("86400", true) == 86400 * k_ns_per_second);
  for (const std::string text : {"", "0.5", "x", "-1", "+1", " 20", "20 ", "20s", "1e3"}) {
    CHECK(holds(variable_refusal(text), "whole number of seconds"));
  }
  CHECK(holds(variable_refusal("007"), "leading zero"));
  CHECK(holds(variable_refusal("00", true), "leading zero"));
  CHECK(holds(variable_refusal("0"), "above 0"));
  CHECK(holds(variable_refusal("86401"), "more than a day"));
  CHECK(holds(variable_refusal("99999999999999999999999999"), "more than a day"));
}

TEST_CASE("the name of a folder is one folder", "[settings]") {
  for (const std::string name : {"kubernetes", "kubernetes-latest", "a b", "...", ".hidden", "\xc3\xa4"}) {
    const auto folder = parse_folder_name(name);
    REQUIRE(folder.ok());
    CHECK(*folder == name);
  }
  CHECK(parse_folder_name(std::string(100, 'n')).ok());
  const auto refusal = [](const std::string& name) {
    const auto folder = parse_folder_name(name);
    REQUIRE_FALSE(folder.ok());
    return folder.error().text();
  };
  CHECK(holds(refusal(""), "empty"));
  for (const std::string name : {".", "..", "a/b", "/", "../x", "a/"})
    CHECK(holds(refusal(name), "no name of one folder"));
  CHECK(holds(refusal(std::string(101, 'n')), "longer than 100 bytes"));
  for (const std::string name : {"a\nb", "a\x1b[31m", "a\x7f", "\t"}) CHECK(holds(refusal(name), "control characters"));
  CHECK_FALSE(holds(refusal("a\nb"), "\n"));
}
