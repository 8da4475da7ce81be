#pragma once

#include <cstddef>

namespace cozy {

enum class Format { text, markdown, json };

struct RenderOptions {
  bool explain = false;     ///< the thresholds and the rules, too
  std::size_t width = 100;  ///< text: columns; fewer than 40 are taken as 40
  bool colour = false;      ///< text: for a terminal
};

}  // namespace cozy
