#pragma once

#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "collector/run/child.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

/// Real children, and who of them is alive.
namespace cozy::run_tests {

inline std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

inline ChildBound bound_of(std::int64_t timeout_ms, std::int64_t grace_ms) {
  ChildBound bound;
  bound.timeout_ns = timeout_ms * k_ns_per_ms;
  bound.grace_ns = grace_ms * k_ns_per_ms;
  return bound;
}

/// For children that end by themselves: never to be reached.
inline ChildBound long_bound() { return bound_of(60'000, 5'000); }

/// Whether something comes back within timeout + grace + 1 s, which is the whole contract on time. A machine
/// that is busy with other things can take that second away, hardly three times in a row.
template <class Run>
bool comes_back_in_time(const ChildBound& bound, const Run& run) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::int64_t end_ns = boottime_ns() + bound.timeout_ns + bound.grace_ns + k_ns_per_second;
    run();
    if (boottime_ns() <= end_ns) return true;
  }
  return false;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Alive is what is neither a zombie nor dead: kill(pid, 0) cannot tell.
inline bool is_alive(pid_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name = stat.rfind(") ");
  return name != std::string::npos && stat[name + 2] != 'Z' && stat[name + 2] != 'X';
}

/// Marks whatever is begun while it lives, by the environment, and ends what is left of that.
class Marked {
 public:
  Marked() : mark_("COZY_TEST_MARK=" + std::to_string(::getpid()) + "." + std::to_string(boottime_ns())) {
    ::setenv("COZY_TEST_MARK", mark_.substr(mark_.find('=') + 1).c_str(), 1);
  }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
  ~Marked() {
    for (const pid_t pid : alive()) ::kill(pid, SIGKILL);
    ::unsetenv("COZY_TEST_MARK");
  }

  [[nodiscard]] std::vector<pid_t> alive() const {
    std::vector<pid_t> found;
    DIR* proc = ::opendir("/proc");
    while (const dirent* entry = ::readdir(proc)) {
      const auto pid = parse_u64(entry->d_name);
      if (!pid || static_cast<pid_t>(*pid) == ::getpid()) continue;
      const std::string environment = '\0' + read_text("/proc/" + std::string(entry->d_name) + "/environ");
      const bool marked = environment.find('\0' + mark_ + '\0') != std::string::npos;
      if (marked && is_alive(static_cast<pid_t>(*pid))) found.push_back(static_cast<pid_t>(*pid));
    }
    ::closedir(proc);
    return found;
  }

  /// Waits, generously, until that many are alive.
  [[nodiscard]] bool becomes(std::size_t count) const {
    const std::int64_t end_ns = boottime_ns() + 20 * k_ns_per_second;
    while (alive().size() != count) {
      if (boottime_ns() > end_ns) return false;
      ::usleep(10'000);
    }
    return true;
  }

 private:
  std::string mark_;
};

template <class End>
const End& end_of(const ChildOutput& output) {
  INFO("ended: " << child_end_words(output.end));
  REQUIRE(std::holds_alternative<End>(output.end));
  return std::get<End>(output.end);
}

}  // namespace cozy::run_tests
