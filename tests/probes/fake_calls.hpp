#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probes/pseudo_file.hpp"

namespace cozy::test {

/// The system's calls over a real tree, with what a test wants to go wrong. Paths are meant below the root,
/// as in "proc/811/stat". Every open and listing is recorded. A call can be held for ever; at the end of the
/// object all are let go, and it waits until no thread is inside and no descriptor is left open.
class FakeCalls : public FileCalls {
 public:
  explicit FakeCalls(std::string root);
  ~FakeCalls() override;

  static constexpr int k_always = -1;

  /// "open", "read", "stat", "rewind" or "readlink" fails on a path. "open" is meant for listings as well.
  void fail(std::string_view call, std::string_view path, int code, int times = k_always);
  /// The lines of a faults.txt: CALL PATH ERRNO.
  void fail_all(std::string_view faults);
  /// What the listing of a directory says, whatever is there; "NAME/" is a directory. A listing.txt.
  void replace_listing(std::string_view directory, std::string_view names);
  /// Permission bits, whatever git or the file system keeps. The lines of a modes.txt: MODE PATH.
  void set_modes(std::string_view modes);
  /// Each read of the path brings at most so many bytes.
  void read_at_most(std::string_view path, std::size_t bytes);
  /// The first read of the path brings so many bytes; after that the file's text is another one.
  void change_behind(std::string_view path, std::size_t bytes, std::string_view then);

  /// An open (or listing, or readlink) of the path does not return until it is let go.
  void hold(std::string_view path);
  void let_go(std::string_view path);
  /// Waits until a thread is held at the path.
  void wait_until_held(std::string_view path);
  /// Waits until no call is under way and every descriptor is closed.
  void wait_until_idle();

  /// The paths that were opened or listed, in order.
  [[nodiscard]] std::vector<std::string> opened() const;
  [[nodiscard]] std::size_t opens_of(std::string_view path) const;

  int open(const std::string& path, int flags) override;
  ssize_t read(int descriptor, void* buffer, std::size_t size) override;
  int rewind(int descriptor) override;
  int stat(int descriptor, struct stat& facts) override;
  int close(int descriptor) override;
  ssize_t read_link(const std::string& path, char* buffer, std::size_t size) override;
  int list(const std::string& path, std::size_t most, bool modes, std::vector<DirectoryEntry>& entries) override;

 private:
  struct State;
  class Call;

  [[nodiscard]] std::string relative(const std::string& path) const;
  int list_replaced(const std::string& directory, std::size_t most, std::vector<DirectoryEntry>& entries);

  std::string root_;
  std::shared_ptr<State> state_;
};

/// The number of an error by its name, "EPERM".
int errno_of_name(std::string_view name);

}  // namespace cozy::test
