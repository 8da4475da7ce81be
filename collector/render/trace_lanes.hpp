#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collector/render/trace_events.hpp"

namespace cozy {

/// Threads of one name, for slices that overlap: those of one thread have to lie apart.
class Lanes {
 public:
  Lanes(TraceEvents::Process process, std::string name) : process_(process), name_(std::move(name)) {}

  TraceEvents::Thread thread(TraceEvents& events, std::int64_t from_ns, std::int64_t to_ns) {
    const auto apart = [&](const auto& span) { return span.second <= from_ns || to_ns <= span.first; };
    for (Lane& lane : lanes_) {
      if (!std::all_of(lane.spans.begin(), lane.spans.end(), apart)) continue;
      lane.spans.emplace_back(from_ns, to_ns);
      return lane.thread;
    }
    lanes_.push_back({events.thread(process_, name_), {{from_ns, to_ns}}});
    return lanes_.back().thread;
  }

 private:
  struct Lane {
    TraceEvents::Thread thread;
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  };

  TraceEvents::Process process_;
  std::string name_;
  std::vector<Lane> lanes_;
};

}  // namespace cozy
