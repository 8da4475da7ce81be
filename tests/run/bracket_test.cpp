// What a bracket does around its command, with real signals and real starters.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "collector/run/bracket.hpp"
#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

namespace {

/// A bracket whose steps write down what happened to them.
struct Recorded {
  std::vector<std::string> events;
  std::vector<std::string> said;
  std::optional<CommandState> state;
  std::function<void(int)> in_before = [](int) {};
  std::function<void(int)> in_after = [](int) {};

  int run(const std::vector<std::string>& command) {
    BracketSteps steps;
    steps.before = [&](int interrupt_fd) {
      events.emplace_back("before");
      in_before(interrupt_fd);
    };
    steps.after = [&](const CommandState& command_state, int interrupt_fd) {
      events.emplace_back("after");
      state = command_state;
      in_after(interrupt_fd);
    };
    steps.say = [&](const std::string& words) { said.push_back(words); };
    return run_bracket(command, steps);
  }

  [[nodiscard]] bool told(const std::string& words) const { return join(said, "\n").find(words) != std::string::npos; }
};

const std::vector<std::string> k_around{"before", "after"};

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

bool is_blocked(int number) {
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, number) == 1;
}

class TemporaryPath {
 public:
  TemporaryPath()
      : path_((std::filesystem::temp_directory_path() / ("cozy-bracket-" + std::to_string(::getpid()))).string()) {}
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const { return read_text(path_); }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a bracket ends as its command ended", "[bracket]") {
  const auto ended = [](const std::string& script) {
    Recorded bracket;
    const int status = bracket.run(shell(script));
    CHECK(bracket.events == k_around);
    CHECK(bracket.said.empty());
    REQUIRE(bracket.state);
    CHECK(bracket.state->begun);
    CHECK_FALSE(bracket.state->until_ns);
    CHECK(bracket.state->passed == (status == 0));
    return status;
  };
  CHECK(ended("exit 0") == 0);
  CHECK(ended("exit 3") == 3);
  CHECK(ended("exit 125") == 125);
  CHECK(ended("exit 255") == 255);
  CHECK(ended("kill -TERM $$") == 128 + SIGTERM);
  CHECK(ended("kill -SEGV $$") == 128 + SIGSEGV);
}

TEST_CASE("a command that cannot be run has no sample 2", "[bracket]") {
  const auto refused = [](const std::string& command) {
    Recorded bracket;
    const int status = bracket.run({command});
    CHECK(bracket.events == k_around);
    REQUIRE(bracket.state);
    CHECK_FALSE(bracket.state->begun);
    CHECK(bracket.told("cannot run " + command));
    return status;
  };
  CHECK(refused("cozy-no-such-program") == 127);
  CHECK(refused("/etc/passwd") == 126);
}

TEST_CASE("a signal before the command: it is never run", "[bracket]") {
  const TemporaryPath mark;
  Recorded bracket;
  bool readable = false;
  bracket.in_before = [&](int interrupt_fd) {
    CHECK_FALSE(is_readable(interrupt_fd));
    ::kill(::getpid(), SIGTERM);
    readable = is_readable(interrupt_fd);
  };
  CHECK(bracket.run(shell("echo run >" + mark.path())) == 125);
  CHECK(readable);
  REQUIRE(bracket.state);
  CHECK_FALSE(bracket.state->begun);
  CHECK(bracket.state->until_ns);
  CHECK(bracket.told("SIGTERM before the command was begun"));
  CHECK(mark.text().empty());
  CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("signals reach the command, whose status stays its own", "[bracket]") {
  for (const std::string name : {"TERM", "INT", "HUP"}) {
    const TemporaryPath mark;
    Recorded bracket;
    const std::string script = "trap 'echo got >" + mark.path() + "; exit 7' " + name + "; kill -" + name +
                               " $PPID; while :; do sleep 0.05; done";
    CHECK(bracket.run(shell(script)) == 7);
    INFO(name);
    CHECK(mark.text() == "got\n");
    CHECK(bracket.events == k_around);
    REQUIRE(bracket.state);
    CHECK(bracket.state->until_ns);
    CHECK(bracket.state->passed == std::optional(false));
    CHECK(bracket.told("SIG" + name));
  }
}

TEST_CASE("a command that ignores the signal runs on, and what follows does not wait for it", "[bracket]") {
  const TemporaryPath mark;
  Recorded bracket;
  std::string when_after = "not asked";
  std::int64_t after_ns = 0;
  bracket.in_after = [&](int) {
    when_after = mark.text();
    after_ns = boottime_ns();
  };
  const std::string script = "trap '' TERM; kill -TERM $PPID; sleep 3.5; echo end >" + mark.path() + "; exit 9";
  CHECK(bracket.run(shell(script)) == 9);
  CHECK(when_after.empty());
  CHECK(mark.text() == "end\n");
  REQUIRE(bracket.state);
  CHECK_FALSE(bracket.state->passed);
  REQUIRE(bracket.state->until_ns);
  CHECK(*bracket.state->until_ns > after_ns);
  CHECK(bracket.events == k_around);
}

TEST_CASE("a signal while the bracket is closed up cuts it short and changes no status", "[bracket]") {
  Recorded bracket;
  bool readable = false;
  bracket.in_after = [&](int interrupt_fd) {
    ::kill(::getpid(), SIGTERM);
    ::kill(::getpid(), SIGINT);
    readable = is_readable(interrupt_fd);
  };
  CHECK(bracket.run(shell("exit 3")) == 3);
  CHECK(readable);
  CHECK_FALSE(is_blocked(SIGTERM));
  CHECK_FALSE(is_blocked(SIGINT));
}

TEST_CASE("a SIGHUP that was made ignored stays so", "[bracket]") {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  Recorded bracket;
  CHECK(bracket.run(shell("kill -HUP $PPID; sleep 0.3; exit 4")) == 4);
  ::signal(SIGHUP, before);
  REQUIRE(bracket.state);
  CHECK_FALSE(bracket.state->until_ns);
  CHECK(bracket.said.empty());
}

TEST_CASE("the death of the starter ends the bracket and the command", "[bracket]") {
  const Marked marked;
  const TemporaryPath mark;
  std::string script = "exec sleep 300";
  bool in_sample_1 = false;
  SECTION("a command that takes the SIGTERM") {}
  SECTION("one that ignores it") { script = "trap '' TERM; while :; do sleep 0.2; done"; }
  SECTION("already while sample 1 is taken") { in_sample_1 = true; }

  const pid_t starter = ::fork();
  REQUIRE(starter >= 0);
  if (starter == 0) {
    if (::fork() == 0) {
      Recorded bracket;
      if (in_sample_1) {
        bracket.in_before = [&](int interrupt_fd) {
          std::ofstream(mark.path()) << "begun\n";
          pollfd told{interrupt_fd, POLLIN, 0};
          ::poll(&told, 1, 20'000);
        };
      }
      const int status = bracket.run(shell(script));
      std::ofstream(mark.path()) << join(bracket.events, " ") << " " << status
                                 << (bracket.told("is gone") ? " told" : "") << '\n';
      ::_exit(0);
    }
    while (marked.alive().empty() && mark.text() != "begun\n") ::usleep(10'000);
    ::_exit(0);
  }
  ::waitpid(starter, nullptr, 0);
  for (int i = 0; i < 2000 && !mark.text().ends_with(" told\n"); ++i) ::usleep(10'000);
  CHECK(mark.text().starts_with("before after "));
  CHECK(mark.text().ends_with(" told\n"));
  if (in_sample_1) CHECK(mark.text() == "before after 125 told\n");
  CHECK(marked.becomes(0));
}
