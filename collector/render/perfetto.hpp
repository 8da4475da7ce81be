#pragma once

#include <string>

#include "collector/render/report_analysis.hpp"

namespace cozy {

/// A trace for ui.perfetto.dev, in the trace event format: the samples as slices, the findings as instants, and the
/// timeline as counters where Analysis::series was made. Times are of the boot-time clock, from the earliest that
/// is known; of a snapshot without such stamps, of the epoch clock. At most some 80 MiB.
///
/// A counter holds its value until the next one, so a time that was not read begins with -1, which is no value.
std::string to_perfetto(const ReportAnalysis& report);

}  // namespace cozy
