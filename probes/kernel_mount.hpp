#pragma once

#include <string>

#include "result.hpp"

namespace cozy {

/// A kernel file system (debugfs, securityfs) that this process alone can reach: mounted detached, so it
/// needs no mount point and leaves nothing behind. fsopen(2), fsconfig(2), fsmount(2), Linux 5.2.
class DetachedMount {
 public:
  static Result<DetachedMount> of(const char* file_system);

  DetachedMount(DetachedMount&& other) noexcept;
  DetachedMount& operator=(DetachedMount&& other) noexcept;
  DetachedMount(const DetachedMount&) = delete;
  DetachedMount& operator=(const DetachedMount&) = delete;
  ~DetachedMount();

  /// A path that leads into the mount while this object lives.
  [[nodiscard]] std::string path() const;

 private:
  explicit DetachedMount(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Mounts a kernel file system at a directory, in a mount namespace of this thread's own, for kernels
/// and containers that refuse a detached mount. Threads started before stay in the old namespace.
Result<Done> mount_privately(const char* file_system, const char* directory);

}  // namespace cozy
