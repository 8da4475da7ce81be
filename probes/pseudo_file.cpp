#include "pseudo_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "clock.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_buffer = 64UL * 1024;
constexpr int k_record_tries = 3;

Error failed(const std::string& path, int code) { return Error{path, errno_text(code), code}; }

std::string kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "a special file";
}

/// Closes a descriptor of FileCalls at the end of a scope.
class OpenFile {
 public:
  OpenFile(FileCalls& calls, int descriptor) : calls_(calls), descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { calls_.close(descriptor_); }
  [[nodiscard]] int number() const { return descriptor_; }

 private:
  FileCalls& calls_;
  int descriptor_;
};

/// One pass over the file. `pieces` counts the reads that returned bytes without filling the buffer.
struct Pass {
  std::string text;
  int pieces = 0;
  bool cut = false;
  int code = 0;  ///< errno of the read that failed, else 0
};

Pass read_once(FileCalls& calls, int descriptor, std::size_t cap) {
  Pass pass;
  char buffer[k_buffer];  // of this worker's stack: most files hold a line, and nothing is cleared for them
  for (;;) {
    const std::size_t room = std::min(sizeof buffer, cap + 1 - pass.text.size());
    ssize_t got = 0;
    do {
      got = calls.read(descriptor, buffer, room);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      pass.code = errno;
      return pass;
    }
    if (got == 0) return pass;
    if (static_cast<std::size_t>(got) < room) ++pass.pieces;
    pass.text.append(buffer, static_cast<std::size_t>(got));
    if (pass.text.size() > cap) {
      pass.text.resize(cap);
      pass.cut = true;
      return pass;
    }
  }
}

}  // namespace

int FileCalls::open(const std::string& path, int flags) { return ::open(path.c_str(), flags); }
ssize_t FileCalls::read(int descriptor, void* buffer, std::size_t size) { return ::read(descriptor, buffer, size); }
int FileCalls::rewind(int descriptor) { return ::lseek(descriptor, 0, SEEK_SET) == 0 ? 0 : -1; }
int FileCalls::stat(int descriptor, struct stat& facts) { return ::fstat(descriptor, &facts); }
int FileCalls::close(int descriptor) { return ::close(descriptor); }

ssize_t FileCalls::read_link(const std::string& path, char* buffer, std::size_t size) {
  return ::readlink(path.c_str(), buffer, size);
}

int FileCalls::list(const std::string& path, std::size_t most, bool modes, std::vector<DirectoryEntry>& entries) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return -1;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == most) {
      ::closedir(directory);
      errno = E2BIG;
      return -1;
    }
    struct stat facts {};
    const bool look = modes || entry->d_type == DT_UNKNOWN;  // some file systems keep no types in directories
    const bool looked = look && ::fstatat(::dirfd(directory), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
    entries.push_back({std::string(name), entry->d_type == DT_DIR || (looked && S_ISDIR(facts.st_mode)),
                       static_cast<unsigned>(facts.st_mode & 07777U),
                       looked ? bounded_ns(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec) : 0});
    errno = 0;
  }
  const int code = errno;
  ::closedir(directory);
  errno = code;
  return code == 0 ? 0 : -1;
}

int FileCalls::borrow(std::uint64_t pid, int descriptor) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return -1;
  const int borrowed = static_cast<int>(::syscall(SYS_pidfd_getfd, process, descriptor, 0));
  const int code = errno;
  ::close(process);
  errno = code;
  return borrowed;
}

ssize_t FileCalls::read_at(int descriptor, void* buffer, std::size_t size, std::int64_t offset) {
  return ::pread(descriptor, buffer, size, offset);
}

FileCalls& FileCalls::system() {
  static FileCalls calls;
  return calls;
}

Result<FileText> read_file(FileCalls& calls, const std::string& path, FileShape shape, std::size_t cap) {
  const int descriptor = calls.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return failed(path, errno);
  const OpenFile file(calls, descriptor);

  struct stat facts {};
  if (calls.stat(file.number(), facts) != 0) return failed(path, errno);
  if (!S_ISREG(facts.st_mode)) return Error{path, "is " + kind_of(facts.st_mode) + ", not a regular file", 0};

  for (int attempt = 1;; ++attempt) {
    Pass pass = read_once(calls, file.number(), cap);
    if (pass.code != 0) return failed(path, pass.code);
    if (shape == FileShape::stream || pass.pieces <= 1) {
      const std::int64_t mtime = bounded_ns(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
      return FileText{std::move(pass.text), pass.cut, facts.st_mode & 07777U, mtime, facts.st_ino};
    }
    if (attempt == k_record_tries) return Error{path, "came in pieces, each time it was read", 0};
    if (calls.rewind(file.number()) != 0) return failed(path, errno);
  }
}

Result<std::vector<DirectoryEntry>> list_directory(FileCalls& calls, const std::string& path, std::size_t most,
                                                   bool modes) {
  std::vector<DirectoryEntry> entries;
  if (calls.list(path, most, modes, entries) != 0) {
    if (errno == E2BIG) return Error{path, "holds more than " + std::to_string(most) + " names", E2BIG};
    return failed(path, errno);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

Result<std::string> read_symlink(FileCalls& calls, const std::string& path) {
  std::array<char, 4096> buffer{};
  const ssize_t length = calls.read_link(path, buffer.data(), buffer.size());
  if (length < 0) return failed(path, errno);
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

Result<std::array<std::string, 2>> read_own_vm_statistics(FileCalls& calls, const std::string& device) {
  std::array<std::string, 2> tables;
  if (calls.own_vm_statistics(device, tables) != 0) return failed(device, errno);
  return tables;
}

Result<FileText> read_borrowed(FileCalls& calls, std::uint64_t pid, int descriptor, const std::string& link,
                               std::size_t cap) {
  const int borrowed = calls.borrow(pid, descriptor);
  if (borrowed < 0) return failed(link, errno);
  const OpenFile file(calls, borrowed);
  // Between the listing and now the number may have come to mean something else.
  const auto target = read_symlink(calls, "/proc/self/fd/" + std::to_string(borrowed));
  if (!target) return target.error();
  if (*target != link) return Error{link, "is another file by now: " + *target, 0};
  FileText text;
  char buffer[k_buffer];
  while (text.text.size() <= cap) {
    const ssize_t got =
        calls.read_at(file.number(), buffer, sizeof buffer, static_cast<std::int64_t>(text.text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(link, errno);
    if (got == 0) return text;
    text.text.append(buffer, static_cast<std::size_t>(got));
  }
  text.text.resize(cap);
  text.cut = true;
  return text;
}

}  // namespace cozy
