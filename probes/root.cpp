#include "root.hpp"

#include <utility>

namespace cozy {

Root::Root(std::string directory) : prefix_(std::move(directory)) {
  while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
}

std::string Root::path(std::string_view relative) const {
  std::string path = prefix_;
  path += '/';
  path += relative;
  return path;
}

}  // namespace cozy
