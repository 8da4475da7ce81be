#pragma once

#include "collector/report/capture.hpp"
#include "probes/reading.hpp"

namespace cozy::fuzz {

/// Rows have a scope and a field; evidence and processes of nodes belong together.
void require_sound(const Reading& reading);

/// Data is there where the outcome says so; a reason is one line.
void require_sound(const Judgement& judgement, const Reading& reading);

bool same(const Reading& a, const Reading& b);

}  // namespace cozy::fuzz
