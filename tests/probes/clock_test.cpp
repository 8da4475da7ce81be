#include "probes/clock.hpp"

#include <limits>

#include "tests/catch.hpp"

using namespace cozy;

TEST_CASE("the boot-time clock does not go back", "[clock]") {
  const Stamp first = now();
  const std::int64_t second = boottime_ns();
  CHECK(first.boottime_ns > 0);
  CHECK(first.epoch_ns > 0);
  CHECK(second >= first.boottime_ns);
}

TEST_CASE("times that a file states are held within bounds", "[clock]") {
  constexpr std::int64_t k_limit = (std::int64_t{1} << 62) - 1;
  CHECK(bounded_ns(12, 34) == 12'000'000'034);
  CHECK(bounded_ns(-1, 0) == -1'000'000'000);
  CHECK(bounded_ns(std::numeric_limits<std::int64_t>::max(), 0) == k_limit);
  CHECK(bounded_ns(std::numeric_limits<std::int64_t>::min(), 0) == -k_limit);
  CHECK(bounded_ns(0, std::numeric_limits<std::int64_t>::max()) == k_limit);
  CHECK(bounded_ns(0, std::numeric_limits<std::int64_t>::min()) == -k_limit);
  CHECK(bounded_ns(4611686018, 999999999) == k_limit);
}
