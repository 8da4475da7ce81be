#pragma once

#include <cstdint>
#include <string>

#include "collector/run/bounded.hpp"
#include "collector/run/live_board.hpp"
#include "collector/run/sampler.hpp"

namespace cozy {

/// The recorder of a timeline at work, from construction to end().
class TimelineWork {
 public:
  /// The board, if there is one, is to live as long.
  TimelineWork(const SampleOptions& options, std::int64_t interval_ns, LiveBoard* board = nullptr);

  /// Ends the recorder. Why the timeline is less than it should be, or "": that the recorder ended by itself, that
  /// it died, or that it wrote nothing for longer than it has reason to. Waits for half a second at most.
  std::string end();

 private:
  std::string file_;
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
  BoundedWork work_;
};

}  // namespace cozy
