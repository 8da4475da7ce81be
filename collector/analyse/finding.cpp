#include "collector/analyse/finding.hpp"

namespace cozy {

std::string_view level_name(Level level) {
  switch (level) {
    case Level::info:
      return "info";
    case Level::notice:
      return "notice";
    case Level::warning:
      return "warning";
  }
  return "info";
}

}  // namespace cozy
