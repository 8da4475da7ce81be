#pragma once

#include <string>
#include <string_view>

namespace cozy {

/// Where proc, sys, the cgroup mount and debugfs are looked for: "/" on a real machine, a captured
/// or made tree in tests (`--root`). Every path of every probe is joined to it.
class Root {
 public:
  explicit Root(std::string directory = "/");

  /// True for "/": only then is the machine itself asked (CPUID, mounts, its clocks).
  [[nodiscard]] bool is_machine() const { return prefix_.empty(); }

  /// The file's path; relative is "proc/stat", without a leading slash.
  [[nodiscard]] std::string path(std::string_view relative) const;

  [[nodiscard]] std::string directory() const { return prefix_.empty() ? "/" : prefix_; }

 private:
  std::string prefix_;  ///< without a trailing slash; empty for "/"
};

}  // namespace cozy
