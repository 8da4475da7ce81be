#include "collector/report/timeline.hpp"

#include "collector/analyse/timeline_facts.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void timeline(std::string_view bytes) {
  const auto read = parse_timeline(bytes);
  if (!read) return;
  std::int64_t last_ns = -1;
  for (const TimelineTick& tick : read->ticks) {
    require(tick.begin_ns > last_ns && tick.end_ns >= tick.begin_ns, "time goes on");
    last_ns = tick.end_ns;
  }
  const auto facts = timeline_facts(*read, 5);
  if (!facts) return;
  for (const Stall& stall : facts->stalls) {
    require(stall.seconds() >= 5, "a stall is as long as was asked for");
    require_harmless_line(stall.node);
  }
  for (const NodeSteps& node : facts->nodes) {
    for (const auto& share : node.ran) require(!share || (*share >= 0 && *share <= 1), "a share is one");
  }
}

}  // namespace cozy::fuzz
