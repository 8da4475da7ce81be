#include "collector/report/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "collector/report/output_file.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array<std::string_view, 3> k_sidecar_names{"READ-WARNINGS.txt", "read-error.log",
                                                          "COLLECTION-FAILED.txt"};

Error failed(const std::string& path) { return Error{path, errno_text(errno), errno}; }

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Writes a file that has no name before it is whole: whatever ends this process leaves no half of it behind.
/// False leaves errno. Not possible on every file system, nor without /proc.
bool write_nameless(const std::string& directory, const std::string& path, std::string_view text, bool& possible) {
  const Descriptor file(::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  possible = file.open();
  if (!possible || !write_all(file.number(), text)) return false;
  const std::string itself = "/proc/self/fd/" + std::to_string(file.number());
  ::unlink(path.c_str());  // of a process that had our number before and was killed
  possible = ::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return possible;
}

/// False leaves errno, and no file.
bool write_named(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return false;
  const bool written = write_all(descriptor, text);
  int code = errno;
  const bool closed = ::close(descriptor) == 0;
  if (written && closed) return true;
  if (written) code = errno;
  ::unlink(path.c_str());
  errno = code;
  return false;
}

}  // namespace

Result<Done> make_directories(const std::string& directory) {
  for (std::size_t end = 1; end <= directory.size(); ++end) {
    if (end < directory.size() && directory[end] != '/') continue;
    const std::string part = directory.substr(0, end);
    if (::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST) continue;
    return failed(part);
  }
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0) return failed(directory);
  if (!S_ISDIR(facts.st_mode)) return Error{directory, "is a file, not a directory", ENOTDIR};
  return Done{};
}

Result<Done> write_file(const std::string& directory, const std::string& name, std::string_view text) {
  const auto made = make_directories(directory);
  if (!made) return made.error();
  const std::string path = directory + "/" + name;
  const std::string temporary = directory + "/." + name + ".partial-" + std::to_string(::getpid());
  bool nameless = false;
  const bool written =
      write_nameless(directory, temporary, text, nameless) || (!nameless && write_named(temporary, text));
  if (!written) return failed(path);
  if (::rename(temporary.c_str(), path.c_str()) == 0) return Done{};
  const int code = errno;
  ::unlink(temporary.c_str());
  errno = code;
  return failed(path);
}

Result<Done> write_capture_files(const std::string& directory, const std::string& name, std::string_view text,
                                 const std::vector<Sidecar>& sidecars) {
  for (const Sidecar& sidecar : sidecars) {
    const auto written = write_file(directory, sidecar.name, sidecar.text);
    if (!written) return written;
  }
  const auto written = write_file(directory, name, text);
  if (!written) return written;
  for (const std::string_view known : k_sidecar_names) {
    const bool kept = std::any_of(sidecars.begin(), sidecars.end(), [&](const Sidecar& s) { return s.name == known; });
    if (!kept) ::unlink((directory + "/" + std::string(known)).c_str());
  }
  return Done{};
}

}  // namespace cozy
