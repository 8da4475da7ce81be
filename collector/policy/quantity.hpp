#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probes/result.hpp"

namespace cozy {

/// An amount of CPU as Kubernetes writes it (resource.Quantity) in milli-CPU, rounded up and exact: a sign,
/// digits with or without a decimal point ("2", "0.5", ".5", "5."), and behind them nothing, one of
/// n u m k M G T P E, one of Ki Mi Gi Ti Pi Ei, or an exponent ("5e-1", "1E3"; "1E" alone is exa). The reason
/// of an error says what is wrong in words; its subject is the text.
Result<std::uint64_t> parse_cpu_quantity(std::string_view text);

/// "500m", "2", "1500m".
std::string cpu_quantity_text(std::uint64_t milli);

}  // namespace cozy
