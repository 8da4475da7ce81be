#include "collector/report/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <memory>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

Error failed(const std::string& subject, const std::string& what, int code) {
  return Error{subject, what + ": " + errno_text(code), code};
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

bool is_locked(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Identity identity_of(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

Identity identity_of(const Descriptor& file) {
  struct stat facts {};
  return ::fstat(file.number(), &facts) == 0 ? identity_of(facts) : Identity{};
}

Listing list_names(const Descriptor& directory, std::size_t most) {
  Listing listing;
  // A description of its own: the caller's keeps its position, and closedir() leaves it open.
  const int own = ::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDirectory> stream(own >= 0 ? ::fdopendir(own) : nullptr);
  if (!stream) {
    listing.code = errno;
    if (own >= 0) ::close(own);
    return listing;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      listing.code = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    listing.cut = listing.names.size() >= most;
    if (listing.cut) break;
    listing.names.emplace_back(name);
  }
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  const std::size_t slash = path.rfind('/');
  name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  parent_path_ = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

OutputFile::~OutputFile() {
  if (!partial_.empty()) ::unlinkat(parent_.number(), partial_.c_str(), 0);
}

Result<Done> OutputFile::open() {
  if (name_.empty() || name_ == "." || name_ == "..") return Error{path_, "names no file that could be written"};
  parent_ = Descriptor(::open(parent_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent_.open()) return failed(path_, "its directory " + parent_path_ + " cannot be opened", errno);
  parent_identity_ = identity_of(parent_);
  struct stat former {};
  if (::fstatat(parent_.number(), name_.c_str(), &former, AT_SYMLINK_NOFOLLOW) == 0) {
    former_identity_ = identity_of(former);
    // Or a device that was named would be gone, with a file in its place.
    if (!S_ISREG(former.st_mode) && !S_ISLNK(former.st_mode)) return Error{path_, "is there and is no plain file"};
  }
  remove_leftovers();
  const std::string partial = "." + name_ + ".partial-" + std::to_string(::getpid());
  file_ = Descriptor(
      ::openat(parent_.number(), partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file_.open()) return failed(path_, "no temporary file can be made beside it", errno);
  partial_ = partial;
  identity_ = identity_of(file_);
  (void)is_locked(file_);  // takes the lock; where there are no locks, the pid alone decides
  return Done{};
}

std::optional<pid_t> OutputFile::pid_of_partial(const std::string& name) const {
  const auto digits = after_prefix(name, "." + name_ + ".partial-");
  const auto pid = digits ? parse_u64(*digits) : std::nullopt;
  if (!pid || *pid == 0 || *pid > INT_MAX) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

bool OutputFile::has_name(const Identity& directory, const std::string& name) const {
  return directory == parent_identity_ && (name == name_ || pid_of_partial(name));
}

void OutputFile::remove_leftovers() const {
  for (const std::string& name : list_names(parent_, SIZE_MAX).names) {
    const auto process = pid_of_partial(name);
    // Our own number may have been somebody else's before: in a container it is often the same one.
    if (!process || (*process != ::getpid() && is_alive(*process))) continue;
    const Descriptor file(::openat(parent_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file.open() || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (!is_locked(file)) ::unlinkat(parent_.number(), name.c_str(), 0);
  }
}

bool OutputFile::write(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file_.number(), data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failure_ = written < 0 ? errno : EIO;
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
    bytes_ += static_cast<std::uint64_t>(written);
  }
  return true;
}

Result<Done> OutputFile::commit() {
  // EINVAL is a file system that knows no fsync.
  if (::fsync(file_.number()) != 0 && errno != EINVAL) return failed(path_, "cannot be brought to disk", errno);
  if (::renameat(parent_.number(), partial_.c_str(), parent_.number(), name_.c_str()) != 0) {
    return failed(path_, "cannot be put in place", errno);
  }
  partial_.clear();
  (void)::fsync(parent_.number());  // what stands there is whole either way
  return Done{};
}

}  // namespace cozy
