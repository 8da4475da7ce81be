// Children that do not end by themselves. Every case holds the contract on time: timeout + grace + 1 s.
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

namespace {

/// Runs a child that gets stuck, and holds that the call comes back in time.
ChildOutput run_stuck(const std::string& script, const ChildBound& bound) {
  ChildOutput output;
  CHECK(comes_back_in_time(bound, [&] { output = run_child(shell(script), bound); }));
  return output;
}

/// Becomes readable once after that time.
class Alarm {
 public:
  explicit Alarm(long ms) : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
    const itimerspec time{{0, 0}, {ms / 1000, ms % 1000 * k_ns_per_ms}};
    ::timerfd_settime(descriptor_, 0, &time, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// A cgroup of the v1 freezer, which holds its tasks so that not even SIGKILL ends them.
class Freezer {
 public:
  static std::optional<std::string> hierarchy() {
    const std::string mounts = read_text("/proc/self/mountinfo");
    for (const std::string_view line : split_lines(mounts)) {
      const auto words = split_words(line);
      if (words.size() < 10 || line.find(" - cgroup ") == std::string_view::npos) continue;
      for (const std::string_view option : split_at(words.back(), ',')) {
        if (option == "freezer") return std::string(words[4]);
      }
    }
    return std::nullopt;
  }

  explicit Freezer(const std::string& hierarchy) : path_(hierarchy + "/cozy-test-" + std::to_string(::getpid())) {
    made_ = ::mkdir(path_.c_str(), 0755) == 0;
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;
  ~Freezer() {
    if (!made_) return;
    thaw();
    for (int i = 0; i < 500 && ::rmdir(path_.c_str()) != 0; ++i) ::usleep(10'000);
  }

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void thaw() const { std::ofstream(path_ + "/freezer.state") << "THAWED"; }

 private:
  std::string path_;
  bool made_ = false;
};

/// A child that freezes itself, beside one that is well.
void abandon_a_frozen_child(const Freezer& freezer, const ChildBound& bound) {
  const std::string frozen = "echo row; echo $$ >" + freezer.path() + "/tasks; echo FROZEN >" + freezer.path() +
                             "/freezer.state; while :; do sleep 300; done";
  std::vector<ChildOutput> outputs(2);
  run_children({shell(frozen), shell("echo quick")}, bound,
               [&](std::size_t i, ChildOutput output) { outputs[i] = std::move(output); });
  CHECK(outputs[1].text == "quick\n");
  CHECK(outputs[0].text == "row\n");
  const pid_t pid = end_of<Abandoned>(outputs[0]).pid;
  const std::string words = child_end_words(outputs[0].end);
  CHECK(is_alive(pid));
  CHECK(child_exit_code(outputs[0].end) == 137);
  CHECK(words.find("bound reached, and SIGKILL did not end process " + std::to_string(pid)) == 0);
}

/// The SIGKILL was waiting for it.
void thaw_and_take_the_end(const Freezer& freezer) {
  freezer.thaw();
  int status = 0;
  CHECK(::waitpid(-1, &status, 0) > 0);
  CHECK(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("a child past its deadline gets SIGTERM", "[child]") {
  const ChildOutput output = run_stuck("echo row; exec sleep 300", bound_of(200, 5000));
  CHECK(output.text == "row\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::deadline);
  CHECK(end_of<EndedHere>(output).signal == SIGTERM);
  CHECK(child_exit_code(output.end) == 124);
  CHECK(child_end_words(output.end).find("bound reached") == 0);
  CHECK(output.finish.boottime_ns - output.begin.boottime_ns >= 200 * k_ns_per_ms);
}

TEST_CASE("one that takes the SIGTERM and exits in its own way was ended all the same", "[child]") {
  const ChildOutput output = run_stuck("trap 'echo bye; exit 0' TERM; echo row; sleep 300 & wait", bound_of(300, 5000));
  CHECK(output.text == "row\nbye\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::deadline);
}

TEST_CASE("one that ignores SIGTERM gets SIGKILL after the grace", "[child]") {
  const Marked marked;
  const ChildOutput output = run_stuck("trap '' TERM; echo row; while :; do sleep 300; done", bound_of(200, 200));
  CHECK(output.text == "row\n");
  CHECK(end_of<EndedHere>(output).signal == SIGKILL);
  CHECK(child_exit_code(output.end) == 137);
  CHECK(marked.becomes(0));
}

TEST_CASE("the whole group is ended, not the leader alone", "[child]") {
  const Marked marked;
  const ChildOutput output =
      run_stuck("sleep 300 & sleep 300 & (sleep 300 & wait) & echo row; wait", bound_of(300, 300));
  CHECK(output.text == "row\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::deadline);
  CHECK(marked.becomes(0));
}

TEST_CASE("a stopped child is ended", "[child]") {
  const Marked marked;
  const ChildOutput output = run_stuck("echo row; kill -STOP $$; echo never", bound_of(200, 5000));
  CHECK(output.text == "row\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::deadline);
  CHECK(marked.becomes(0));
}

TEST_CASE("endless messages do not keep the deadline from coming", "[child]") {
  const ChildOutput output = run_stuck("echo row; exec yes >&2", bound_of(300, 300));
  CHECK(output.text == "row\n");
  CHECK(output.messages.size() == 64 * 1024);
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::deadline);
}

TEST_CASE("a child that closes its output and does not end is ended long before the deadline", "[child]") {
  const ChildBound bound = bound_of(60'000, 5'000);
  const ChildOutput output = run_child(shell("echo row; exec sleep 300 >&- 2>&-"), bound);
  CHECK(output.text == "row\n");
  CHECK(end_of<EndedHere>(output).why == EndedHere::Why::would_not_end);
  CHECK(output.finish.boottime_ns - output.begin.boottime_ns < bound.timeout_ns);
  CHECK(child_end_words(output.end).find("bound") == std::string::npos);
}

TEST_CASE("case A13: a grandchild that keeps the pipe open is ended, and it is said", "[child][cases]") {
  const Marked marked;
  const ChildBound bound = bound_of(2000, 1000);
  ChildOutput output;
  CHECK(comes_back_in_time(bound, [&] {
    output = run_child({"/bin/sh", COZY_FIXTURES "/cases/A13/child.sh"}, bound);
  }));
  CHECK(output.text == "cpu  1 2 3 4 5 6 7 8 9 10\n");
  CHECK(end_of<Exited>(output).status == 0);
  CHECK(output.pipe_held_open);
  CHECK(marked.becomes(0));
}

TEST_CASE("a holder of the pipe that has left the group is let go, and it is said", "[child]") {
  const Marked marked;
  const ChildOutput output = run_stuck("echo row; setsid sleep 300 & sleep 0.2", bound_of(2000, 300));
  CHECK(output.text == "row\n");
  CHECK(end_of<Exited>(output).status == 0);
  CHECK(output.pipe_held_open);
  CHECK(marked.alive().size() == 1);  // it is nobody's to end: nothing is known of it but the pipe
}

TEST_CASE("several stuck at once end within one bound", "[child]") {
  const ChildBound bound = bound_of(400, 400);
  CHECK(comes_back_in_time(bound, [&] {
    const Marked marked;
    std::size_t told = 0;
    run_children({shell("exec sleep 300"), shell("trap '' TERM; while :; do sleep 300; done"),
                  shell("sleep 300 & wait"), shell("kill -STOP $$"), shell("exec yes >&2"),
                  shell("setsid sleep 300 & sleep 300"), shell("exec sleep 300 >&- 2>&-")},
                 bound, [&](std::size_t, ChildOutput) { ++told; });
    CHECK(told == 7);
    CHECK(marked.alive().size() <= 1);  // the one that left its group
  }));
}

TEST_CASE("an interrupt cuts a read short", "[child]") {
  const Marked marked;
  ChildBound bound = long_bound();
  SECTION("before the deadline") {
    const Alarm alarm(200);
    bound.interrupt_fd = alarm.descriptor();
    const ChildOutput output = run_child(shell("echo row; exec sleep 300"), bound);
    CHECK(output.text == "row\n");
    CHECK(end_of<EndedHere>(output).why == EndedHere::Why::interrupted);
    CHECK(child_end_words(output.end).find("told to end") != std::string::npos);
    CHECK(output.finish.boottime_ns - output.begin.boottime_ns < bound.timeout_ns);
  }
  SECTION("in the grace, too") {
    bound = bound_of(100, 60'000);
    const Alarm alarm(500);
    bound.interrupt_fd = alarm.descriptor();
    const ChildOutput output = run_child(shell("trap '' TERM; while :; do sleep 300; done"), bound);
    CHECK(end_of<EndedHere>(output).signal == SIGKILL);
    CHECK(output.finish.boottime_ns - output.begin.boottime_ns < bound.grace_ns);
  }
  SECTION("a child that ends by itself in the time that is left is whole") {
    const Alarm alarm(1);
    bound.interrupt_fd = alarm.descriptor();
    const ChildOutput output = run_child(shell("sleep 0.1; echo row"), bound);
    CHECK(output.text == "row\n");
    CHECK(end_of<Exited>(output).status == 0);
  }
  CHECK(marked.becomes(0));
}

TEST_CASE("a child that SIGKILL does not end is abandoned in time", "[child]") {
  const auto hierarchy = Freezer::hierarchy();
  if (::geteuid() != 0 || !hierarchy) {
    WARN("not tested: no root, or no cgroup v1 freezer, to make a child that cannot be killed");
    return;
  }
  const Freezer freezer(*hierarchy);
  if (!freezer.made()) {
    WARN("not tested: no cgroup can be made in " << *hierarchy);
    return;
  }
  const Marked marked;
  const ChildBound bound = bound_of(500, 200);
  CHECK(comes_back_in_time(bound, [&] { abandon_a_frozen_child(freezer, bound); }));
  while (!marked.alive().empty()) thaw_and_take_the_end(freezer);
}
