// Children that end by themselves, and what comes out of them.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

TEST_CASE("a child's output, messages and status are kept", "[child]") {
  const ChildOutput output = run_child(shell("echo row; echo warning >&2; exit 7"), long_bound());
  CHECK(output.text == "row\n");
  CHECK(output.messages == "warning\n");
  CHECK(end_of<Exited>(output).status == 7);
  CHECK(child_exit_code(output.end) == 7);
  CHECK(child_end_words(output.end) == "exited 7");
  CHECK_FALSE(output.pipe_held_open);
}

TEST_CASE("the stamps lie around the child's life", "[child]") {
  const Stamp before = now();
  const ChildOutput output = run_child(shell("exit 0"), long_bound());
  CHECK(before.boottime_ns <= output.begin.boottime_ns);
  CHECK(output.begin.boottime_ns < output.finish.boottime_ns);
  CHECK(output.finish.boottime_ns <= boottime_ns());
  CHECK(output.begin.epoch_ns > 0);
  CHECK(output.finish.epoch_ns > 0);
}

TEST_CASE("bytes pass as they are", "[child]") {
  const ChildOutput output = run_child(shell("printf 'a\\000b\\377\\n::error::\\r'"), long_bound());
  CHECK(output.text == std::string("a\0b\377\n::error::\r", 15));
}

TEST_CASE("more than a pipe holds comes whole", "[child]") {
  const ChildOutput output = run_child(shell("head -c 1000000 /dev/zero"), long_bound());
  CHECK(output.text == std::string(1'000'000, '\0'));
  CHECK(end_of<Exited>(output).status == 0);
}

TEST_CASE("a child that dies by a signal is told from one that was ended here", "[child]") {
  const ChildOutput output = run_child(shell("echo row; kill -SEGV $$"), long_bound());
  CHECK(output.text == "row\n");
  CHECK(end_of<Signalled>(output).signal == SIGSEGV);
  CHECK(child_exit_code(output.end) == 128 + SIGSEGV);
  CHECK(child_end_words(output.end).find("SIGSEGV") != std::string::npos);
  CHECK(child_end_words(output.end).find("does not prove") != std::string::npos);
}

TEST_CASE("a SIGTERM from elsewhere is not called a bound", "[child]") {
  const ChildOutput output = run_child(shell("kill -TERM $$"), long_bound());
  CHECK(end_of<Signalled>(output).signal == SIGTERM);
  CHECK(child_end_words(output.end).find("bound") == std::string::npos);
}

TEST_CASE("messages are kept to their cap, and more of them does not stop the child", "[child]") {
  const ChildOutput output = run_child(shell("head -c 1000000 /dev/zero >&2; echo row"), long_bound());
  CHECK(output.text == "row\n");
  CHECK(output.messages == std::string(64 * 1024, '\0'));
  CHECK(end_of<Exited>(output).status == 0);
}

TEST_CASE("a child that writes without end is ended at the byte cap", "[child]") {
  ChildBound bound = long_bound();
  bound.text_cap = 100'000;
  const ChildOutput output = run_child(shell("exec yes"), bound);
  CHECK(output.text.size() == bound.text_cap);
  CHECK(output.text.substr(0, 4) == "y\ny\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::byte_cap);
  CHECK(child_end_words(output.end).find("byte cap") != std::string::npos);
  CHECK(output.finish.boottime_ns - output.begin.boottime_ns < bound.timeout_ns);
}

TEST_CASE("a child that wrote past the cap and ended by itself did not end well", "[child]") {
  ChildBound bound = long_bound();
  bound.text_cap = 1000;
  const ChildOutput output = run_child(shell("head -c 60000 /dev/zero; exit 0"), bound);
  CHECK(output.text.size() == bound.text_cap);
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::byte_cap);
  CHECK(child_exit_code(output.end) == 124);
}

TEST_CASE("a text of exactly the cap is whole", "[child]") {
  ChildBound bound = long_bound();
  bound.text_cap = 1000;
  const ChildOutput output = run_child(shell("head -c 1000 /dev/zero"), bound);
  CHECK(output.text.size() == 1000);
  CHECK(end_of<Exited>(output).status == 0);
}

TEST_CASE("a child's stdin is empty", "[child]") {
  const ChildOutput output = run_child(shell("cat; echo end"), long_bound());
  CHECK(output.text == "end\n");
}

TEST_CASE("a child holds no descriptor of ours above the standard ones", "[child]") {
  const int low = ::fcntl(STDERR_FILENO, F_DUPFD, 20);
  const int high = ::fcntl(STDERR_FILENO, F_DUPFD, 700);
  REQUIRE(low >= 20);
  REQUIRE(high >= 700);
  const std::string look = "for d in 0 1 2 " + std::to_string(low) + " " + std::to_string(high) +
                           "; do [ -e /proc/self/fd/$d ] && echo $d; done";
  const ChildOutput output = run_child(shell(look), long_bound());
  ::close(low);
  ::close(high);
  CHECK(output.text == "0\n1\n2\n");
}

TEST_CASE("a child is not in our process group and blocks no signal", "[child]") {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const ChildOutput output =
      run_child(shell("sed -n 's/^SigBlk:[[:blank:]]*//p' /proc/self/status; cut -d' ' -f5 /proc/$$/stat; echo $$"),
                long_bound());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const auto lines = split_lines(output.text);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "0000000000000000");
  CHECK(lines[1] == lines[2]);
}

TEST_CASE("what cannot be started is said with its reason", "[child]") {
  const auto end = [](const std::string& program) {
    const ChildOutput output = run_child({program}, long_bound());
    CHECK(output.text.empty());
    return output.end;
  };
  const ChildEnd missing = end("/nowhere/there/is/none");
  REQUIRE(std::holds_alternative<NotStarted>(missing));
  CHECK(std::get<NotStarted>(missing).error.code == ENOENT);
  CHECK(child_exit_code(missing) == 127);
  CHECK(child_end_words(missing).find("/nowhere/there/is/none: ENOENT") != std::string::npos);

  const ChildEnd text_file = end("/etc/passwd");
  REQUIRE(std::holds_alternative<NotStarted>(text_file));
  CHECK(std::get<NotStarted>(text_file).error.code == EACCES);
  CHECK(child_exit_code(text_file) == 126);

  CHECK(std::holds_alternative<NotStarted>(end("/")));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no zombie either
  CHECK(errno == ECHILD);
}

TEST_CASE("of several children each is told of as soon as it is over", "[child]") {
  std::vector<std::size_t> order;
  std::vector<std::string> texts(3);
  run_children({shell("sleep 0.3; echo slow"), shell("echo quick"), {"/nowhere"}}, long_bound(),
               [&](std::size_t i, ChildOutput output) {
                 order.push_back(i);
                 texts[i] = std::holds_alternative<NotStarted>(output.end) ? "not started" : output.text;
               });
  CHECK(texts == std::vector<std::string>{"slow\n", "quick\n", "not started"});
  REQUIRE(order.size() == 3);
  CHECK(order.back() == 0);
}

TEST_CASE("no children: nothing is told and nothing waited for", "[child]") {
  run_children({}, long_bound(), [](std::size_t, ChildOutput) { FAIL("there is none"); });
}

TEST_CASE("a child that leaves somebody behind who holds no pipe takes that one along", "[child]") {
  const Marked marked;
  const ChildOutput output = run_child(shell("sleep 300 >/dev/null 2>&1 & echo row"), long_bound());
  CHECK(output.text == "row\n");
  CHECK(end_of<Exited>(output).status == 0);
  CHECK_FALSE(output.pipe_held_open);
  CHECK(marked.becomes(0));
}

TEST_CASE("children die with the process that waits for them", "[child]") {
  const Marked marked;
  const pid_t collector = ::fork();
  REQUIRE(collector >= 0);
  if (collector == 0) {
    run_child(shell("echo row; exec sleep 300"), long_bound());
    ::_exit(0);
  }
  CHECK(marked.becomes(1));
  ::kill(collector, SIGKILL);
  ::waitpid(collector, nullptr, 0);
  CHECK(marked.becomes(0));
}
