#include "collector/run/bracket.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "collector/report/output_file.hpp"
#include "collector/run/command.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_command_grace_ns = 1500 * k_ns_per_ms;
constexpr std::int64_t k_all_over_ns = 4600 * k_ns_per_ms;  // after the request; five seconds are promised
constexpr std::int64_t k_killed_patience_ns = 200 * k_ns_per_ms;
constexpr int k_start_patience_ms = 200;  // after the request; an exec that is under way takes less
constexpr int k_never_run = 125;
constexpr int k_not_executable = 126;
constexpr int k_not_found = 127;

/// What tells a bracket to end.
struct Request {
  int signal = 0;  ///< 0 when the process that started us is gone
  bool from_terminal = false;
};

/// SIGINT, SIGTERM, SIGHUP and the death of our starter behind one descriptor, from construction to destruction.
class Requests {
 public:
  Requests() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (number != SIGHUP || !is_ignored(number)) sigaddset(&set, number);
    }
    ::sigprocmask(SIG_BLOCK, &set, &before_);
    signals_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    watch(signals_);
    const pid_t starter = ::getppid();
    starter_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, starter, 0)));
    if (::getppid() != starter) starter_gone_ = true;  // it went meanwhile, and the number may be another's
    watch(starter_);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  /// What nobody took goes: it must not end this process when all is done and its status known.
  ~Requests() {
    while (next_signal()) {
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int descriptor() const { return any_.number(); }

  std::optional<Request> next() {
    if (const auto signal = next_signal()) return signal;
    if (starter_told_ || !(starter_gone_ || is_over(starter_))) return std::nullopt;
    starter_told_ = true;
    ::epoll_ctl(any_.number(), EPOLL_CTL_DEL, starter_.number(), nullptr);
    return Request{0, false};
  }

 private:
  static bool is_ignored(int number) {
    struct sigaction action {};
    return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }

  static bool is_over(const Descriptor& process) {
    pollfd ended{process.number(), POLLIN, 0};
    return ::poll(&ended, 1, 0) == 1 && (ended.revents & POLLIN) != 0;
  }

  void watch(const Descriptor& descriptor) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    if (descriptor.open()) ::epoll_ctl(any_.number(), EPOLL_CTL_ADD, descriptor.number(), &readable);
  }

  [[nodiscard]] std::optional<Request> next_signal() const {
    signalfd_siginfo info{};
    if (::read(signals_.number(), &info, sizeof info) != sizeof info) return std::nullopt;
    // What the terminal sends went to its whole foreground group.
    return Request{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
  }

  sigset_t before_{};
  Descriptor any_{::epoll_create1(EPOLL_CLOEXEC)};
  Descriptor signals_;
  Descriptor starter_;
  bool starter_gone_ = false;
  bool starter_told_ = false;
};

std::string signal_text(int number) { return std::string("SIG") + sigabbrev_np(number); }

class Bracket {
 public:
  Bracket(const BracketSteps& steps, Requests& requests, Command command)
      : steps_(steps), requests_(requests), command_(std::move(command)) {}

  int wait() {
    ChildEnd end;
    for (;;) {
      listen();
      if (command_.ended(end)) {
        close_up(child_exit_code(end) == 0);
        return child_exit_code(end);
      }
      if (!alarm_ns_ || boottime_ns() < *alarm_ns_) continue;
      alarm_ns_.reset();
      if (killed_) return child_exit_code(Signalled{SIGKILL});  // it cannot die, and nobody waits for it
      close_up(std::nullopt);
      if (starter_gone_) kill();
    }
  }

 private:
  void listen() {
    const bool idle = steps_.meanwhile && !closed_;
    std::array<pollfd, 3> descriptors{{{command_.pidfd(), POLLIN, 0},
                                       {requests_.descriptor(), POLLIN, 0},
                                       {idle ? steps_.meanwhile_fd : -1, POLLIN, 0}}};
    constexpr int k_without_pidfd_ms = 100;
    int wait_ms = command_.pidfd() >= 0 ? -1 : k_without_pidfd_ms;  // the command may take as long as it likes
    if (alarm_ns_) wait_ms = ms_until(*alarm_ns_);
    if (idle && (wait_ms < 0 || ms_until(second_ns_) < wait_ms)) wait_ms = ms_until(second_ns_);
    ::poll(descriptors.data(), descriptors.size(), wait_ms);
    if (idle) meanwhile((descriptors[2].revents & POLLIN) != 0);
    while (const auto request = requests_.next()) take(*request);
  }

  static int ms_until(std::int64_t time_ns) {
    return static_cast<int>(std::clamp<std::int64_t>((time_ns - boottime_ns()) / k_ns_per_ms + 1, 0, 60'000));
  }

  void meanwhile(bool readable) {
    const std::int64_t time_ns = boottime_ns();
    if (!readable && time_ns < second_ns_) return;
    if (time_ns >= second_ns_) second_ns_ = time_ns + k_ns_per_second;
    steps_.meanwhile(readable);
  }

  void take(const Request& request) {
    const std::int64_t time_ns = boottime_ns();
    if (!until_ns_) until_ns_ = time_ns + k_all_over_ns;
    const bool gone = request.signal == 0;
    if (!killed_ && !alarm_ns_ && (gone || !closed_)) alarm_ns_ = time_ns + k_command_grace_ns;
    starter_gone_ = starter_gone_ || gone;
    if (!request.from_terminal) command_.signal(gone ? SIGTERM : request.signal);
    std::string words =
        gone ? "the process that started this one is gone: SIGTERM to the command" : signal_text(request.signal);
    if (!gone) words += request.from_terminal ? " from the terminal" : ": passed to the command";
    steps_.say(words + (closed_ ? "" : ", then sample 2 and pack"));
  }

  void close_up(std::optional<bool> passed) {
    if (closed_) return;
    closed_ = true;
    steps_.after({until_ns_, passed, true}, requests_.descriptor());
  }

  /// Nobody is left who would wait for the command.
  void kill() {
    command_.signal(SIGKILL);
    killed_ = true;
    alarm_ns_ = boottime_ns() + k_killed_patience_ns;
  }

  const BracketSteps& steps_;
  Requests& requests_;
  Command command_;
  std::int64_t second_ns_ = boottime_ns() + k_ns_per_second;  ///< when the next second of waiting is over
  std::optional<std::int64_t> until_ns_;                      ///< set by the first request to end
  std::optional<std::int64_t> alarm_ns_;                      ///< when the command's time is over
  bool starter_gone_ = false;
  bool closed_ = false;  ///< sample 2 and what follows it are done
  bool killed_ = false;
};

/// A request to end that came before the command ran. What follows is bounded, whatever else comes.
int end_before_command(const BracketSteps& steps, const Request& request, const std::string& why_not_yet) {
  const std::string who =
      request.signal == 0 ? "the process that started this one is gone" : signal_text(request.signal);
  steps.say(who + " before the command was begun: it was never run" + why_not_yet);
  steps.after({boottime_ns() + k_all_over_ns - k_command_grace_ns, std::nullopt, false}, -1);
  return k_never_run;
}

/// The started command or its error; none when a request to end came and the start still had no answer.
std::optional<Result<Command>> start_command(const std::vector<std::string>& command, const Requests& requests) {
  CommandStart start(command);
  bool asked = false;
  for (;;) {
    std::array<pollfd, 2> heard{{{start.descriptor(), POLLIN, 0}, {asked ? -1 : requests.descriptor(), POLLIN, 0}}};
    ::poll(heard.data(), heard.size(), asked ? k_start_patience_ms : -1);
    if (auto started = start.take()) return started;
    if (asked) return std::nullopt;
    asked = (heard[1].revents & POLLIN) != 0;
  }
}

}  // namespace

int run_bracket(const std::vector<std::string>& command, const BracketSteps& steps) {
  Requests requests;
  steps.before(requests.descriptor());
  if (const auto request = requests.next()) return end_before_command(steps, *request, "");
  auto answer = start_command(command, requests);
  if (!answer) {
    const std::string why_not_yet = ", since the file of " + escape(command.front()) + " has not answered";
    return end_before_command(steps, requests.next().value_or(Request{}), why_not_yet);
  }
  Result<Command>& started = *answer;
  if (!started) {
    steps.say("cannot run " + escape(command.front()) + ": " + escape(started.error().reason) +
              "; it was never begun, so no sample 2 is taken");
    steps.after({std::nullopt, std::nullopt, false}, requests.descriptor());
    return started.error().code == ENOENT ? k_not_found : k_not_executable;
  }
  return Bracket(steps, requests, std::move(*started)).wait();
}

}  // namespace cozy
