#include "collector/analyse/pressure.hpp"

#include "tests/catch.hpp"

using namespace cozy;

namespace {

Reading reading_of(std::uint64_t cpu_some, std::uint64_t io_full) {
  Reading reading;
  reading.add("cpu", "some.total_usec", cpu_some, Kind::cumulative);
  reading.add("io", "full.total_usec", io_full, Kind::cumulative);
  reading.add("cpu", "some.avg10", std::string("99.00"), Kind::instant);
  return reading;
}

std::optional<Pressure> between(const Reading& before, const Reading& after, std::int64_t seconds = 10) {
  const Stamp first{k_ns_per_second, 0};
  const Stamp second{(1 + seconds) * k_ns_per_second, 0};
  return pressure_of(difference({before, {first, first}, true}, {after, {second, second}, true}, {}));
}

}  // namespace

TEST_CASE("pressure of a window is the growth of the totals") {
  const auto pressure = between(reading_of(1'000'000, 5), reading_of(6'000'000, 5));
  REQUIRE(pressure);
  CHECK(pressure->cpu.some == 0.5);
  CHECK_FALSE(pressure->cpu.full);
  CHECK(pressure->io.full == 0.0);
  CHECK_FALSE(pressure->io.some);
  CHECK_FALSE(pressure->memory.some);
  CHECK(pressure->cpu.avg10 == "99.00");
}

TEST_CASE("pressure is never above the whole window, and what cannot be is absent") {
  CHECK(between(reading_of(0, 0), reading_of(11'900'000, 0))->cpu.some == 1.0);  // brought up to date late
  CHECK_FALSE(between(reading_of(0, 0), reading_of(12'500'000, 0))->cpu.some);
  CHECK_FALSE(between(reading_of(5, 0), reading_of(4, 0))->cpu.some);  // went back
  CHECK_FALSE(between(Reading(), Reading()));
}
