#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/result.hpp"

namespace cozy {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Which file it is, whatever its name.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const struct stat& facts);
Identity identity_of(const Descriptor& file);

struct Listing {
  std::vector<std::string> names;  ///< sorted, without "." and ".."
  bool cut = false;                ///< there are more
  int code = 0;                    ///< errno of what ended it early, else 0
};

/// The names in an open directory, `most` of them at most. No bound on time, as everywhere in this file.
Listing list_names(const Descriptor& directory, std::size_t most);

/// A file that appears whole or not at all: written as ".NAME.partial-PID" beside its place, given its name
/// at commit(), removed without it. The temporary is locked while it is written, so that what a killed
/// process left can be told from the file of one at work, also across PID namespaces.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Makes the temporary, and removes those that killed processes left.
  Result<Done> open();
  /// Writes all of it, or returns false and keeps the errno in failure().
  bool write(const char* data, std::size_t size);
  /// Brings it to disk and gives it its name. The rename may be undone by a power cut, the content not.
  Result<Done> commit();

  /// Whether a name in a directory is this file's or that of a temporary of it.
  [[nodiscard]] bool has_name(const Identity& directory, const std::string& name) const;
  /// Whether a file is the temporary or what stood under the name before.
  [[nodiscard]] bool is_file(const Identity& file) const { return file == identity_ || file == former_identity_; }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] int failure() const { return failure_; }

 private:
  [[nodiscard]] std::optional<pid_t> pid_of_partial(const std::string& name) const;
  void remove_leftovers() const;

  std::string path_;
  std::string parent_path_;
  std::string name_;
  std::string partial_;  ///< the temporary's name while there is one
  Descriptor parent_;
  Descriptor file_;
  Identity parent_identity_;
  Identity identity_;
  Identity former_identity_;
  std::uint64_t bytes_ = 0;
  int failure_ = 0;
};

}  // namespace cozy
