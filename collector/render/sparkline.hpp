#pragma once

#include <string>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// What the nodes ran over the timeline, a line each, the name behind its marks. Bytes from outside are neutral.
struct TimelineChart {
  std::string heading;  ///< what a mark is
  std::vector<std::string> lines;
};

/// No lines where there is no timeline of a node. At most that many nodes.
TimelineChart timeline_chart(const Analysis& analysis, std::size_t most);

}  // namespace cozy
