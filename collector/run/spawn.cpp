#include "collector/run/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "probes/text.hpp"

namespace cozy {

namespace {

namespace process = boost::process::v2;

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

/// A child that could not exec ends at once: it is a copy of this process, whose exit handlers are not its own.
struct EndWithoutCleanup {
  template <class... Arguments>
  void on_exec_error(Arguments&&...) const {
    ::_exit(127);
  }
};

/// What a probe's process does between fork and exec.
struct ProbeSetup : EndWithoutCleanup {
  explicit ProbeSetup(pid_t parent_process) : parent(parent_process) {}
  pid_t parent;

  process::error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                                    const char* const*) const {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(125);  // the parent went before the request was in force
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    return {};
  }
};

/// What the command's process does: it forgets what was ours, and asks to be told when we are killed: it would go on
/// with our caller's output, and whoever waits for the end of that would wait for it. It keeps every inherited
/// descriptor.
struct CommandSetup : EndWithoutCleanup {
  CommandSetup(std::atomic<pid_t>* place, pid_t parent_process) : child(place), parent(parent_process) {}
  std::atomic<pid_t>* child;
  pid_t parent;

  process::error_code on_setup(process::posix::default_launcher& launcher, const process::filesystem::path&,
                               const char* const*) const {
    constexpr int k_most_descriptors = 4096;
    for (int descriptor = 3; descriptor < k_most_descriptors; ++descriptor) {
      const int flags = ::fcntl(descriptor, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) == 0) launcher.fd_whitelist.push_back(descriptor);
    }
    return {};
  }
  process::error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                                    const char* const*) const {
    if (child != nullptr) {
      child->store(::getpid());
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) ::_exit(125);
    }
    reset_signals();
    return {};
  }
};

/// The arguments begin with the name that the program is to see as its own.
template <class Setup>
Result<pid_t> spawn(const std::string& program, const std::vector<std::string>& arguments, process::process_stdio stdio,
                    Setup setup) {
  std::fflush(nullptr);  // no line of ours may come out twice
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  process::error_code error;
  process::posix::default_launcher launcher;
  try {
    boost::asio::io_context context;
    auto child = launcher(context.get_executor(), error, process::filesystem::path(program), argv.data(),
                          std::move(stdio), setup);
    if (error) {
      if (launcher.pid > 0) ::waitpid(launcher.pid, nullptr, 0);  // it has told of its failure and is at its end
      return Error{program, errno_text(error.value()), error.value()};
    }
    const pid_t pid = child.id();
    child.detach();  // its destructor would wait without a bound
    return pid;
  } catch (const std::exception& problem) {
    return Error{program, problem.what(), EAGAIN};
  }
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  int code = ENOENT;
  for (const std::string_view directory : split_at(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    if (name.empty()) break;
    const std::string candidate = std::string(directory.empty() ? "." : directory) + "/" + name;
    struct stat facts {};
    if (::stat(candidate.c_str(), &facts) != 0) {
      if (errno == EACCES) code = EACCES;
    } else if (S_ISREG(facts.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    } else {
      code = EACCES;
    }
  }
  return Error{name, errno_text(code), code};
}

Result<pid_t> spawn_apart(const std::vector<std::string>& command, int input, int output, int messages) {
  return spawn(command.front(), command, process::process_stdio{input, output, messages}, ProbeSetup(::getpid()));
}

Result<pid_t> spawn_inheriting(const std::vector<std::string>& command, std::atomic<pid_t>* child) {
  const auto program = find_program(command.front());
  if (!program) return program.error();
  auto pid = spawn(*program, command, process::process_stdio{}, CommandSetup(child, ::getpid()));
  if (pid || pid.error().code != ENOEXEC) return pid;
  // A script without its first line is a shell's, as execvp(3) has it.
  std::vector<std::string> script{"/bin/sh", *program};
  script.insert(script.end(), command.begin() + 1, command.end());
  return spawn("/bin/sh", script, process::process_stdio{}, CommandSetup(child, ::getpid()));
}

}  // namespace cozy
