#include "collector/analyse/cpu_list.hpp"

#include "probes/text.hpp"

namespace cozy {

std::optional<std::set<std::uint64_t>> parse_cpu_list(std::string_view text) {
  constexpr std::uint64_t k_most_cpus = 65536;
  std::set<std::uint64_t> cpus;
  for (const std::string_view range : split_at(trim(text), ',')) {
    const auto ends = split_at(trim(range), '-');
    const auto first = parse_u64(ends.front());
    const auto last = parse_u64(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first || *last >= k_most_cpus) return std::nullopt;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace cozy
