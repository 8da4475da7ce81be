#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "collector/cli.hpp"
#include "collector/commands.hpp"

namespace {

/// Takes the place of standard descriptors that our caller has closed, or the next file opened would get
/// the number of one and lines of ours in it. Reading and writing fail as before, and a program that we
/// begin finds them closed.
void occupy_standard_descriptors() {
  while (true) {
    const int descriptor = ::open("/", O_PATH | O_CLOEXEC);
    if (descriptor > STDERR_FILENO) ::close(descriptor);
    if (descriptor < 0 || descriptor > STDERR_FILENO) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  // Spawned as /proc/self/exe this process would be called "exe" by the kernel.
  ::prctl(PR_SET_NAME, "cozybracket");
  // A starter can have left it ignored; then the kernel would keep no child's end for us.
  std::signal(SIGCHLD, SIG_DFL);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const cozy::Parsed parsed = cozy::parse_command_line(arguments);
  if (!parsed.invocation) {
    std::fputs(parsed.text.c_str(), parsed.to_stderr ? stderr : stdout);
    return std::fflush(nullptr) == 0 ? parsed.status : 1;
  }
  const int status = cozy::perform(*parsed.invocation);
  std::fflush(nullptr);
  if (cozy::threads_left_behind()) ::_exit(status);
  return status;
}
