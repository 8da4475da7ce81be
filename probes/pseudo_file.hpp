#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace cozy {

struct DirectoryEntry {
  std::string name;
  bool directory = false;
  unsigned mode = 0;          ///< permission bits, where the listing was asked for them
  std::int64_t mtime_ns = 0;  ///< modification time, epoch, where the listing was asked for modes
};

/// The system calls that a read needs, in one place, so that a test can make one of them fail on one
/// path. Each returns what the call returns and leaves errno. Nothing here has a bound: watchdog.hpp does.
class FileCalls {
 public:
  FileCalls() = default;
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;
  virtual ~FileCalls() = default;

  virtual int open(const std::string& path, int flags);
  virtual ssize_t read(int descriptor, void* buffer, std::size_t size);
  virtual int rewind(int descriptor);
  virtual int stat(int descriptor, struct stat& facts);
  virtual int close(int descriptor);
  virtual ssize_t read_link(const std::string& path, char* buffer, std::size_t size);
  virtual int list(const std::string& path, std::size_t most, bool modes, std::vector<DirectoryEntry>& entries);

  /// A descriptor of our own for another process's: pidfd_open(2), pidfd_getfd(2). Needs the right to trace it.
  virtual int borrow(std::uint64_t pid, int descriptor);
  virtual ssize_t read_at(int descriptor, void* buffer, std::size_t size, std::int64_t offset);

  /// The statistics of a VM and of its one vCPU, made at `device` (/dev/kvm) for this alone and gone at the
  /// return: what KVM says that they are. kvm_own_vm.hpp
  virtual int own_vm_statistics(const std::string& device, std::array<std::string, 2>& tables);

  /// The kernel's own.
  static FileCalls& system();
};

/// What one file said.
struct FileText {
  std::string text;
  bool cut = false;           ///< the byte cap was reached before the end
  unsigned mode = 0;          ///< permission bits
  std::int64_t mtime_ns = 0;  ///< modification time, epoch
  std::uint64_t inode = 0;    ///< another file under the same path has another one
};

/// How a file has to be read. The kernel makes the text of a record at the read: two reads may come
/// from two states, so a record that comes in pieces is read again from its start, and refused when
/// it never comes whole. A stream is read on until its end.
enum class FileShape { record, stream };

/// Reads a regular file whole, up to cap bytes. Never waits for a writer: the open does not block, and
/// what is no regular file is refused with its kind in the reason. proc(5) sizes are 0 and no guide.
Result<FileText> read_file(FileCalls& calls, const std::string& path, FileShape shape, std::size_t cap);

/// Names in a directory, sorted, without "." and "..". More than `most` is an error that says so.
Result<std::vector<DirectoryEntry>> list_directory(FileCalls& calls, const std::string& path, std::size_t most,
                                                   bool modes = false);

/// Where a symbolic link points.
Result<std::string> read_symlink(FileCalls& calls, const std::string& path);

/// FileCalls::own_vm_statistics, with the reason where it failed.
Result<std::array<std::string, 2>> read_own_vm_statistics(FileCalls& calls, const std::string& device);

/// Another process's open descriptor, read whole from its start. The offset that both share stays where it is,
/// and the borrowed descriptor is closed at once: it keeps alive what it belongs to. Refused when it is no
/// longer the thing that `link` names, as /proc/PID/fd/N shows it.
Result<FileText> read_borrowed(FileCalls& calls, std::uint64_t pid, int descriptor, const std::string& link,
                               std::size_t cap);

}  // namespace cozy
