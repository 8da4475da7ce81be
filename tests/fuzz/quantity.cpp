#include "collector/policy/quantity.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void quantity(std::string_view bytes) {
  const auto milli = parse_cpu_quantity(bytes);
  if (!milli) return require_harmless_line(milli.error().text());
  const auto again = parse_cpu_quantity(cpu_quantity_text(*milli));
  require(again && *again == *milli, "what is written of an amount is that amount");
}

}  // namespace cozy::fuzz
