#pragma once

#include <cstdint>
#include <string>

#include "collector/analyse/timeline_facts.hpp"

namespace cozy {

/// "2026-12-01T05:59:12Z"
std::string moment_text(std::int64_t epoch_ns);

/// "214.0 s of the timeline (2026-12-01T05:59:12Z)"
std::string timeline_moment(const TimelineFacts& facts, double seconds);

}  // namespace cozy
