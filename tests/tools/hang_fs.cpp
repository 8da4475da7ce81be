// hang_fs DIR [--swallow]: a file system that never answers, for tests. Needs root and /dev/fuse.
//
// Mounts a FUSE at DIR and prints "ready". Whoever looks into DIR waits: by default in a wait that SIGKILL
// ends; with --swallow in one that no signal ends, because the requests are taken and never answered. Ends
// by SIGTERM, or after ten minutes; then the mount is gone and whoever waits in it gets an error.
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// The one answer that is given: without it no other request would come.
void answer_init(int fuse, const fuse_in_header& request) {
  struct {
    fuse_out_header header;
    fuse_init_out init;
  } reply{};
  reply.header.len = sizeof reply;
  reply.header.unique = request.unique;
  reply.init.major = FUSE_KERNEL_VERSION;
  reply.init.minor = FUSE_KERNEL_MINOR_VERSION;
  reply.init.max_write = 4096;
  if (::write(fuse, &reply, sizeof reply) < 0) std::perror("hang_fs: FUSE_INIT");
}

void take_request(int fuse) {
  std::vector<char> buffer(1UL << 17U);
  const ssize_t got = ::read(fuse, buffer.data(), buffer.size());
  fuse_in_header request{};
  if (got < static_cast<ssize_t>(sizeof request)) return;
  std::memcpy(&request, buffer.data(), sizeof request);
  if (request.opcode == FUSE_INIT) answer_init(fuse, request);
}

int hold(int fuse, bool swallow) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = ::signalfd(-1, &ends, SFD_CLOEXEC);
  const std::time_t end = std::time(nullptr) + 600;
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    pollfd watched[] = {{signals, POLLIN, 0}, {swallow ? fuse : -1, POLLIN, 0}};
    ::poll(watched, 2, 1000);
    if (watched[0].revents != 0 || std::time(nullptr) > end) return 0;
    if ((watched[1].revents & POLLERR) != 0) return 1;
    if (watched[1].revents != 0) take_request(fuse);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool swallow = argc == 3 && std::string_view(argv[2]) == "--swallow";
  if (argc < 2 || (argc == 3 && !swallow) || argc > 3) {
    std::fputs("usage: hang_fs DIR [--swallow]\n", stderr);
    return 2;
  }
  const int fuse = ::open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fuse < 0) return std::perror("hang_fs: /dev/fuse"), 1;
  const std::string options = "fd=" + std::to_string(fuse) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
  if (::mount("hang_fs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return std::perror("hang_fs: mount"), 1;
  }
  const int status = hold(fuse, swallow);
  ::umount2(argv[1], MNT_DETACH);
  return status;  // the end of the process closes the connection: whoever waits gets ENOTCONN
}
