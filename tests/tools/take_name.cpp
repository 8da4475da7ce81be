// take_name PIDFILE NAME [THREAD-NAME]: a process, and a thread of it, that bear any names, for tests. Writes
// its number into PIDFILE and waits for a signal, ten minutes at most.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace {

constexpr unsigned k_longest_wait_s = 600;

void take_name_and_wait(const char* name) {
  ::prctl(PR_SET_NAME, name);
  ::sleep(k_longest_wait_s);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fputs("usage: take_name PIDFILE NAME [THREAD-NAME]\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_NAME, argv[2]);
  if (argc == 4) std::thread(take_name_and_wait, argv[3]).detach();
  const std::string unfinished = std::string(argv[1]) + ".new";
  std::ofstream(unfinished) << ::getpid() << '\n';
  if (std::rename(unfinished.c_str(), argv[1]) != 0) return 1;
  ::sleep(k_longest_wait_s);
  return 0;
}
