// into_cgroup DIRECTORY COMMAND [ARG...]: runs COMMAND inside a cgroup of version 2 and ends as it ends. The
// command is born there where clone3(2) can do that (Linux 5.7), else this process moves and becomes it.
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace {

constexpr int k_not_run = 125;

[[noreturn]] void become(char** command) {
  ::execvp(command[0], command);
  std::fprintf(stderr, "into_cgroup: %s: %s\n", command[0], std::strerror(errno));
  ::_exit(errno == ENOENT ? 127 : 126);
}

int fail(const char* what) {
  std::fprintf(stderr, "into_cgroup: %s: %s\n", what, std::strerror(errno));
  return k_not_run;
}

/// As fork(2), with the child in the cgroup.
pid_t fork_into(int cgroup) {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<decltype(arguments.cgroup)>(cgroup);
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

int move_and_become(int cgroup, char** command) {
  const int members = ::openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (members < 0 || ::write(members, "0", 1) != 1) return fail("cgroup.procs");
  std::fprintf(stderr, "into_cgroup: moved before exec\n");
  become(command);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: into_cgroup DIRECTORY COMMAND [ARG...]\n");
    return k_not_run;
  }
  const int cgroup = ::open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (cgroup < 0) return fail(argv[1]);
  const pid_t child = fork_into(cgroup);
  if (child < 0) return move_and_become(cgroup, argv + 2);
  if (child == 0) become(argv + 2);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail("waitpid");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
