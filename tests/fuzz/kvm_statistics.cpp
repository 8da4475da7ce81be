#include "probes/kvm_stats.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void kvm_statistics(std::string_view bytes) {
  const auto parsed = parse_kvm_statistics(bytes);
  if (!parsed) return require_harmless_line(parsed.error().text());
  require(bytes.find(parsed->id) != std::string_view::npos, "the id stands in the bytes");
  for (const KvmStatistic& statistic : parsed->statistics) {
    require(!statistic.name.empty() && !statistic.values.empty(), "a statistic has a name and a value");
    require(statistic.values.size() * sizeof(std::uint64_t) <= bytes.size(), "the values stand in the bytes");
    require(statistic.kind != Kind::unknown || !statistic.type.empty(), "a statistic says what it is");
  }
  for (const std::string& words : parsed->left_out) require_harmless_line(words);
}

}  // namespace cozy::fuzz
