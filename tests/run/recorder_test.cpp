// The recorder of a timeline: its file, its ends, its budget. With QEMUs it is tested by tests/timeline.bats.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "collector/report/timeline.hpp"
#include "collector/run/bounded.hpp"
#include "collector/run/file_lock.hpp"
#include "collector/run/process_identity.hpp"
#include "collector/run/recorder.hpp"
#include "tests/run/child_fixture.hpp"

using namespace cozy;
using namespace cozy::run_tests;

namespace {

/// A report directory of its own.
class Place {
 public:
  Place() {
    std::string name = (std::filesystem::temp_directory_path() / "cozy-recorder-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    options_.report_dir = name;
    std::filesystem::create_directories(std::filesystem::path(file()).parent_path());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { std::filesystem::remove_all(options_.report_dir); }

  [[nodiscard]] const SampleOptions& options() const { return options_; }
  [[nodiscard]] std::string file() const { return timeline_file(options_); }
  [[nodiscard]] Timeline timeline() const {
    const auto parsed = parse_timeline(read_text(file()));
    REQUIRE(parsed);
    return *parsed;
  }

 private:
  SampleOptions options_;
};

RecorderOptions quick() {
  RecorderOptions recorder;
  recorder.interval_ns = k_ns_per_ms;
  recorder.longest_ns = 60 * k_ns_per_second;
  return recorder;
}

/// A process that sleeps until it is ended.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0) {
      ::sleep(300);
      ::_exit(0);
    }
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("recorder: its longest duration is its last line, and it tells when it has begun") {
  const Place place;
  RecorderOptions recorder = quick();
  recorder.longest_ns = 50 * k_ns_per_ms;
  int begun = 0;
  recorder.begun = [&] { return ++begun > 0; };
  const RecorderResult result = record_timeline(place.options(), recorder);
  CHECK(result.end == TimelineEnd::max_duration);
  CHECK(begun == 1);
  const Timeline timeline = place.timeline();
  CHECK(timeline.end == TimelineEnd::max_duration);
  CHECK(timeline.ticks.size() > 1);
  CHECK(timeline.recorder.pid == static_cast<std::uint64_t>(::getpid()));
  CHECK(timeline.recorder.boot == boot_id());
  CHECK(timeline.bad_lines == 0);
}

TEST_CASE("recorder: its bytes are never more than its budget; it slows down before, says so, and says why it ends") {
  for (const std::size_t budget : {6'000UL, 20'000UL, 100'000UL}) {
    const Place place;
    RecorderOptions recorder = quick();
    recorder.byte_budget = budget;
    const RecorderResult result = record_timeline(place.options(), recorder);
    CHECK(result.end == TimelineEnd::byte_budget);
    CHECK(result.words.find(std::to_string(budget)) != std::string::npos);
    const std::string text = read_text(place.file());
    CHECK(text.size() <= budget);
    CHECK(text.ends_with("\n"));
    const Timeline timeline = place.timeline();
    CHECK(timeline.end == TimelineEnd::byte_budget);
    CHECK(timeline.bad_lines == 0);
    CHECK(timeline.slowed);
    // Each time it halves the readings: 2 ms, 4 ms, 8 ms ...
    for (const char* interval : {R"({"interval_ns":2000000,"at":)", R"({"interval_ns":4000000,"at":)"})
      CHECK(text.find(interval) != std::string::npos);
    CHECK(text.find(R"(,"why":"byte budget"})") != std::string::npos);
  }
}

TEST_CASE("recorder: a budget that holds not even the head leaves no line, and is no fault") {
  const Place place;
  RecorderOptions recorder = quick();
  recorder.byte_budget = 500;
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::byte_budget);
  CHECK(read_text(place.file()).size() <= 500);
}

TEST_CASE("recorder: it ends with its starter, and at once where that is gone or another by now") {
  const Place place;
  RecorderOptions recorder = quick();
  Sleeper starter;
  recorder.starter = process_now(starter.pid()).value();
  recorder.begun = [&] {
    starter.end();
    return true;
  };
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::starter);
  CHECK(place.timeline().end == TimelineEnd::starter);
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::starter);
  recorder.starter = process_now(::getpid()).value();
  recorder.starter.start_ticks += 1;
  recorder.begun = nullptr;
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::starter);
}

TEST_CASE("recorder: where nobody is to be told that it has begun, it ends") {
  const Place place;
  RecorderOptions recorder = quick();
  recorder.begun = [] { return false; };
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::stopped);
}

TEST_CASE("recorder: told to end it ends, and its file is anew each time") {
  const Place place;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  RecorderOptions recorder = quick();
  recorder.end_fd = ends[0];
  recorder.begun = [&] { return ::write(ends[1], "x", 1) == 1; };
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::stopped);
  CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::stopped);
  CHECK(place.timeline().end == TimelineEnd::stopped);
  CHECK(place.timeline().ticks.size() <= 2);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("recorder: one alone writes a file, and the lock says who") {
  const Place place;
  RecorderOptions recorder = quick();
  recorder.interval_ns = 10 * k_ns_per_ms;
  BoundedWork first([&] { return std::string(timeline_end_name(record_timeline(place.options(), recorder).end)); });
  for (int i = 0; i < 2000 && read_text(place.file()).empty(); ++i) ::usleep(10'000);
  const RecorderResult second = record_timeline(place.options(), recorder);
  CHECK(second.holder > 0);
  const Timeline timeline = place.timeline();
  CHECK(timeline.recorder.pid == static_cast<std::uint64_t>(second.holder));
  CHECK(process_now(second.holder).value().start_ticks == timeline.recorder.start_ticks);
  CHECK_FALSE(timeline.end);
}

TEST_CASE("recorder: it ends where its file is removed") {
  const Place place;
  RecorderOptions recorder = quick();
  recorder.longest_ns = 60 * k_ns_per_second;
  recorder.begun = [&] { return ::unlink(place.file().c_str()) == 0; };
  const RecorderResult result = record_timeline(place.options(), recorder);
  CHECK(result.end == TimelineEnd::write_failed);
  CHECK(result.words.find("removed") != std::string::npos);
}

TEST_CASE("recorder: another user's that is at work goes on, and keeps its file") {
  if (::geteuid() != 0) {
    WARN("not tested: only root has files of two users");
    return;
  }
  const Place place;
  RecorderOptions recorder = quick();
  recorder.interval_ns = 10 * k_ns_per_ms;
  BoundedWork first([&] { return std::string(timeline_end_name(record_timeline(place.options(), recorder).end)); });
  for (int i = 0; i < 2000 && read_text(place.file()).empty(); ++i) ::usleep(10'000);
  REQUIRE(::chown(place.file().c_str(), 65534, 65534) == 0);
  CHECK(record_timeline(place.options(), recorder).holder > 0);
  CHECK_FALSE(place.timeline().end);
}

TEST_CASE("recorder: a killed one leaves no lock, and what it wrote is readable") {
  const Place place;
  const RecorderOptions recorder = quick();
  {
    BoundedWork killed([&] { return record_timeline(place.options(), recorder).words; });
    for (int i = 0; i < 2000 && read_text(place.file()).size() < 10'000; ++i) ::usleep(10'000);
  }
  const Descriptor file(::open(place.file().c_str(), O_RDONLY | O_CLOEXEC));
  CHECK_FALSE(lock_holder(file));
  CHECK(place.timeline().ticks.size() > 2);
  CHECK_FALSE(place.timeline().end);
  CHECK(place.timeline().bad_lines == 0);
}

TEST_CASE("recorder: what stands under the file's name is neither followed nor written into") {
  RecorderOptions recorder = quick();
  recorder.longest_ns = 10 * k_ns_per_ms;
  const auto record_over = [&](const auto& prepare) {
    const Place place;
    const std::string other = place.options().report_dir + "/other";
    std::ofstream(other) << "mine";
    prepare(other, place.file());
    CHECK(record_timeline(place.options(), recorder).end == TimelineEnd::max_duration);
    CHECK(read_text(other) == "mine");
    CHECK(place.timeline().end == TimelineEnd::max_duration);
  };
  record_over([](const auto& other, const auto& file) { std::filesystem::create_symlink(other, file); });
  record_over([](const auto&, const auto& file) { std::filesystem::create_symlink("/nowhere/at/all", file); });
  record_over([](const auto& other, const auto& file) { std::filesystem::create_hard_link(other, file); });
  record_over([](const auto&, const auto& file) { REQUIRE(::mkfifo(file.c_str(), 0600) == 0); });
  record_over([](const auto&, const auto& file) { std::ofstream(file) << std::string(100'000, 'x'); });

  const Place place;
  std::filesystem::create_directory(place.file());
  const RecorderResult result = record_timeline(place.options(), recorder);
  CHECK(result.end == TimelineEnd::write_failed);
  CHECK(result.words.find("timeline.jsonl: E") != std::string::npos);
}

TEST_CASE("lock: a lock for reading, which anybody may have, is nobody's sign") {
  const Place place;
  std::ofstream(place.file()) << "x";
  const Descriptor file(::open(place.file().c_str(), O_RDONLY | O_CLOEXEC));
  CHECK_FALSE(lock_holder(file));
  const pid_t reader = ::fork();
  if (reader == 0) {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    const int own = ::open(place.file().c_str(), O_RDONLY);
    ::fcntl(own, F_SETLK, &lock);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(reader, &status, WUNTRACED);
  CHECK_FALSE(lock_holder(file));
  ::kill(reader, SIGKILL);
  ::waitpid(reader, nullptr, 0);
}

TEST_CASE("process: itself, and not a number that is nobody's") {
  const auto self = process_now(::getpid());
  REQUIRE(self);
  CHECK(self->parent == ::getppid());
  CHECK(open_process(*self).open());
  CHECK_FALSE(has_ended(open_process(*self)));
  CHECK_FALSE(process_now(0));
  CHECK_FALSE(process_now(std::numeric_limits<pid_t>::max()));
  Sleeper gone;
  const auto was = process_now(gone.pid());
  REQUIRE(was);
  const Descriptor descriptor = open_process(*was);
  gone.end();
  CHECK(has_ended(descriptor));
  CHECK_FALSE(open_process(*was).open());
}
