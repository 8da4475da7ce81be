#include "kernel_mount.hpp"

#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "text.hpp"

namespace cozy {

Result<DetachedMount> DetachedMount::of(const char* file_system) {
  const auto refused = [&](const char* call) {
    return Error{file_system, std::string(call) + ": " + errno_text(errno), errno};
  };
  const int context = static_cast<int>(::syscall(SYS_fsopen, file_system, FSOPEN_CLOEXEC));
  if (context < 0) return refused("fsopen");
  if (::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    Error error = refused("fsconfig");
    ::close(context);
    return error;
  }
  const int mount = static_cast<int>(::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0));
  if (mount < 0) {
    Error error = refused("fsmount");
    ::close(context);
    return error;
  }
  ::close(context);
  return DetachedMount(mount);
}

DetachedMount::DetachedMount(DetachedMount&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DetachedMount& DetachedMount::operator=(DetachedMount&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DetachedMount::~DetachedMount() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string DetachedMount::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

Result<Done> mount_privately(const char* file_system, const char* directory) {
  const auto refused = [&](const char* call) {
    return Error{file_system, std::string(call) + ": " + errno_text(errno), errno};
  };
  if (::unshare(CLONE_NEWNS) != 0) return refused("unshare");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refused("mount --make-rprivate");
  if (::mount(file_system, directory, file_system, MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return refused("mount");
  return Done{};
}

}  // namespace cozy
