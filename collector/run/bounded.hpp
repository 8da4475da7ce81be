#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/report/output_file.hpp"
#include "probes/result.hpp"

namespace cozy {

/// What the work finds as its standard input.
enum class WorkInput { nothing, ours };

/// Work on files, in a process of its own: a file system that does not answer must not hold the collector.
/// A thread would not do, since a process ends only when all of its threads can, and a thread that waits
/// in the kernel may not be able to. The work sees our memory as it was, holds none of our descriptors,
/// standard ones included but for an input that it is given, and tells by the text that it returns. To be
/// begun while no other thread runs.
class BoundedWork {
 public:
  explicit BoundedWork(const std::function<std::string()>& work, WorkInput input = WorkInput::nothing);
  BoundedWork(BoundedWork&& other) noexcept;
  BoundedWork& operator=(BoundedWork&&) = delete;
  BoundedWork(const BoundedWork&) = delete;
  BoundedWork& operator=(const BoundedWork&) = delete;
  /// Ends the work. What cannot die is let go.
  ~BoundedWork();

  /// The text, or why there is none; ETIMEDOUT where it was still at work. Waits until that moment of the boot-time
  /// clock at most, and when interrupt_fd becomes readable for one more second at most.
  Result<std::string> finish(std::int64_t until_ns, int interrupt_fd = -1);
  /// Ends several at once, in the time of one, whatever became of them.
  static void end_all(std::vector<std::optional<BoundedWork>>& works);

 private:
  void begin(const std::function<std::string()>& work, WorkInput input);
  void kill() const;
  bool reap(std::int64_t patience_ns);
  /// Takes the end of its process if it comes until then, and waits for it no more.
  void let_go(std::int64_t until_ns);

  pid_t pid_ = -1;
  Descriptor pidfd_;
  Descriptor answer_;
  std::int64_t begin_ns_;
  int failure_ = 0;  ///< errno of what kept it from being begun
};

/// Work that is begun and waited for at once.
Result<std::string> run_bounded(std::int64_t bound_ns, const std::function<std::string()>& work, int interrupt_fd = -1,
                                WorkInput input = WorkInput::nothing);

}  // namespace cozy
