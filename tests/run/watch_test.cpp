// Whom `watch stop` ends, and whom it leaves alone whatever a file says. The rest is in tests/watch.bats.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "collector/run/watch.hpp"
#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;
using State = WatchStop::Recorder;

namespace {

/// A report directory with a timeline of any text.
class Forged {
 public:
  explicit Forged(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "cozy-watch-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    options_.report_dir = name;
    std::filesystem::create_directories(std::filesystem::path(file()).parent_path());
    std::ofstream(file()) << text;
  }
  Forged(const Forged&) = delete;
  Forged& operator=(const Forged&) = delete;
  ~Forged() { std::filesystem::remove_all(options_.report_dir); }

  [[nodiscard]] const SampleOptions& options() const { return options_; }
  [[nodiscard]] std::string file() const { return timeline_file(options_); }

 private:
  SampleOptions options_;
};

/// A process that is nobody's recorder, and that may have a file locked.
class Bystander {
 public:
  explicit Bystander(const std::string& locked = "") : pid_(::fork()) {
    if (pid_ == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      if (!locked.empty()) ::fcntl(::open(locked.c_str(), O_RDWR), F_SETLK, &lock);
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] bool lives() const { return is_alive(pid_); }
  [[nodiscard]] std::string head(const std::string& boot, std::uint64_t later = 0) const {
    return R"({"schema":"cozybracket-timeline-1","interval_ns":1000,"by":"watch","recorder":{"pid":)" +
           std::to_string(pid_) + R"(,"start":)" + std::to_string(process_now(pid_).value().start_ticks + later) +
           R"(,"boot":")" + boot + "\"}}\n";
  }

 private:
  pid_t pid_;
};

void write_over(const Forged& forged, const std::string& text) { std::ofstream(forged.file()) << text; }

}  // namespace

TEST_CASE("watch stop: a file that names a process which does not have it locked ends nobody") {
  const Bystander bystander;
  const Forged forged(bystander.head(boot_id()));
  const WatchStop stop = stop_watch(forged.options());
  CHECK(stop.state == State::none);
  CHECK(stop.timeline);
  CHECK(bystander.lives());
}

TEST_CASE(
    "watch stop: a process that has the file locked is left alone unless the file names it, with start and boot") {
  const Forged forged("");
  const Bystander bystander(forged.file());
  const Bystander other;
  for (const std::string& text : {std::string(), std::string("hello\n"), std::string(100'000, 'x'), bystander.head("x"),
                                  bystander.head(boot_id(), 1), other.head(boot_id())}) {
    write_over(forged, text);
    const WatchStop stop = stop_watch(forged.options());
    CHECK(stop.state == State::unproved);
  }
  CHECK(bystander.lives());
  CHECK(other.lives());
}

TEST_CASE("watch stop: no file, and what is no file") {
  Forged forged("");
  const auto replaced = [&](const auto& make) {
    std::filesystem::remove_all(forged.file());
    make(forged.file());
    return stop_watch(forged.options());
  };
  CHECK(replaced([](const std::string&) {}).failure.empty());
  CHECK(replaced([](const std::string& file) {
          std::filesystem::create_symlink("/etc/passwd", file);
        }).failure.find("ELOOP") != std::string::npos);
  CHECK(replaced([](const std::string& file) { ::mkfifo(file.c_str(), 0600); }).failure.find("no regular file") !=
        std::string::npos);
  CHECK(replaced([](const std::string& file) {
          std::filesystem::create_directory(file);
        }).failure.find("no regular file") != std::string::npos);
  const WatchStop huge = replaced([](const std::string& file) {
    std::ofstream(file) << "x";
    std::filesystem::resize_file(file, 1UL << 40U);
  });
  CHECK(huge.state == State::none);
  CHECK_FALSE(huge.timeline);
}
