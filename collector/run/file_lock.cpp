#include "collector/run/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "probes/text.hpp"

namespace cozy {

namespace {

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<Done> lock_file(const Descriptor& file) {
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(file.number(), F_SETLK, &lock) == 0) return Done{};
  const int code = errno == EACCES ? EAGAIN : errno;
  return Error{"", "cannot be locked: " + errno_text(code), code};
}

std::optional<pid_t> lock_holder(const Descriptor& file) {
  // What stands against a lock for reading is a lock for writing alone.
  struct flock lock = whole_file(F_RDLCK);
  if (::fcntl(file.number(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return std::max<pid_t>(lock.l_pid, 0);
}

}  // namespace cozy
