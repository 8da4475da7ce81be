#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pseudo_file.hpp"

namespace cozy {

/// The inner fence around every read. A batch of files is read by a worker thread that posts its
/// progress; the caller only watches. A file that does not answer within its bound is named as
/// stalled, its worker is left behind, and a new one goes on with the next file: a stuck file costs
/// one file. When the bound of the whole walk is used up, the rest of the files are not reached.
class Watchdog {
 public:
  struct Bounds {
    std::int64_t file_ns;  ///< the longest that one file may take
    std::int64_t walk_ns;  ///< the longest that all batches together may take, from construction on
  };

  /// `calls` has to outlive not only this object but every worker that is left behind.
  Watchdog(FileCalls& calls, Bounds bounds);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  enum class What { record, stream, listing, listing_with_modes, symlink, borrowed, own_vm_statistics };

  struct Request {
    std::string path;
    What what = What::record;
    std::size_t cap = 64UL * 1024;  ///< bytes of a file, names of a listing
    std::uint64_t pid = 0;          ///< borrowed: whose descriptor; path is what /proc/PID/fd/N says it is
    int descriptor = -1;            ///< borrowed: its number there
  };

  enum class State {
    read,         ///< file, entries or target is there
    failed,       ///< error says why
    stalled,      ///< no answer within the file's bound
    not_reached,  ///< the walk's bound was used up before
  };

  struct Answer {
    State state = State::not_reached;
    FileText file;
    std::vector<DirectoryEntry> entries;
    std::string target;
    std::array<std::string, 2> tables;  ///< own_vm_statistics: of the VM, of its vCPU
    Error error;

    [[nodiscard]] bool ok() const { return state == State::read; }
    /// Why there is no content, in words: the error, "no answer within 500 ms", "not reached ...".
    [[nodiscard]] std::string reason() const { return error.reason; }
    /// The thing went away between the listing and the read: routine, no error.
    [[nodiscard]] bool vanished() const;
  };

  /// Answers in the order of the requests. Returns within the walk's bound whatever the files do.
  std::vector<Answer> read(std::vector<Request> requests);

  Answer read(Request request);

  /// Workers that were left behind in a file. The process that owns them cannot be sure to end by
  /// itself: exit_group(2) waits for a task that is stuck in the kernel.
  [[nodiscard]] std::size_t abandoned() const { return abandoned_; }

 private:
  struct Shared;
  struct Batch;

  bool start_worker();
  void watch(Batch& batch);
  void fail_rest(Batch& batch);

  FileCalls& calls_;
  Bounds bounds_;
  std::int64_t walk_end_ns_;
  std::size_t abandoned_ = 0;
  bool has_worker_ = false;
  std::shared_ptr<Shared> shared_;  ///< shared with the workers, which may outlive this object
};

}  // namespace cozy
