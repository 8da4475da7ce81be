// The command of `run`: inherits everything and is not ours to end.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "collector/run/command.hpp"
#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

namespace {

/// A pipe whose write end a command inherits under its number.
class Inherited {
 public:
  Inherited() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    read_ = ends[0];
    write_ = ends[1];
  }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;
  ~Inherited() {
    ::close(read_);
    if (write_ >= 0) ::close(write_);
  }
  [[nodiscard]] std::string number() const { return std::to_string(write_); }
  /// The first byte that the command writes: it is at work.
  void wait() const {
    char byte = 0;
    CHECK(::read(read_, &byte, 1) == 1);
  }
  /// All that the command wrote. Closes our end, so that its end ends the text.
  std::string text() {
    ::close(std::exchange(write_, -1));
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(read_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

ChildEnd wait_for(Command& command) {
  ChildEnd end;
  while (!command.ended(end)) {
    pollfd ended{command.pidfd(), POLLIN, 0};
    ::poll(&ended, 1, -1);
  }
  return end;
}

/// What a command writes into a descriptor that it inherited, and how it ended.
std::string said_by(const std::vector<std::string>& command, Inherited& pipe, int status = 0) {
  auto started = Command::start(command);
  REQUIRE(started.ok());
  std::string text = pipe.text();
  const ChildEnd end = wait_for(*started);
  REQUIRE(std::holds_alternative<Exited>(end));
  CHECK(std::get<Exited>(end).status == status);
  return text;
}

int refusal(const std::vector<std::string>& command) {
  const auto started = Command::start(command);
  REQUIRE_FALSE(started.ok());
  CHECK_FALSE(started.error().reason.empty());
  return started.error().code;
}

/// A directory of its own with one file in it.
class Script {
 public:
  explicit Script(const std::string& text, mode_t mode = 0755) {
    std::string pattern = (std::filesystem::temp_directory_path() / "cozy-command-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(path()) << text;
    ::chmod(path().c_str(), mode);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() { std::filesystem::remove_all(directory_); }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string path() const { return directory_ + "/script"; }

 private:
  std::string directory_;
};

/// PATH, changed while it lives.
class SearchPath {
 public:
  explicit SearchPath(const std::string& path) : before_(std::getenv("PATH")) { ::setenv("PATH", path.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

TEST_CASE("a command inherits descriptors, arguments, directory and environment", "[command]") {
  Inherited pipe;
  ::setenv("COZY_TEST_VALUE", "a b", 1);
  const std::string text = said_by(
      {"sh", "-c", "printf '%s|' \"$0\" \"$@\" \"$COZY_TEST_VALUE\" \"$PWD\" >&" + pipe.number(), "name", "x y", ""},
      pipe);
  ::unsetenv("COZY_TEST_VALUE");
  CHECK(text == "name|x y||a b|" + std::filesystem::current_path().string() + "|");
}

TEST_CASE("a command sees its own name as it was typed", "[command]") {
  Inherited pipe;
  CHECK(said_by({"sh", "-c", "tr '\\0' '|' </proc/$$/cmdline >&" + pipe.number()}, pipe).substr(0, 6) == "sh|-c|");
}

TEST_CASE("a command stays in our process group and blocks no signal", "[command]") {
  Inherited pipe;
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const std::string look = "{ cut -d' ' -f5 /proc/$$/stat; sed -n 's/^SigBlk:[[:blank:]]*//p' /proc/self/status; } >&";
  const std::string text = said_by({"sh", "-c", look + pipe.number()}, pipe);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  CHECK(text == std::to_string(::getpgrp()) + "\n0000000000000000\n");
}

TEST_CASE("signals reach a command, and its end is told", "[command]") {
  Inherited pipe;
  auto started = Command::start({"sh", "-c",
                                 "trap 'echo got >&" + pipe.number() + "; exit 9' TERM; echo >&" + pipe.number() +
                                     "; while :; do sleep 0.05; done"});
  REQUIRE(started.ok());
  ChildEnd end;
  CHECK_FALSE(started->ended(end));
  pipe.wait();
  started->signal(SIGTERM);
  CHECK(pipe.text() == "got\n");
  end = wait_for(*started);
  REQUIRE(std::holds_alternative<Exited>(end));
  CHECK(std::get<Exited>(end).status == 9);
}

TEST_CASE("a command that dies by a signal", "[command]") {
  auto started = Command::start({"sh", "-c", "kill -KILL $$"});
  REQUIRE(started.ok());
  const ChildEnd end = wait_for(*started);
  REQUIRE(std::holds_alternative<Signalled>(end));
  CHECK(child_exit_code(end) == 137);
}

TEST_CASE("what cannot be run is told as env(1) tells it", "[command]") {
  CHECK(refusal({"cozy-there-is-no-such-program"}) == ENOENT);
  CHECK(refusal({"/nowhere/program"}) == ENOENT);
  CHECK(refusal({""}) == ENOENT);
  CHECK(refusal({"/"}) == EACCES);
  CHECK(refusal({"/etc/passwd"}) == EACCES);
  const Script script("exit 0\n", 0644);
  CHECK(refusal({script.path()}) == EACCES);
  const Script other_interpreter("#!/nowhere/interpreter\n");
  CHECK(refusal({other_interpreter.path()}) == ENOENT);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no zombie of a failed try
}

TEST_CASE("a script without its first line is a shell's", "[command]") {
  Inherited pipe;
  const Script script("printf '%s|' \"$0\" \"$@\" >&" + pipe.number() + "\nexit 5\n");
  CHECK(said_by({script.path(), "a b"}, pipe, 5) == script.path() + "|a b|");
}

TEST_CASE("a program is looked for on PATH, past what cannot be one", "[command]") {
  const Script unusable("echo no\n", 0644);
  const Script usable("#!/bin/sh\nexit 0\n");
  const std::string inner = unusable.directory() + "/inner";
  std::filesystem::create_directories(inner + "/script");  // a directory of that name is no program
  SECTION("found behind them") {
    const SearchPath path(unusable.directory() + ":" + inner + "::" + usable.directory());
    Inherited pipe;
    CHECK(said_by({"script"}, pipe).empty());
  }
  SECTION("found nowhere, though something bears the name") {
    const SearchPath path(unusable.directory() + ":" + inner);
    CHECK(refusal({"script"}) == EACCES);
  }
}
