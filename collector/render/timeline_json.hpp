#pragma once

#include "collector/analyse/timeline_facts.hpp"
#include "collector/render/json_object.hpp"

namespace cozy {

/// What a script wants of the seconds between the samples; the seconds themselves are in timeline/timeline.jsonl.
JsonObject timeline_json(const TimelineFacts& facts);

}  // namespace cozy
