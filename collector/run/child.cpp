#include "collector/run/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "collector/run/spawn.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_messages_cap = 64UL * 1024;
constexpr std::int64_t k_settle_ns = 500 * k_ns_per_ms;             // between "closed" and "ended", either way round
constexpr std::int64_t k_after_kill_ns = 300 * k_ns_per_ms;         // SIGKILL is prompt, or it never works
constexpr std::int64_t k_interrupted_ns = 700 * k_ns_per_ms;        // what is left of the timeout ...
constexpr std::int64_t k_interrupted_grace_ns = 300 * k_ns_per_ms;  // ... and of the grace after an interrupt
constexpr int k_most_reads = 64;                                    // of one pipe in a row

int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void close_quietly(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// Two ends of a pipe, closed at exec.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
};

/// A descriptor that reads as empty: /dev/null, or in a bare root a pipe that nobody can write.
int open_empty_input() {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) return null;
  Pipe pipe;
  if (!pipe.open()) return -1;
  ::close(pipe.write_end);
  return pipe.read_end;
}

/// One child from spawn to its end. The leader is left a zombie until its group is over, so that the
/// group's number cannot come to mean somebody else's.
class Running {
 public:
  Running(const std::vector<std::string>& command, const ChildBound& bound) : bound_(bound) {
    output_.begin = now();
    deadline_ns_ = output_.begin.boottime_ns + bound.timeout_ns;
    grace_ns_ = bound.grace_ns;
    start(command);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { close_all(); }

  [[nodiscard]] bool over() const { return over_; }
  ChildOutput take() { return std::move(output_); }

  void add_descriptors(std::vector<pollfd>& descriptors) const {
    for (const int descriptor : {out_, err_, exit_seen_ ? -1 : pidfd_}) {
      if (descriptor >= 0) descriptors.push_back({descriptor, POLLIN, 0});
    }
  }

  /// The next moment at which something has to be done though nothing was heard.
  [[nodiscard]] std::int64_t alarm_ns() const {
    return settle_ns_ ? std::min(*settle_ns_, deadline_ns_) : deadline_ns_;
  }

  void interrupt() {
    const std::int64_t time_ns = boottime_ns();
    grace_ns_ = std::min(grace_ns_, k_interrupted_grace_ns);
    if (phase_ == Phase::normal) why_ = EndedHere::Why::interrupted;
    const std::int64_t left_ns = phase_ == Phase::normal ? k_interrupted_ns : grace_ns_;
    deadline_ns_ = std::min(deadline_ns_, time_ns + left_ns);
  }

  void step() {
    if (over_) return;
    drain(out_, output_.text, bound_.text_cap, &text_cut_);
    drain(err_, output_.messages, k_messages_cap, nullptr);
    look_for_exit();
    const bool silent = out_ < 0 && err_ < 0;
    if (exit_seen_ && silent) return finish();
    if (text_cut_ && phase_ == Phase::normal) return end_group(EndedHere::Why::byte_cap);
    if ((exit_seen_ || silent) && !settle_ns_) settle_ns_ = boottime_ns() + k_settle_ns;
    if (boottime_ns() < alarm_ns()) return;
    if (exit_seen_) output_.pipe_held_open = true;
    const bool settled = settle_ns_ && *settle_ns_ <= deadline_ns_;
    end_group(settled ? EndedHere::Why::would_not_end : why_);
  }

 private:
  enum class Phase { normal, terminated, killed };

  void start(const std::vector<std::string>& command) {
    Pipe out;
    Pipe err;
    int input = bound_.input.empty() ? open_empty_input() : ::open(bound_.input.c_str(), O_RDONLY | O_CLOEXEC);
    if (input < 0 || !out.open() || !err.open()) {
      not_started(Error{command.front(), errno_text(errno), errno});
    } else {
      const auto pid = spawn_apart(command, input, out.write_end, err.write_end);
      if (pid)
        begin(*pid, out, err);
      else
        not_started(pid.error());
    }
    close_quietly(input);
    close_quietly(out.write_end);
    close_quietly(err.write_end);
    if (over_) {
      close_quietly(out.read_end);
      close_quietly(err.read_end);
    }
  }

  void begin(pid_t pid, const Pipe& out, const Pipe& err) {
    pid_ = pid;
    pidfd_ = open_pidfd(pid);
    out_ = out.read_end;
    err_ = err.read_end;
    ::fcntl(out_, F_SETFL, O_NONBLOCK);
    ::fcntl(err_, F_SETFL, O_NONBLOCK);
  }

  void not_started(Error error) {
    output_.end = NotStarted{std::move(error)};
    output_.finish = now();
    over_ = true;
  }

  static void drain(int& descriptor, std::string& text, std::size_t cap, bool* cut) {
    char buffer[64 * 1024];
    // Whoever writes as fast as we read must not keep us from looking at the clock.
    for (int reads = 0; descriptor >= 0 && reads < k_most_reads; ++reads) {
      const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return close_quietly(descriptor);
      const std::size_t keep = std::min(static_cast<std::size_t>(got), cap - text.size());
      text.append(buffer, keep);
      if (keep == static_cast<std::size_t>(got)) continue;
      if (cut == nullptr) continue;  // messages beyond their cap are read away: the child shall not block on them
      *cut = true;
      return close_quietly(descriptor);  // the writer shall not go on
    }
  }

  void look_for_exit() {
    if (exit_seen_) return;
    siginfo_t info{};
    const int seen = pidfd_ >= 0 ? ::waitid(P_PIDFD, static_cast<id_t>(pidfd_), &info, WEXITED | WNOHANG | WNOWAIT)
                                 : ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (seen == 0 && info.si_pid == 0) return;
    exit_seen_ = true;
    output_.finish = now();
    if (text_cut_ && phase_ == Phase::normal) why_ = EndedHere::Why::byte_cap;  // its pipe was closed from here
    if (seen != 0) {
      output_.end = NotStarted{Error{"", "its end could not be learned: " + errno_text(errno), errno}};
    } else if (info.si_code == CLD_EXITED) {
      output_.end = Exited{info.si_status};
    } else if (phase_ == Phase::normal && !text_cut_) {
      output_.end = Signalled{info.si_status};
    } else {
      output_.end = EndedHere{why_, info.si_status};
    }
  }

  /// One step further on the way to the end: SIGTERM, then SIGKILL, then letting go.
  void end_group(EndedHere::Why why) {
    const std::int64_t time_ns = boottime_ns();
    settle_ns_.reset();
    switch (phase_) {
      case Phase::normal:
        phase_ = Phase::terminated;
        why_ = why;
        ::kill(-pid_, SIGTERM);
        ::kill(-pid_, SIGCONT);  // a stopped process takes its SIGTERM when it goes on
        deadline_ns_ = time_ns + grace_ns_;
        return;
      case Phase::terminated:
        phase_ = Phase::killed;
        ::kill(-pid_, SIGKILL);
        deadline_ns_ = time_ns + k_after_kill_ns;
        return;
      case Phase::killed:
        if (!exit_seen_) {
          output_.end = Abandoned{pid_, why_};
          output_.finish = now();
        }
        close_all();
        return;
    }
  }

  void finish() {
    if (std::holds_alternative<Exited>(output_.end) && !output_.pipe_held_open) {
      // It took the SIGTERM, or the end of its pipe, and left in its own way.
      if (phase_ != Phase::normal)
        output_.end = EndedHere{why_, SIGTERM};
      else if (text_cut_)
        output_.end = EndedHere{EndedHere::Why::byte_cap, 0};
    }
    close_all();
  }

  void reap() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  }

  /// The end of all that concerns this child. Whoever of its group is left gets a SIGKILL while the leader
  /// has not been reaped and the group's number is still its own.
  void close_all() {
    close_quietly(out_);
    close_quietly(err_);
    close_quietly(pidfd_);
    if (!over_ && pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      reap();
    }
    over_ = true;
  }

  const ChildBound& bound_;
  ChildOutput output_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_ = -1;
  int err_ = -1;
  Phase phase_ = Phase::normal;
  EndedHere::Why why_ = EndedHere::Why::deadline;
  std::int64_t deadline_ns_ = 0;
  std::int64_t grace_ns_ = 0;
  std::optional<std::int64_t> settle_ns_;
  bool exit_seen_ = false;
  bool text_cut_ = false;
  bool over_ = false;
};

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

std::string why_words(EndedHere::Why why) {
  switch (why) {
    case EndedHere::Why::deadline:
      return "bound reached";
    case EndedHere::Why::byte_cap:
      return "wrote past the byte cap";
    case EndedHere::Why::would_not_end:
      return "its output was over and it did not end";
    case EndedHere::Why::interrupted:
      return "the collector was told to end";
  }
  return "";
}

}  // namespace

std::string child_end_words(const ChildEnd& end) {
  struct Words {
    std::string operator()(const Exited& e) const { return "exited " + std::to_string(e.status); }
    std::string operator()(const Signalled& e) const {
      return "ended by " + signal_name(e.signal) + "; the status does not prove who sent it";
    }
    std::string operator()(const EndedHere& e) const {
      return why_words(e.why) + (e.signal != 0 ? ", ended by " + signal_name(e.signal) : "");
    }
    std::string operator()(const Abandoned& e) const {
      return why_words(e.why) + ", and SIGKILL did not end process " + std::to_string(e.pid) + ": abandoned";
    }
    std::string operator()(const NotStarted& e) const { return "not started: " + e.error.text(); }
  };
  return std::visit(Words{}, end);
}

int child_exit_code(const ChildEnd& end) {
  struct Code {
    int operator()(const Exited& e) const { return e.status; }
    int operator()(const Signalled& e) const { return 128 + e.signal; }
    int operator()(const EndedHere& e) const { return e.signal == SIGKILL ? 137 : 124; }
    int operator()(const Abandoned&) const { return 137; }
    int operator()(const NotStarted& e) const { return e.error.code == ENOENT ? 127 : 126; }
  };
  return std::visit(Code{}, end);
}

void run_children(const std::vector<std::vector<std::string>>& commands, const ChildBound& bound,
                  const std::function<void(std::size_t, ChildOutput)>& done) {
  std::vector<std::unique_ptr<Running>> running;
  running.reserve(commands.size());
  for (const auto& command : commands) running.push_back(std::make_unique<Running>(command, bound));

  bool interrupted = bound.interrupt_fd < 0;
  for (;;) {
    std::vector<pollfd> descriptors;
    std::int64_t alarm_ns = INT64_MAX;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (!running[i]) continue;
      running[i]->step();
      if (running[i]->over()) {
        done(i, running[i]->take());
        running[i].reset();
        continue;
      }
      running[i]->add_descriptors(descriptors);
      alarm_ns = std::min(alarm_ns, running[i]->alarm_ns());
    }
    if (alarm_ns == INT64_MAX) return;
    if (!interrupted) descriptors.push_back({bound.interrupt_fd, POLLIN, 0});
    const std::int64_t wait_ns = std::max<std::int64_t>(alarm_ns - boottime_ns(), 0);
    const timespec wait{wait_ns / k_ns_per_second, wait_ns % k_ns_per_second};
    ::ppoll(descriptors.data(), descriptors.size(), &wait, nullptr);
    if (!interrupted && (descriptors.back().revents & POLLIN) != 0) {
      interrupted = true;
      for (const auto& child : running) {
        if (child) child->interrupt();
      }
    }
  }
}

ChildOutput run_child(const std::vector<std::string>& command, const ChildBound& bound) {
  ChildOutput output;
  run_children({command}, bound, [&](std::size_t, ChildOutput result) { output = std::move(result); });
  return output;
}

}  // namespace cozy
