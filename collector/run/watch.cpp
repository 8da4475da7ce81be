#include "collector/run/watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "collector/run/apart.hpp"
#include "collector/run/file_lock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_term_patience_ms = 2500;  // a scan that does not get on is given up after two seconds
constexpr int k_kill_patience_ms = 500;
constexpr std::string_view k_begun = "begun";
constexpr std::string_view k_at_work = "at work ";

/// As seen from "/".
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return error ? path : whole.string();
}

SampleOptions with_absolute_paths(SampleOptions options) {
  options.report_dir = absolute(options.report_dir);
  options.sandbox = absolute(options.sandbox);
  for (NodeSpec& node : options.nodes) node.pid_file = absolute(node.pid_file);
  return options;
}

/// Becomes readable when this process is told to end.
int open_requests() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool tell(std::string_view words) {
  const bool told = ::write(k_kept_descriptor, words.data(), words.size()) == static_cast<ssize_t>(words.size());
  ::close(k_kept_descriptor);
  return told;
}

[[noreturn]] void record_apart(const SampleOptions& options, RecorderOptions recorder, int told) {
  ::setsid();
  ::signal(SIGPIPE, SIG_IGN);
  let_descriptors_go(told, false);
  if (::chdir("/") != 0) ::_exit(1);
  recorder.end_fd = open_requests();
  bool answered = false;
  recorder.begun = [&] {
    answered = true;
    return tell(k_begun);
  };
  const RecorderResult result = record_timeline(options, recorder);
  if (result.holder >= 0)
    tell(std::string(k_at_work) + std::to_string(result.holder));
  else if (!answered)
    tell(result.words);
  ::_exit(0);
}

std::string read_to_end(const Descriptor& file, std::size_t most) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < most) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<Descriptor> open_regular(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.open()) return Error{path, errno_text(errno), errno};
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) return Error{path, errno_text(errno), errno};
  if (!S_ISREG(facts.st_mode)) return Error{path, "is no regular file", 0};
  return file;
}

bool ends_within(const Descriptor& process, int patience_ms) {
  pollfd ended{process.number(), POLLIN, 0};
  return ::poll(&ended, 1, patience_ms) == 1;
}

bool send(const Descriptor& process, int number, std::string& failure) {
  if (::syscall(SYS_pidfd_send_signal, process.number(), number, nullptr, 0) == 0 || errno == ESRCH) return true;
  failure = "it could not be sent a signal: " + errno_text(errno);
  return false;
}

void end_recorder(const Descriptor& process, WatchStop& stop) {
  using Recorder = WatchStop::Recorder;
  stop.state = Recorder::refused;
  if (!send(process, SIGTERM, stop.failure)) return;
  stop.state = Recorder::ended;
  if (ends_within(process, k_term_patience_ms)) return;
  send(process, SIGKILL, stop.failure);
  stop.state = ends_within(process, k_kill_patience_ms) ? Recorder::killed : Recorder::stuck;
}

/// Nobody is signalled but the process that has the file locked for writing and that the file's head names, by its
/// number, start and boot. What is only written somewhere proves nothing: numbers are used again.
void find_and_end(const Descriptor& file, const Timeline& timeline, WatchStop& stop) {
  using Recorder = WatchStop::Recorder;
  const auto holder = lock_holder(file);
  if (!holder) return;
  stop.pid = *holder;
  stop.state = Recorder::unproved;
  const auto process = process_now(*holder);
  const TimelineRecorder& named = timeline.recorder;
  const bool proved = process && named.pid == static_cast<std::uint64_t>(process->pid) &&
                      named.start_ticks == process->start_ticks && named.boot == boot_id();
  if (!proved) return;
  const Descriptor descriptor = open_process(*process);
  if (!descriptor.open() || lock_holder(file) != holder) {
    stop.state = Recorder::none;  // it has just ended
    return;
  }
  stop.state = Recorder::of_a_run;
  if (named.by == k_watch) end_recorder(descriptor, stop);
}

}  // namespace

WatchStart start_watch(const SampleOptions& options, RecorderOptions recorder) {
  WatchStart start;
  recorder.by = k_watch;
  const SampleOptions own = with_absolute_paths(options);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    start.failure = errno_text(errno);
    return start;
  }
  const Descriptor answer(ends[0]);
  {
    const Descriptor told(ends[1]);
    start.recorder = ::fork();
    if (start.recorder == 0) record_apart(own, std::move(recorder), told.number());
    if (start.recorder < 0) start.failure = "no process for it: " + errno_text(errno);
  }
  constexpr std::size_t k_longest = 8192;
  const std::string words = read_to_end(answer, k_longest);
  if (words == k_begun) return start;
  start.recorder = 0;
  const auto at_work = after_prefix(words, k_at_work);
  const auto pid = at_work ? parse_u64(*at_work) : std::nullopt;
  if (pid)
    start.at_work = static_cast<pid_t>(*pid);
  else if (start.failure.empty())
    start.failure = words.empty() ? "its process died over it" : words;
  return start;
}

WatchStop stop_watch(const SampleOptions& options) {
  constexpr std::size_t k_most = 4 * k_timeline_bytes;
  WatchStop stop;
  const std::string path = timeline_file(options);
  const auto file = open_regular(path);
  if (!file) {
    if (file.error().code != ENOENT && file.error().code != ENOTDIR) stop.failure = file.error().text();
    return stop;
  }
  stop.timeline = parse_timeline(read_to_end(*file, k_most));
  find_and_end(*file, stop.timeline.value_or(Timeline{}), stop);
  if (::lseek(file->number(), 0, SEEK_SET) == 0) stop.timeline = parse_timeline(read_to_end(*file, k_most));
  return stop;
}

}  // namespace cozy
