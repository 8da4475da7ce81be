#include "collector/run/bounded.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "collector/run/apart.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_after_interrupt_ns = k_ns_per_second;
constexpr std::int64_t k_end_patience_ns = 50 * k_ns_per_ms;  // from the whole answer to the end of its process
/// Stands at the end of a whole answer: a process that is killed leaves a text without it.
constexpr char k_answer_end = '\0';

[[noreturn]] void work_and_end(const std::function<std::string()>& work, int answer, pid_t parent, WorkInput input) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  let_descriptors_go(answer, input == WorkInput::ours);
  const std::string text = work() + k_answer_end;
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(k_kept_descriptor, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) break;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

/// Reads what is there. False when the pipe is at its end.
bool drain(const Descriptor& pipe, std::string& text) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int wait_ms(std::int64_t until_ns) {
  return static_cast<int>(std::clamp<std::int64_t>((until_ns - boottime_ns()) / k_ns_per_ms + 1, 0, 60'000));
}

}  // namespace

BoundedWork::BoundedWork(const std::function<std::string()>& work, WorkInput input) : begin_ns_(boottime_ns()) {
  begin(work, input);
}

BoundedWork::BoundedWork(BoundedWork&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      answer_(std::move(other.answer_)),
      begin_ns_(other.begin_ns_),
      failure_(other.failure_) {}

BoundedWork::~BoundedWork() {
  kill();
  let_go(boottime_ns() + k_end_patience_ns);
}

void BoundedWork::end_all(std::vector<std::optional<BoundedWork>>& works) {
  for (auto& work : works) {
    if (work) work->kill();
  }
  const std::int64_t until_ns = boottime_ns() + k_end_patience_ns;
  for (auto& work : works) {
    if (work) work->let_go(until_ns);
  }
}

void BoundedWork::kill() const {
  if (pid_ >= 0) ::kill(pid_, SIGKILL);
}

void BoundedWork::let_go(std::int64_t until_ns) {
  if (pid_ >= 0) reap(until_ns - boottime_ns());
  pid_ = -1;
}

void BoundedWork::begin(const std::function<std::string()>& work, WorkInput input) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    failure_ = errno;
    return;
  }
  answer_ = Descriptor(ends[0]);
  const Descriptor write_end(ends[1]);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) work_and_end(work, write_end.number(), parent, input);
  if (pid_ < 0)
    failure_ = errno;
  else
    pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  ::fcntl(answer_.number(), F_SETFL, O_NONBLOCK);
}

/// Takes the end of the process, if it comes within that time.
bool BoundedWork::reap(std::int64_t patience_ns) {
  const std::int64_t until_ns = boottime_ns() + patience_ns;
  for (;;) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) break;
    if (boottime_ns() >= until_ns) return false;
    pollfd ended{pidfd_.number(), POLLIN, 0};
    ::poll(&ended, 1, pidfd_.open() ? wait_ms(until_ns) : 1);
  }
  pid_ = -1;
  return true;
}

Result<std::string> BoundedWork::finish(std::int64_t until_ns, int interrupt_fd) {
  if (failure_ != 0) return Error{"", "no process for it: " + errno_text(failure_), failure_};
  std::string text;
  while (drain(answer_, text)) {
    if (boottime_ns() >= until_ns) {
      return Error{"", "no answer within " + std::to_string((boottime_ns() - begin_ns_) / k_ns_per_ms) + " ms",
                   ETIMEDOUT};
    }
    std::array<pollfd, 2> watched{{{answer_.number(), POLLIN, 0}, {interrupt_fd, POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), wait_ms(until_ns));
    if ((watched[1].revents & POLLIN) == 0) continue;
    interrupt_fd = -1;
    until_ns = std::min(until_ns, boottime_ns() + k_after_interrupt_ns);
  }
  reap(k_end_patience_ns);
  if (text.empty() || text.back() != k_answer_end) return Error{"", "its process died over it", 0};
  text.pop_back();
  return text;
}

Result<std::string> run_bounded(std::int64_t bound_ns, const std::function<std::string()>& work, int interrupt_fd,
                                WorkInput input) {
  return BoundedWork(work, input).finish(boottime_ns() + bound_ns, interrupt_fd);
}

}  // namespace cozy
