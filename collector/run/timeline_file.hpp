#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/report/output_file.hpp"
#include "collector/report/timeline_end.hpp"
#include "probes/result.hpp"

namespace cozy {

inline constexpr std::size_t k_timeline_bytes = 8UL * 1024 * 1024;

/// The file of a timeline while it is written: whole lines, behind each other. It is locked by this process (see
/// file_lock.hpp), so that there is one writer, and its readers can tell who that is. Never grows past its budget.
class TimelineFile {
 public:
  explicit TimelineFile(std::size_t byte_budget) : budget_(byte_budget), slow_down_at_(byte_budget / 2) {}

  /// Takes the place of what an earlier recorder has left. EAGAIN where one is at work; `holder` is its process then.
  Result<Done> begin(const std::string& path, pid_t& holder);

  /// Whole lines, in one write, or nothing of them. False where that cannot be: why() tells, and all() in words.
  bool put(const std::string& lines);
  [[nodiscard]] TimelineEnd why() const { return why_; }
  [[nodiscard]] const std::string& words() const { return words_; }

  /// True once whenever half of what was left of the budget is used up: it is time to write less.
  bool take_slow_down();

  /// The last line, for which there is always room in the budget.
  void end(TimelineEnd why, std::int64_t at_ns);

 private:
  Result<Done> take_place(const std::string& path, pid_t& holder);
  bool write_whole(const std::string& lines);

  std::size_t budget_;
  std::size_t slow_down_at_;
  std::size_t bytes_ = 0;
  Descriptor file_;
  TimelineEnd why_ = TimelineEnd::write_failed;
  std::string words_;
};

}  // namespace cozy
