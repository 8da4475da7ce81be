#include "collector/run/timeline_work.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/run/recorder.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_look_ns = 500 * k_ns_per_ms;
constexpr std::int64_t k_most_silence_ns = 5 * k_ns_per_second;

/// How long ago the file was written, in ns, or why that is not known.
std::string age_of(const std::string& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return errno_text(errno);
  if (facts.st_size == 0) return "it is empty";
  const std::int64_t written_ns = facts.st_mtim.tv_sec * k_ns_per_second + facts.st_mtim.tv_nsec;
  return std::to_string(std::max<std::int64_t>(now().epoch_ns - written_ns, 0));
}

/// Why it ended by itself, which nobody has asked it to.
std::string record(const SampleOptions& options, std::int64_t interval_ns, LiveBoard* board) {
  RecorderOptions recorder;
  recorder.interval_ns = interval_ns;
  recorder.board = board;
  recorder.starter = process_now(::getppid()).value_or(ProcessIdentity{});
  const RecorderResult result = record_timeline(options, recorder);
  if (result.holder > 0)
    return "process " + std::to_string(result.holder) + " writes " + timeline_file(options) + " already";
  return "the timeline ended early: " + result.words;
}

}  // namespace

TimelineWork::TimelineWork(const SampleOptions& options, std::int64_t interval_ns, LiveBoard* board)
    : file_(timeline_file(options)),
      interval_ns_(interval_ns),
      begin_ns_(boottime_ns()),
      work_([&] { return record(options, interval_ns, board); }) {}

std::string TimelineWork::end() {
  const auto ended_early = work_.finish(boottime_ns());
  if (ended_early) return *ended_early;
  if (ended_early.error().code != ETIMEDOUT) return ended_early.error().reason;
  // It was at work, as it should be; whether the work went on is seen in its file alone.
  const std::int64_t silence_ns = std::max(k_most_silence_ns, 5 * interval_ns_);
  if (boottime_ns() - begin_ns_ < silence_ns) return {};
  const auto age = run_bounded(k_look_ns, [&] { return age_of(file_); });
  if (!age) return file_ + ": " + age.error().reason;
  const auto age_ns = parse_i64(*age);
  if (!age_ns) return file_ + ": " + *age;
  if (*age_ns < silence_ns) return {};
  return "its recorder wrote nothing in the last " + fixed(static_cast<double>(*age_ns) / 1e9, 1) + " s";
}

}  // namespace cozy
