#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "collector/report/timeline.hpp"
#include "collector/run/recorder.hpp"

/// A recorder that is at work when the command that began it has returned, for hooks that bracket by two calls.
/// Nothing here has a bound: to be done as BoundedWork, whose end leaves the recorder alone.
namespace cozy {

/// By whom a recorder was begun, in the head of its file.
inline constexpr const char* k_watch = "watch";

/// Begins a recorder in a session of its own, which holds no descriptor of ours, at work in "/". Its process, or why
/// there is none. Where its caller is ended before it has begun, it ends as well.
struct WatchStart {
  pid_t recorder = 0;     ///< that was begun
  pid_t at_work = -1;     ///< one that is at work there already, which goes on; 0 where it cannot be seen
  std::string failure{};  ///< why there is neither
};
WatchStart start_watch(const SampleOptions& options, RecorderOptions recorder);

/// What became of the recorder, and what is in its file.
struct WatchStop {
  enum class Recorder {
    none,      ///< none is at work
    ended,     ///< it was, and has ended
    killed,    ///< it had to be killed
    stuck,     ///< not even that has ended it
    refused,   ///< it could not be signalled: see failure
    of_a_run,  ///< `run` ends it
    unproved,  ///< a process has the file locked, and the file does not say that it is its recorder
  } state = Recorder::none;
  pid_t pid = 0;
  std::string failure{};             ///< why the file could not be read, or the recorder not signalled
  std::optional<Timeline> timeline;  ///< as it is now; none where there is no file, or another one
};
WatchStop stop_watch(const SampleOptions& options);

}  // namespace cozy
