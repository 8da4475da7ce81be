#include "collector/run/command.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "collector/report/output_file.hpp"
#include "collector/run/spawn.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

/// A number that a child writes and its parent reads.
class SharedPid {
 public:
  SharedPid() {
    void* page = ::mmap(nullptr, sizeof *pid_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) pid_ = new (page) std::atomic<pid_t>(0);
  }
  SharedPid(const SharedPid&) = delete;
  SharedPid& operator=(const SharedPid&) = delete;
  ~SharedPid() {
    if (pid_ != nullptr) ::munmap(pid_, sizeof *pid_);
  }
  [[nodiscard]] std::atomic<pid_t>* place() const { return pid_; }

 private:
  std::atomic<pid_t>* pid_ = nullptr;
};

}  // namespace

Result<Command> Command::start(const std::vector<std::string>& arguments) {
  const auto pid = spawn_inheriting(arguments);
  if (!pid) return pid.error();
  return Command(*pid, open_pidfd(*pid));
}

Command::Command(Command&& other) noexcept : pid_(other.pid_), pidfd_(std::exchange(other.pidfd_, -1)) {}

Command::~Command() {
  if (pidfd_ >= 0) ::close(pidfd_);
}

void Command::signal(int number) const { ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0); }

bool Command::ended(ChildEnd& end) {
  siginfo_t info{};
  const int seen = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  if (seen == 0 && info.si_pid == 0) return false;
  if (seen != 0)
    end = NotStarted{Error{"", "its end could not be learned: " + errno_text(errno), errno}};
  else if (info.si_code == CLD_EXITED)
    end = Exited{info.si_status};
  else
    end = Signalled{info.si_status};
  return true;
}

struct CommandStart::Shared {
  Descriptor answered{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  SharedPid child;
  std::mutex mutex;
  bool given_up = false;
  std::optional<Result<pid_t>> answer;

  void set(Result<pid_t> result) {
    const std::lock_guard lock(mutex);
    if (given_up && result) ::kill(*result, SIGKILL);
    answer = std::move(result);
    const std::uint64_t one = 1;
    // A full counter is readable, too.
    if (::write(answered.number(), &one, sizeof one) < 0) return;
  }
};

CommandStart::CommandStart(const std::vector<std::string>& arguments) : shared_(std::make_shared<Shared>()) {
  try {
    std::thread([shared = shared_, arguments] {
      shared->set(spawn_inheriting(arguments, shared->child.place()));
      // The command is told when its parent ends, and its parent is this thread.
      for (;;) ::pause();
    }).detach();
  } catch (const std::system_error& problem) {
    shared_->set(Error{arguments.front(), "no thread to start it: " + errno_text(problem.code().value()),
                       problem.code().value()});
  }
}

CommandStart::~CommandStart() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->answer) return;
  shared_->given_up = true;
  const pid_t child = shared_->child.place() != nullptr ? shared_->child.place()->load() : 0;
  if (child > 0) ::kill(child, SIGKILL);  // not waited for yet, so the number is still its own
}

int CommandStart::descriptor() const { return shared_->answered.number(); }

std::optional<Result<Command>> CommandStart::take() {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->answer) return std::nullopt;
  const Result<pid_t>& pid = *shared_->answer;
  if (!pid) return pid.error();
  return Command(*pid, open_pidfd(*pid));
}

}  // namespace cozy
