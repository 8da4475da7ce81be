#include "collector/analyse/pressure.hpp"

#include <algorithm>
#include <string_view>

namespace cozy {

namespace {

std::optional<double> share_of(const Difference& rows, std::string_view resource, std::string_view who) {
  constexpr double k_update_seconds = 2;
  const RowChange* total = rows.find(resource, std::string(who) + ".total_usec");
  if (total == nullptr || !total->delta || !total->interval) return std::nullopt;
  const double stalled_seconds = static_cast<double>(*total->delta) / 1e6;
  const double window_seconds = total->interval->seconds();
  const double most = window_seconds + total->interval->error_seconds() + k_update_seconds;
  if (stalled_seconds > most) return std::nullopt;
  return std::min(stalled_seconds / window_seconds, 1.0);
}

ResourcePressure resource_of(const Difference& rows, std::string_view resource) {
  ResourcePressure pressure{share_of(rows, resource, "some"), share_of(rows, resource, "full"), {}};
  const RowChange* average = rows.find(resource, "some.avg10");
  if (average != nullptr && average->after != nullptr) pressure.avg10 = value_text(average->after->value);
  return pressure;
}

}  // namespace

std::optional<Pressure> pressure_of(const Difference& rows) {
  const Pressure pressure{resource_of(rows, "cpu"), resource_of(rows, "io"), resource_of(rows, "memory")};
  const auto known = [](const ResourcePressure& resource) { return resource.some || resource.full; };
  const bool any = known(pressure.cpu) || known(pressure.io) || known(pressure.memory);
  return any ? std::optional(pressure) : std::nullopt;
}

}  // namespace cozy
