#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace cozy {

/// The kernel's list format, "0-3,8": cpu/online and its like (Documentation/admin-guide/cputopology.rst).
/// None for anything else and for more CPUs than any machine has.
std::optional<std::set<std::uint64_t>> parse_cpu_list(std::string_view text);

}  // namespace cozy
