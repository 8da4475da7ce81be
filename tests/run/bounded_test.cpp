// Work in a process of its own. That a file system which never answers does not hold us is shown by
// tests/bounded.bats.
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "collector/run/bounded.hpp"
#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

namespace {

constexpr std::int64_t k_long_ns = 60 * k_ns_per_second;

/// A file that tells the number of the process that works.
class PidPlace {
 public:
  PidPlace() : path_(std::filesystem::temp_directory_path() / ("cozy-bounded-" + std::to_string(::getpid()))) {}
  PidPlace(const PidPlace&) = delete;
  PidPlace& operator=(const PidPlace&) = delete;
  ~PidPlace() { std::filesystem::remove(path_); }
  void tell() const { std::ofstream(path_) << ::getpid() << '\n'; }
  /// Waits, generously, until it is told.
  [[nodiscard]] pid_t pid() const {
    for (int i = 0; i < 2000; ++i, ::usleep(10'000)) {
      const std::string text = read_text(path_.string());
      if (text.ends_with('\n')) return std::stoi(text);
    }
    FAIL("the work was not begun");
    return 0;
  }

 private:
  std::filesystem::path path_;
};

bool ends(pid_t pid) {
  for (int i = 0; i < 2000 && is_alive(pid); ++i) ::usleep(10'000);
  return !is_alive(pid);
}

std::string never(const PidPlace& place) {
  place.tell();
  ::sleep(300);
  return "never";
}

std::string open_descriptors() {
  std::string names;
  DIR* directory = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != ::dirfd(directory))
      names += std::string(entry->d_name) + " ";
  }
  ::closedir(directory);
  return names;
}

}  // namespace

TEST_CASE("work tells by the text that it returns", "[bounded]") {
  std::string text("a\0b\n\0", 5);
  SECTION("any bytes") {}
  SECTION("none") { text.clear(); }
  SECTION("more than a pipe holds") { text.assign(3'000'000, 'x'); }
  const auto answer = run_bounded(k_long_ns, [&] { return text; });
  REQUIRE(answer.ok());
  CHECK(*answer == text);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("work changes nothing of ours", "[bounded]") {
  int value = 1;
  CHECK(run_bounded(k_long_ns, [&] { return std::to_string(++value); }).ok());
  CHECK(value == 1);
}

TEST_CASE("work that does not end is ended, and it is said", "[bounded]") {
  const PidPlace place;
  const auto answer = run_bounded(300 * k_ns_per_ms, [&] { return never(place); });
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().text().find("no answer within ") == 0);
  CHECK(ends(place.pid()));
}

TEST_CASE("an answer that came in part is none", "[bounded]") {
  const auto answer = run_bounded(k_long_ns, []() -> std::string {
    CHECK(::write(3, "half", 4) == 4);
    ::_exit(0);
  });
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().text().find("died") != std::string::npos);
}

TEST_CASE("work that dies has no answer", "[bounded]") {
  const auto answer = run_bounded(k_long_ns, []() -> std::string {
    ::raise(SIGKILL);
    return "never";
  });
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().text().find("died") != std::string::npos);
}

TEST_CASE("work holds no descriptor of ours", "[bounded]") {
  const int low = ::fcntl(STDERR_FILENO, F_DUPFD, 20);
  const int high = ::fcntl(STDERR_FILENO, F_DUPFD, 700);
  const auto open = run_bounded(k_long_ns, open_descriptors);
  const auto standard = run_bounded(k_long_ns, [] {
    const bool written = ::write(STDOUT_FILENO, "x", 1) >= 0 || ::write(STDERR_FILENO, "x", 1) >= 0;
    char byte = 0;
    return std::string(written || ::read(STDIN_FILENO, &byte, 1) >= 0 ? "usable" : "not usable");
  });
  ::close(low);
  ::close(high);
  REQUIRE(open.ok());
  CHECK(*open == "0 1 2 3 ");
  REQUIRE(standard.ok());
  CHECK(*standard == "not usable");
}

TEST_CASE("several works share one moment to be over", "[bounded]") {
  const PidPlace place;
  std::vector<BoundedWork> works;
  works.emplace_back([&] { return never(place); });
  works.emplace_back([] { return std::string("quick"); });
  works.emplace_back([] {
    ::usleep(100'000);
    return std::string("slower");
  });
  const pid_t stuck = place.pid();
  const std::int64_t until_ns = boottime_ns() + 1500 * k_ns_per_ms;
  CHECK_FALSE(works[0].finish(until_ns).ok());
  CHECK(*works[1].finish(until_ns) == "quick");
  CHECK(*works[2].finish(until_ns) == "slower");
  works.clear();
  CHECK(ends(stuck));
}

TEST_CASE("work that nobody asks for is ended", "[bounded]") {
  const PidPlace place;
  std::optional<BoundedWork> work;
  work.emplace([&] { return never(place); });
  const pid_t pid = place.pid();
  CHECK(is_alive(pid));
  work.reset();
  CHECK(ends(pid));
}

TEST_CASE("an interrupt leaves work a second", "[bounded]") {
  int ends_of_pipe[2];
  REQUIRE(::pipe2(ends_of_pipe, O_CLOEXEC) == 0);
  REQUIRE(::write(ends_of_pipe[1], "x", 1) == 1);
  const PidPlace place;
  const std::int64_t begin_ns = boottime_ns();
  CHECK_FALSE(run_bounded(
                  k_long_ns, [&] { return never(place); }, ends_of_pipe[0])
                  .ok());
  CHECK(boottime_ns() - begin_ns < k_long_ns);
  CHECK(*run_bounded(
            k_long_ns, [] { return std::string("quick"); }, ends_of_pipe[0]) == "quick");
  ::close(ends_of_pipe[0]);
  ::close(ends_of_pipe[1]);
}

TEST_CASE("work ends with the process that waits for it", "[bounded]") {
  const PidPlace place;
  const pid_t collector = ::fork();
  REQUIRE(collector >= 0);
  if (collector == 0) {
    (void)run_bounded(k_long_ns, [&] { return never(place); });
    ::_exit(0);
  }
  const pid_t worker = place.pid();
  ::kill(collector, SIGKILL);
  ::waitpid(collector, nullptr, 0);
  CHECK(ends(worker));
}

TEST_CASE("work that is given our input reads it, and holds nothing else of ours", "[bounded]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "hello", 5) == 5);
  ::close(ends[1]);
  const int kept = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  const auto read_input = [] {
    char buffer[16] = {};
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    return std::string(buffer, got > 0 ? static_cast<std::size_t>(got) : 0) + " " + open_descriptors();
  };
  const auto without = run_bounded(k_long_ns, read_input);
  const auto with = run_bounded(k_long_ns, read_input, -1, WorkInput::ours);
  if (kept >= 0) ::dup2(kept, STDIN_FILENO);
  if (kept >= 0) ::close(kept);
  REQUIRE(without.ok());
  CHECK(*without == " 0 1 2 3 ");
  REQUIRE(with.ok());
  CHECK(*with == "hello 0 1 2 3 ");
}
