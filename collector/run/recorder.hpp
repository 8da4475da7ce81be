#pragma once

#include <cstdint>
#include <string>

#include "collector/run/sampler.hpp"

namespace cozy {

/// <report-dir>/snapshots/<snapshot>/timeline/timeline.jsonl
std::string timeline_file(const SampleOptions& options);

/// Writes that file: a light reading every interval, until its process is ended. To be done as BoundedWork: it has
/// no bound but that process's end, a longest duration and a budget of bytes, for which it takes fewer readings,
/// and says so in the file. Returns early, with the reason, where it cannot write.
std::string record_timeline(const SampleOptions& options, std::int64_t interval_ns);

}  // namespace cozy
