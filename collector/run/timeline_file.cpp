#include "collector/run/timeline_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/report/files.hpp"
#include "collector/run/file_lock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_room_for_end = 128;

Error failed(const std::string& path) { return Error{path, errno_text(errno), errno}; }

/// False for what another user, or another name, has a hold on, and for what is no file.
bool is_ours_alone(const struct stat& facts) {
  return S_ISREG(facts.st_mode) && facts.st_nlink == 1 && facts.st_uid == ::geteuid();
}

/// Who has the file under that name locked, if it is one.
std::optional<pid_t> writer_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return file.open() ? lock_holder(file) : std::nullopt;
}

}  // namespace

Result<Done> TimelineFile::begin(const std::string& path, pid_t& holder) {
  if (const auto made = make_directories(path.substr(0, path.rfind('/'))); !made) return made.error();
  constexpr int k_tries = 3;
  auto taken = take_place(path, holder);
  for (int i = 1; i < k_tries && !taken && taken.error().code == ESTALE; ++i) taken = take_place(path, holder);
  return taken;
}

/// ESTALE where the name has come to be another file's, and is to be looked at anew.
Result<Done> TimelineFile::take_place(const std::string& path, pid_t& holder) {
  constexpr mode_t k_mode = 0644;
  constexpr int k_flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && !is_ours_alone(facts)) {
    // Another user's recorder may be at work on it.
    if (const auto writer = writer_of(path)) {
      holder = *writer;
      return Error{path, "is locked by another user's recorder", EAGAIN};
    }
    if (::unlink(path.c_str()) != 0) return failed(path);
  }
  file_ = Descriptor(::open(path.c_str(), k_flags, k_mode));
  if (!file_.open()) return failed(path);
  if (const auto locked = lock_file(file_); !locked) {
    holder = lock_holder(file_).value_or(0);
    return Error{path, locked.error().reason, locked.error().code};
  }
  // Between the looks it may have been exchanged. Whoever has the lock of the file under the name is the one to write.
  struct stat named {};
  if (::fstat(file_.number(), &facts) != 0 || ::lstat(path.c_str(), &named) != 0) return failed(path);
  if (!is_ours_alone(facts) || identity_of(facts) != identity_of(named)) return Error{path, "was exchanged", ESTALE};
  if (::ftruncate(file_.number(), 0) != 0) return failed(path);
  return Done{};
}

bool TimelineFile::put(const std::string& lines) {
  if (lines.empty()) return true;
  struct stat facts {};
  if (::fstat(file_.number(), &facts) == 0 && facts.st_nlink == 0) {
    why_ = TimelineEnd::write_failed;
    words_ = "its file was removed";
    return false;
  }
  if (bytes_ + lines.size() + k_room_for_end > budget_) {
    why_ = TimelineEnd::byte_budget;
    words_ = "its file has reached the " + std::to_string(budget_) + " bytes that it may have";
    return false;
  }
  return write_whole(lines);
}

bool TimelineFile::write_whole(const std::string& lines) {
  const ssize_t written = ::write(file_.number(), lines.data(), lines.size());
  if (written == static_cast<ssize_t>(lines.size())) {
    bytes_ += lines.size();
    return true;
  }
  why_ = TimelineEnd::write_failed;
  words_ = "its file could not be written: " + (written < 0 ? errno_text(errno) : "the disk is full");
  if (written > 0 && ::ftruncate(file_.number(), static_cast<off_t>(bytes_)) != 0) words_ += "; its last line is cut";
  return false;
}

bool TimelineFile::take_slow_down() {
  if (bytes_ < slow_down_at_) return false;
  slow_down_at_ = bytes_ + (budget_ - std::min(bytes_, budget_)) / 2;
  return true;
}

void TimelineFile::end(TimelineEnd why, std::int64_t at_ns) {
  write_whole(R"({"end":")" + std::string(timeline_end_name(why)) + R"(","at":)" + std::to_string(at_ns) + "}\n");
}

}  // namespace cozy
