// Files of a report on real file systems, small and full ones among them.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "collector/report/files.hpp"
#include "tests/report/archive_fixture.hpp"

using namespace archive_tests;
using cozy::Sidecar;
using cozy::write_capture_files;
using cozy::write_file;

namespace {

/// Does something on a tmpfs of 64 KiB, in a mount namespace of its own. Returns what it says.
std::string on_a_small_disk(const Scratch& scratch, const std::function<std::string(const std::string&)>& say) {
  const std::string place = scratch.path("disk").string();
  fs::create_directory(place);
  return in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return "no namespace";
    if (::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=64k") != 0) return "no tmpfs";
    return say(place);
  });
}

}  // namespace

TEST_CASE("a file is written whole, with the directories above it", "[files]") {
  const Scratch scratch;
  const std::string directory = scratch.path("a/b/c").string();
  const std::string text = noise(200'000);
  REQUIRE(write_file(directory, "x.txt", text).ok());
  CHECK(read(directory + "/x.txt") == text);
  CHECK(names_in(directory) == std::vector<std::string>{"x.txt"});
  CHECK((fs::status(directory + "/x.txt").permissions() & fs::perms::owner_all) ==
        (fs::perms::owner_read | fs::perms::owner_write));

  REQUIRE(write_file(directory, "x.txt", "short").ok());  // and again, over it
  CHECK(read(directory + "/x.txt") == "short");
  REQUIRE(write_file(directory + "//", "x.txt", "").ok());
  CHECK(read(directory + "/x.txt").empty());
  CHECK(names_in(directory) == std::vector<std::string>{"x.txt"});
}

TEST_CASE("a file is exchanged, not written into", "[files]") {
  const Scratch scratch;
  const std::string directory = scratch.report().string();
  write(scratch.report() / "x.txt", "old");
  fs::create_hard_link(scratch.report() / "x.txt", scratch.report() / "other");
  fs::create_symlink("other", scratch.report() / "link");
  REQUIRE(write_file(directory, "x.txt", "new").ok());
  REQUIRE(write_file(directory, "link", "new").ok());
  CHECK(read(scratch.report() / "other") == "old");
  CHECK(fs::is_regular_file(fs::symlink_status(scratch.report() / "link")));
}

TEST_CASE("what a killed process left under our number does not matter", "[files]") {
  const Scratch scratch;
  const std::string temporary = ".x.txt.partial-" + std::to_string(::getpid());
  SECTION("a file") { write(scratch.report() / temporary, "half"); }
  SECTION("a link out of the report") {
    write(scratch.path("outside"), "precious");
    fs::create_symlink(scratch.path("outside"), scratch.report() / temporary);
  }
  REQUIRE(write_file(scratch.report().string(), "x.txt", "whole").ok());
  CHECK(read(scratch.report() / "x.txt") == "whole");
  CHECK(names_in(scratch.report()) == std::vector<std::string>{"x.txt"});
  if (fs::exists(scratch.path("outside"))) CHECK(read(scratch.path("outside")) == "precious");
}

TEST_CASE("what cannot be written is an error that names the path", "[files]") {
  const Scratch scratch;
  write(scratch.path("file"), "x");
  const auto refused = [](const std::string& directory, const std::string& name, const std::string& reason) {
    const auto written = write_file(directory, name, "text");
    REQUIRE_FALSE(written.ok());
    INFO(written.error().text());
    CHECK(written.error().text().find(directory) == 0);
    CHECK(written.error().text().find(reason) != std::string::npos);
  };
  const std::string file = scratch.path("file").string();
  refused(file, "x.txt", "a file, not a directory");
  refused(file + "/below", "x.txt", "ENOTDIR");
  refused("/proc/nowhere", "x.txt", "ENOENT");
  fs::create_directories(scratch.report() / "x.txt");
  refused(scratch.report().string(), "x.txt", "EISDIR");
  CHECK(names_in(scratch.report()) == std::vector<std::string>{"x.txt"});  // and no temporary is left
  refused(scratch.report().string(), std::string(300, 'n'), "ENAMETOOLONG");
}

TEST_CASE("a directory of somebody else's is refused", "[files]") {
  const Scratch scratch;
  fs::permissions(scratch.report(), fs::perms(0555));
  const std::string said = in_child([&]() -> std::string {
    if (!become_ordinary()) return "cannot become an ordinary user";
    const auto written = write_file(scratch.report().string(), "x.txt", "text");
    return written ? "written" : written.error().text();
  });
  fs::permissions(scratch.report(), fs::perms(0755));
  CHECK(said.find("EACCES") != std::string::npos);
}

TEST_CASE("on a full disk what was written before stays, and nothing half", "[files]") {
  if (::geteuid() != 0) return not_tested("needs root for a small tmpfs");
  const Scratch scratch;
  const std::string said = on_a_small_disk(scratch, [](const std::string& disk) -> std::string {
    if (!write_file(disk + "/report", "x.txt", "first")) return "the first was refused";
    const auto written = write_file(disk + "/report", "x.txt", noise(100'000));
    if (written) return "there was room";
    const std::string more = write_file(disk + "/report", "y.txt", "fits").ok() ? "" : "no room afterwards ";
    return more + read(disk + "/report/x.txt") + " " + cozy::join(names_in(disk + "/report"), ",") + " " +
           written.error().text();
  });
  INFO(said);
  if (said.find("no ") == 0) return not_tested(said);
  CHECK(said.find("first x.txt,y.txt ") == 0);
  CHECK(said.find("/report/x.txt: ENOSPC (") != std::string::npos);
}

TEST_CASE("a file system without nameless files does as well", "[files]") {
  if (::geteuid() != 0) return not_tested("needs root for a mount");
  const Scratch scratch;
  const std::string said = in_child([&]() -> std::string {  // ramfs has none, and without /proc none can be named
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return "no namespace";
    if (::mount("tmpfs", "/proc", "tmpfs", 0, "size=64k") != 0) return "no tmpfs";
    const std::string directory = scratch.report().string();
    const bool written = write_file(directory, "x.txt", "text").ok() && write_file(directory, "x.txt", "again").ok();
    const auto refused = write_file(directory + "/x.txt", "y.txt", "text");
    return (written ? read(directory + "/x.txt") : "not written") + " " + cozy::join(names_in(directory), ",") +
           (refused ? " ?" : "");
  });
  if (said.find("no ") == 0) return not_tested(said);
  CHECK(said == "again x.txt");
}

TEST_CASE("sidecars are written, and those of an earlier read taken away", "[files]") {
  const Scratch scratch;
  const std::string directory = scratch.report().string();
  const auto written = [&](const std::vector<Sidecar>& sidecars) {
    REQUIRE(write_capture_files(directory, "proc-stat.txt", "cpu 1\n", sidecars).ok());
    return names_in(directory);
  };
  using Names = std::vector<std::string>;
  CHECK(written({{"COLLECTION-FAILED.txt", "why\n"}}) == Names{"COLLECTION-FAILED.txt", "proc-stat.txt"});
  CHECK(read(scratch.report() / "COLLECTION-FAILED.txt") == "why\n");
  CHECK(written({{"READ-WARNINGS.txt", "w\n"}}) == Names{"READ-WARNINGS.txt", "proc-stat.txt"});
  CHECK(written({{"read-error.log", "e\n"}}) == Names{"proc-stat.txt", "read-error.log"});
  write(scratch.report() / "somebody-elses.txt", "x");
  CHECK(written({}) == Names{"proc-stat.txt", "somebody-elses.txt"});
}

TEST_CASE("a killed writer leaves whole files only", "[files]") {
  const Scratch scratch;
  const std::string text = noise(300'000) + "[capture exit code: 0]\n";
  for (int round = 0; round < 40; ++round) {
    const pid_t writer = ::fork();
    REQUIRE(writer >= 0);
    if (writer == 0) {
      for (;;) (void)write_file(scratch.report().string(), "x.txt", text);
    }
    ::usleep(static_cast<unsigned>(500 + round * 137));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    for (const std::string& name : names_in(scratch.report())) {
      INFO(name);
      CHECK(read(scratch.report() / name) == text);
    }
  }
}
