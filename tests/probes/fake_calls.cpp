#include "tests/probes/fake_calls.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "probes/text.hpp"

namespace cozy::test {

namespace {

struct Fault {
  int code = 0;
  int times = FakeCalls::k_always;
};

/// A file whose text is another one after the first read.
struct Change {
  std::size_t bytes = 0;
  std::string then;
  bool happened = false;
};

struct OpenFile {
  std::string path;
  std::size_t offset = 0;  ///< in Change::then
};

}  // namespace

struct FakeCalls::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<std::string, std::string>, Fault> faults;
  std::map<std::string, std::vector<std::string>> listings;
  std::map<std::string, unsigned> modes;
  std::map<std::string, std::size_t> read_limits;
  std::map<std::string, Change> changes;
  std::map<int, OpenFile> files;
  std::multiset<std::string> held;  ///< threads that wait, by path
  std::set<std::string> holds;
  std::vector<std::string> opened;
  std::size_t calls = 0;  ///< under way

  /// The error that a call is to end with, or 0. Called with the mutex held.
  int fault(const std::string& call, const std::string& path) {
    const auto found = faults.find({call, path});
    if (found == faults.end() || found->second.times == 0) return 0;
    if (found->second.times > 0) --found->second.times;
    return found->second.code;
  }
};

/// One call: counted while it is under way, and held while its path is.
class FakeCalls::Call {
 public:
  Call(std::shared_ptr<State> state, const std::string& path) : state_(std::move(state)) {
    std::unique_lock lock(state_->mutex);
    ++state_->calls;
    if (!state_->holds.contains(path)) return;
    state_->held.insert(path);
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return !state_->holds.contains(path); });
    state_->held.erase(state_->held.find(path));
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    const int code = errno;
    {
      const std::lock_guard lock(state_->mutex);
      --state_->calls;
      state_->changed.notify_all();
    }
    errno = code;
  }

 private:
  std::shared_ptr<State> state_;
};

FakeCalls::FakeCalls(std::string root) : root_(std::move(root)), state_(std::make_shared<State>()) {
  while (root_.ends_with('/')) root_.pop_back();
}

FakeCalls::~FakeCalls() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->holds.clear();
    state_->changed.notify_all();
  }
  wait_until_idle();
}

void FakeCalls::fail(std::string_view call, std::string_view path, int code, int times) {
  const std::lock_guard lock(state_->mutex);
  state_->faults[{std::string(call), std::string(path)}] = {code, times};
}

void FakeCalls::fail_all(std::string_view faults) {
  for (const std::string_view line : split_lines(faults)) {
    const auto words = split_words(line);
    if (words.size() == 3) fail(words[0], words[1], errno_of_name(words[2]));
  }
}

void FakeCalls::replace_listing(std::string_view directory, std::string_view names) {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string>& list = state_->listings[std::string(directory)];
  list.clear();
  for (const std::string_view name : split_lines(names)) list.emplace_back(name);
}

void FakeCalls::set_modes(std::string_view modes) {
  const std::lock_guard lock(state_->mutex);
  for (const std::string_view line : split_lines(modes)) {
    const auto words = split_words(line);
    unsigned mode = 0;
    if (words.size() != 2) continue;
    std::from_chars(words[0].data(), words[0].data() + words[0].size(), mode, 8);
    state_->modes[std::string(words[1])] = mode;
  }
}

void FakeCalls::read_at_most(std::string_view path, std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->read_limits[std::string(path)] = bytes;
}

void FakeCalls::change_behind(std::string_view path, std::size_t bytes, std::string_view then) {
  const std::lock_guard lock(state_->mutex);
  state_->changes[std::string(path)] = {bytes, std::string(then), false};
}

void FakeCalls::hold(std::string_view path) {
  const std::lock_guard lock(state_->mutex);
  state_->holds.emplace(path);
}

void FakeCalls::let_go(std::string_view path) {
  const std::lock_guard lock(state_->mutex);
  state_->holds.erase(std::string(path));
  state_->changed.notify_all();
}

void FakeCalls::wait_until_held(std::string_view path) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->held.contains(std::string(path)); });
}

void FakeCalls::wait_until_idle() {
  const std::shared_ptr<State> state = state_;
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->calls == 0 && state->files.empty(); });
}

std::vector<std::string> FakeCalls::opened() const {
  const std::lock_guard lock(state_->mutex);
  return state_->opened;
}

std::size_t FakeCalls::opens_of(std::string_view path) const {
  const auto paths = opened();
  return static_cast<std::size_t>(std::count(paths.begin(), paths.end(), path));
}

std::string FakeCalls::relative(const std::string& path) const {
  return path.starts_with(root_ + "/") ? path.substr(root_.size() + 1) : path;
}

int FakeCalls::open(const std::string& path, int flags) {
  const std::string name = relative(path);
  const Call call(state_, name);
  const std::lock_guard lock(state_->mutex);
  state_->opened.push_back(name);
  if (const int code = state_->fault("open", name)) {
    errno = code;
    return -1;
  }
  const int descriptor = FileCalls::open(path, flags);
  if (descriptor >= 0) state_->files[descriptor] = {name, 0};
  return descriptor;
}

ssize_t FakeCalls::read(int descriptor, void* buffer, std::size_t size) {
  const Call call(state_, {});
  const std::lock_guard lock(state_->mutex);
  OpenFile& file = state_->files[descriptor];
  if (const int code = state_->fault("read", file.path)) {
    errno = code;
    return -1;
  }
  const auto limit = state_->read_limits.find(file.path);
  if (limit != state_->read_limits.end()) size = std::min(size, limit->second);
  const auto change = state_->changes.find(file.path);
  if (change == state_->changes.end()) return FileCalls::read(descriptor, buffer, size);

  std::size_t got = 0;
  if (!change->second.happened) {
    change->second.happened = true;
    got = static_cast<std::size_t>(std::max<ssize_t>(FileCalls::read(descriptor, buffer, change->second.bytes), 0));
  } else {
    const std::string& then = change->second.then;
    got = std::min(size, then.size() - std::min(then.size(), file.offset));
    if (got > 0) std::memcpy(buffer, then.data() + file.offset, got);
  }
  file.offset += got;
  return static_cast<ssize_t>(got);
}

int FakeCalls::rewind(int descriptor) {
  const Call call(state_, {});
  const std::lock_guard lock(state_->mutex);
  OpenFile& file = state_->files[descriptor];
  if (const int code = state_->fault("rewind", file.path)) {
    errno = code;
    return -1;
  }
  file.offset = 0;
  return FileCalls::rewind(descriptor);
}

int FakeCalls::stat(int descriptor, struct stat& facts) {
  const Call call(state_, {});
  const std::lock_guard lock(state_->mutex);
  const std::string& path = state_->files[descriptor].path;
  if (const int code = state_->fault("stat", path)) {
    errno = code;
    return -1;
  }
  const int result = FileCalls::stat(descriptor, facts);
  const auto mode = state_->modes.find(path);
  if (mode != state_->modes.end()) facts.st_mode = (facts.st_mode & ~07777U) | mode->second;
  return result;
}

int FakeCalls::close(int descriptor) {
  const Call call(state_, {});
  const std::lock_guard lock(state_->mutex);
  state_->files.erase(descriptor);
  return FileCalls::close(descriptor);
}

ssize_t FakeCalls::read_link(const std::string& path, char* buffer, std::size_t size) {
  const std::string name = relative(path);
  const Call call(state_, name);
  const std::lock_guard lock(state_->mutex);
  if (const int code = state_->fault("readlink", name)) {
    errno = code;
    return -1;
  }
  return FileCalls::read_link(path, buffer, size);
}

int FakeCalls::list(const std::string& path, std::size_t most, bool modes, std::vector<DirectoryEntry>& entries) {
  const std::string name = relative(path);
  const Call call(state_, name);
  const std::lock_guard lock(state_->mutex);
  state_->opened.push_back(name);
  if (const int code = state_->fault("open", name)) {
    errno = code;
    return -1;
  }
  if (state_->listings.contains(name)) return list_replaced(name, most, entries);
  const int result = FileCalls::list(path, most, modes, entries);
  const int code = errno;
  for (DirectoryEntry& entry : entries) {
    const auto mode = state_->modes.find(name + "/" + entry.name);
    if (modes && mode != state_->modes.end()) entry.mode = mode->second;
  }
  errno = code;
  return result;
}

int FakeCalls::list_replaced(const std::string& directory, std::size_t most, std::vector<DirectoryEntry>& entries) {
  for (std::string name : state_->listings[directory]) {
    if (entries.size() == most) {
      errno = E2BIG;
      return -1;
    }
    const bool is_directory = name.ends_with('/');
    if (is_directory) name.pop_back();
    const auto mode = state_->modes.find(directory + "/" + name);
    entries.push_back({name, is_directory, mode != state_->modes.end() ? mode->second : 0644U});
  }
  return 0;
}

int errno_of_name(std::string_view name) {
  constexpr int k_most = 200;
  for (int code = 1; code < k_most; ++code) {
    if (errno_name(code) == name) return code;
  }
  return 0;
}

}  // namespace cozy::test
