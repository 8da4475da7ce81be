#include "collector/report/canary.hpp"

#include "collector/render/report_analysis.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void canary(std::string_view bytes) {
  const Canary read = parse_canary(bytes);
  for (const CanaryArm& arm : read.arms) {
    require(arm.result != CanaryResult::rated || arm.rate_per_second, "an arm that is rated has a rate");
    require(!arm.below_floor || arm.is_reading(), "only a reading is below a floor");
    require(!canary_result_name(arm.result).empty(), "a result has a name");
  }
  if (holds_data(read.outcome())) require(!read.arms.empty(), "a canary that holds data has an arm");
  for (const std::string& sentence : canary_sentences({read})) require_harmless_text(sentence);
}

}  // namespace cozy::fuzz
