// Quantities of CPU in every spelling of Kubernetes, and what each bad one is refused for.
#include "collector/policy/quantity.hpp"

#include <cstdint>
#include <string>

#include "tests/catch.hpp"

using namespace cozy;

namespace {

struct Spelling {
  std::string text;
  std::uint64_t milli;
};

struct Refusal {
  std::string text;
  std::string reason;
};

void check_spellings(std::initializer_list<Spelling> spellings) {
  for (const Spelling& spelling : spellings) {
    INFO(spelling.text);
    const auto milli = parse_cpu_quantity(spelling.text);
    REQUIRE(milli);
    CHECK(*milli == spelling.milli);
  }
}

void check_refusals(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    const auto milli = parse_cpu_quantity(refusal.text);
    INFO(refusal.text);
    REQUIRE_FALSE(milli);
    INFO(milli.error().text());
    CHECK(milli.error().reason.find(refusal.reason) != std::string::npos);
    CHECK(milli.error().subject.starts_with('"'));
  }
}

}  // namespace

TEST_CASE("one amount has many spellings", "[quantity]") {
  check_spellings({{"500m", 500},
                   {"0.5", 500},
                   {".5", 500},
                   {"5e-1", 500},
                   {"5E-1", 500},
                   {"+0.5", 500},
                   {"00.500", 500},
                   {"500000u", 500},
                   {"500000000n", 500},
                   {"0.0005k", 500},
                   {"50e-2", 500},
                   {"0.05e1", 500},
                   {"0.05e+1", 500},
                   {"0.05E01", 500},
                   {"+500m", 500}});
}

TEST_CASE("the decimal suffixes, the binary ones and the exponents", "[quantity]") {
  check_spellings({{"2", 2000},
                   {"5.", 5000},
                   {"5.m", 5},
                   {"1.5", 1500},
                   {"1k", 1'000'000},
                   {"1M", 1'000'000'000},
                   {"1G", 1'000'000'000'000},
                   {"1T", 1'000'000'000'000'000},
                   {"1P", 1'000'000'000'000'000'000},
                   {"0.001E", 1'000'000'000'000'000'000},
                   {"1Ki", 1'024'000},
                   {".5Ki", 512'000},
                   {"1Mi", 1'048'576'000},
                   {"1Gi", 1'073'741'824'000},
                   {"1Ti", 1'099'511'627'776'000},
                   {"1Pi", 1'125'899'906'842'624'000},
                   {"0.0009765625Ei", 1'125'899'906'842'624'000},
                   {"1e3", 1'000'000},
                   {"1E3", 1'000'000},
                   {"1E-3", 1},
                   {"1e0", 1000},
                   {"1e-0", 1000}});
}

TEST_CASE("an E with digits behind it is an exponent, one alone is exa", "[quantity]") {
  check_spellings({{"2E2", 200'000}, {"0.002E", 2'000'000'000'000'000'000}});
  check_refusals({{"1E", "is too large"}, {"1Ei", "is too large"}, {"1e", "exponent without digits"}});
}

TEST_CASE("a positive amount is at least 1m, rounded up exactly", "[quantity]") {
  check_spellings({{"1n", 1},
                   {"0.1m", 1},
                   {"1u", 1},
                   {"1000u", 1},
                   {"1001u", 2},
                   {"1000000n", 1},
                   {"1000001n", 2},
                   {"0.0001", 1},
                   {"1e-99", 1},
                   {"1e-999999999999999999999", 1},
                   {"0.0010000000000000000000000000000000001", 2},
                   {"1.0000000000000000000000000000000000000", 1000},
                   {"0.1Ki", 102'400},
                   {"0.00001Ki", 11},
                   {"0.0009765625Ki", 1000},
                   {"0.00097656250000000000000001Ki", 1001},
                   {"0.29", 290},
                   {"4.35", 4350}});
}

TEST_CASE("zero is an amount, whatever stands with it", "[quantity]") {
  check_spellings({{"0", 0},
                   {"0m", 0},
                   {"-0", 0},
                   {"+0", 0},
                   {"0.0", 0},
                   {".0", 0},
                   {"0.", 0},
                   {"0Ei", 0},
                   {"0e999999999999999999999", 0},
                   {"000", 0},
                   {"-0.0k", 0},
                   {"0E", 0}});
}

TEST_CASE("what is no quantity is refused by its reason", "[quantity]") {
  check_refusals({{"", "is empty"},
                  {"m", "begins with no number"},
                  {".", "begins with no number"},
                  {".m", "begins with no number"},
                  {"-", "begins with no number"},
                  {"+-1", "begins with no number"},
                  {"e5", "begins with no number"},
                  {"NaN", "begins with no number"},
                  {"two", "begins with no number"},
                  {" 1", "begins with a blank"},
                  {"1 ", "holds a blank"},
                  {"1 m", "holds a blank"},
                  {"1\n", "holds a blank"},
                  {"1e3m", "has an exponent and \"m\" behind it"},
                  {"1e3Ki", "has an exponent and \"Ki\" behind it"},
                  {"1e+", "has an exponent without digits"},
                  {"1e-", "has an exponent without digits"},
                  {"1E+", "has an exponent without digits"},
                  {"1e--1", "has an exponent without digits"},
                  {"1e1.5", "has an exponent that is no whole number"},
                  {"1.2.3", "has more than one decimal point"},
                  {"1..2", "has more than one decimal point"},
                  {"1K", "1000 is \"k\""},
                  {"1ki", "has the suffix \"ki\""},
                  {"1mi", "has the suffix \"mi\""},
                  {"1mm", "has the suffix \"mm\""},
                  {"1i", "has the suffix \"i\""},
                  {"1EiB", "has the suffix \"EiB\""},
                  {"1eE", "has the suffix \"eE\""},
                  {"100%", "has the suffix \"%\""},
                  {"0x10", "has the suffix \"x10\""},
                  {"1,5", "has the suffix \",5\""},
                  {"1_000", "has the suffix \"_000\""},
                  {"500 millicpu", "holds a blank"},
                  {std::string("1\0", 2), "has the suffix \"\\x00\""}});
}

TEST_CASE("negative and too large amounts are refused", "[quantity]") {
  check_refusals({{"-1", "is negative"},
                  {"-500m", "is negative"},
                  {"-1n", "is negative"},
                  {"-1e-99", "is negative"},
                  {"9223372036854775808m", "is too large"},
                  {"9223372036854775807.1m", "is too large"},
                  {"18446744073709551616m", "is too large"},
                  {"99999999999999999999999999999999999999", "is too large"},
                  {"1e999999999999999999999", "is too large"},
                  {"9223372036854776", "is too large"},
                  {"9Pi", "is too large"}});
  check_spellings(
      {{"9223372036854775807m", 9'223'372'036'854'775'807}, {"9223372036854775806.1m", 9'223'372'036'854'775'807}});
}

TEST_CASE("an amount is written with as little as it needs", "[quantity]") {
  CHECK(cpu_quantity_text(500) == "500m");
  CHECK(cpu_quantity_text(2000) == "2");
  CHECK(cpu_quantity_text(1500) == "1500m");
  CHECK(cpu_quantity_text(0) == "0");
}
