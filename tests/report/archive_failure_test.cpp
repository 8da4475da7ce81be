#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "collector/report/archive.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/archive_fixture.hpp"

using namespace archive_tests;
using cozy::pack;

namespace {

/// Runs something in a child again and again until the object goes.
class Busy {
 public:
  explicit Busy(const std::function<void()>& work) : child_(::fork()) {
    REQUIRE(child_ >= 0);
    if (child_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    [&]() noexcept {
      for (;;) work();
    }();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_;
};

/// A directory whose files announce more bytes than they hold.
std::string padded_directory() {
  for (const char* directory : {"/sys/devices/system/cpu/vulnerabilities", "/sys/kernel/mm/ksm", "/sys/kernel/slab"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (entry.is_regular_file(error) && entry.file_size(error) == 4096) return directory;
    }
  }
  return {};
}

std::string in_small_file_system(const fs::path& directory, const std::function<std::string()>& say) {
  return in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=64k") != 0) {
      return "no mount";
    }
    return say();
  });
}

}  // namespace

TEST_CASE("pack: files that hold more than they announce, and one that vanishes") {
  if (!fs::exists("/proc/self/fdinfo")) return not_tested("no /proc/self/fdinfo here");
  const Scratch scratch;
  // Every file announces 0 bytes and holds some. The descriptor of the listing is in the listing, and
  // is closed before it is looked at.
  const std::string notes = in_child([&] { return notes_or_error("/proc/self/fdinfo", scratch.output()); });
  CHECK(notes.find(": grew: only the announced 0 bytes are stored\n") != std::string::npos);
  CHECK(notes.find(": vanished before it was read") != std::string::npos);
  const std::string listed = members(scratch.output());
  CHECK(listed.find("./fdinfo/\n./fdinfo/") == 0);
  CHECK(listed.find("./fdinfo/PACK-NOTES.txt\n") != std::string::npos);
}

TEST_CASE("pack: files that hold less than they announce") {
  const std::string directory = padded_directory();
  if (directory.empty()) return not_tested("no files of sysfs here");
  const Scratch scratch;
  const auto packed = pack(directory, scratch.output());
  REQUIRE(packed.ok());
  REQUIRE_FALSE(packed->notes.empty());
  const std::string note = packed->notes.front();
  CHECK(note.find(" of the announced 4096 bytes; zero bytes fill the rest") != std::string::npos);
  const std::string name = note.substr(0, note.find(':'));
  const std::string held = read(fs::path(directory) / name);
  const fs::path target = scratch.path("unpacked");
  fs::create_directory(target);
  CHECK(shell("tar xzf '" + scratch.output() + "' -C '" + target.string() + "'").empty());
  const std::string stored = read(target / fs::path(directory).filename() / name);
  CHECK(stored == held + std::string(4096 - held.size(), '\0'));
}

TEST_CASE("pack: files that change all the time never spoil the archive") {
  const Scratch scratch;
  const fs::path report = scratch.report();
  const std::string bytes = noise(200'000);
  write(report / "a/steady.txt", "steady");
  write(report / "z/steady.txt", "steady");
  const Busy busy([&] {
    write(report / "b.txt", bytes);
    std::error_code any;  // whatever happens is right
    write(report / "d/e", bytes);
    fs::resize_file(report / "b.txt", 10, any);
    fs::rename(report / "b.txt", report / "d/b.txt", any);
    fs::create_symlink("/etc", report / "b.txt", any);
    fs::remove(report / "b.txt", any);
    fs::remove_all(report / "d", any);
  });
  for (int i = 0; i < 6; ++i) {
    REQUIRE(pack(report.string(), scratch.output()).ok());
    const std::string listed = members(scratch.output());
    CHECK(listed.find("failed") == std::string::npos);
    CHECK(listed.find("./cozyreport/a/steady.txt\n") != std::string::npos);
    CHECK(listed.find("./cozyreport/z/steady.txt\n") != std::string::npos);
  }
}

TEST_CASE("pack: names that are exchanged while it looks lead nowhere else") {
  const Scratch scratch;
  const fs::path report = scratch.report();
  write(scratch.path("outside/secret.txt"), "not ours");
  std::vector<std::string> pairs;
  for (int i = 0; i < 30; ++i) {
    const std::string name = (report / ("x" + std::to_string(i))).string();
    pairs.push_back(name);
    if (i % 3 == 0) {
      write(name, "ours");
      fs::create_symlink("../outside/secret.txt", name + "-other");
    } else if (i % 3 == 1) {
      write(name, "ours");
      REQUIRE(::mkfifo((name + "-other").c_str(), 0666) == 0);
    } else {
      fs::create_directory(name);
      fs::create_symlink("../outside", name + "-other");
    }
  }
  const Busy busy([&] {
    for (const std::string& name : pairs) {
      (void)::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, (name + "-other").c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 16; ++i) {
    REQUIRE(pack(report.string(), scratch.output()).ok());
    REQUIRE(shell("tar xzOf '" + scratch.output() + "'").find("not ours") == std::string::npos);
  }
}

TEST_CASE("pack: what this user may not read is noted") {
  const Scratch scratch;
  write(scratch.report() / "closed.txt", "text");
  write(scratch.report() / "closed/inside.txt", "text");
  write(scratch.report() / "open.txt", "text");
  fs::permissions(scratch.report() / "closed.txt", fs::perms(0));
  fs::permissions(scratch.report() / "closed", fs::perms(0));
  const std::string notes = in_child([&] {
    return become_ordinary() ? notes_or_error(scratch.report(), scratch.output()) : std::string("no other user");
  });
  fs::permissions(scratch.report() / "closed", fs::perms(0700));
  if (notes == "no other user") return not_tested("this process cannot become an ordinary user");
  CHECK(notes ==
        "closed: cannot be read: EACCES (Permission denied)\n"
        "closed.txt: cannot be read: EACCES (Permission denied)");
  CHECK(members(scratch.output()) ==
        "./cozyreport/\n./cozyreport/closed/\n./cozyreport/open.txt\n./cozyreport/PACK-NOTES.txt\n");
}

TEST_CASE("pack: errors name the thing") {
  const Scratch scratch;
  write(scratch.report() / "file.txt", "text");
  const std::string report = scratch.report().string();
  const auto error_of = [](const std::string& directory, const std::string& output) {
    const auto packed = pack(directory, output);
    return packed ? std::string("packed") : packed.error().text();
  };
  CHECK(error_of(report + "/none", scratch.output()) ==
        report + "/none: the directory to be packed cannot be opened: ENOENT (No such file or directory)");
  CHECK(error_of(report + "/file.txt", scratch.output()) ==
        report + "/file.txt: the directory to be packed cannot be opened: ENOTDIR (Not a directory)");
  const std::string nowhere = scratch.path("none").string();
  CHECK(error_of(report, nowhere + "/x.tgz") ==
        nowhere + "/x.tgz: its directory " + nowhere + " cannot be opened: ENOENT (No such file or directory)");
  CHECK(error_of(report, nowhere + "/") == nowhere + "/: names no file that could be written");
  CHECK(error_of(report, "") == "names no file that could be written");
  fs::create_directory(scratch.output());
  CHECK(error_of(report, scratch.output()) == scratch.output() + ": is there and is no plain file");

  fs::create_directory(scratch.path("closed"));
  fs::permissions(scratch.path("closed"), fs::perms(0555));
  const std::string closed = scratch.path("closed/x.tgz").string();
  const std::string refused = in_child(
      [&] { return become_ordinary() ? notes_or_error(scratch.report(), closed) : std::string("no other user"); });
  if (refused == "no other user") {
    not_tested("this process cannot become an ordinary user");
  } else {
    CHECK(refused == "error: " + closed + ": no temporary file can be made beside it: EACCES (Permission denied)");
  }
  CHECK(names_in(scratch.path("")) == std::vector<std::string>{"closed", "cozyreport", "cozyreport.tgz"});
}

TEST_CASE("pack: the directory's own name is found behind a dot") {
  const Scratch scratch;
  write(scratch.report() / "sub/file.txt", "text");
  const std::string expected = "./cozyreport/\n./cozyreport/sub/\n./cozyreport/sub/file.txt\n";
  REQUIRE(pack((scratch.report() / "sub/..").string(), scratch.output()).ok());
  CHECK(members(scratch.output()) == expected);
  REQUIRE(in_child([&]() -> std::string {
            return ::chdir(scratch.report().c_str()) == 0 ? notes_or_error(".", "../cozyreport.tgz") : "no chdir";
          }).empty());
  CHECK(members(scratch.output()) == expected);
}

TEST_CASE("pack: where the disk is full the earlier archive stays and nothing else") {
  const Scratch scratch;
  write(scratch.report() / "file.txt", "text");
  fs::create_directory(scratch.path("out"));
  const std::string output = scratch.path("out/cozyreport.tgz").string();

  SECTION("a limit on the size of files") {
    REQUIRE(pack(scratch.report().string(), output).ok());
    const std::string before = read(output);
    write(scratch.report() / "large.bin", noise(300'000));
    const std::string said = in_child([&] {
      const rlimit small{64UL * 1024, 64UL * 1024};
      ::signal(SIGXFSZ, SIG_IGN);
      ::setrlimit(RLIMIT_FSIZE, &small);
      return notes_or_error(scratch.report(), output);
    });
    CHECK(said == "error: " + output + ": cannot be written: EFBIG (File too large)");
    CHECK(read(output) == before);
    CHECK(names_in(scratch.path("out")) == std::vector<std::string>{"cozyreport.tgz"});
  }
  SECTION("a file system without room") {
    write(scratch.report() / "large.bin", noise(300'000));
    const std::string said = in_small_file_system(scratch.path("out"), [&] {
      return notes_or_error(scratch.report(), output) + "; left: " + cozy::join(names_in(scratch.path("out")), " ");
    });
    if (said == "no mount") return not_tested("no file system can be mounted here");
    CHECK(said == "error: " + output + ": cannot be written: ENOSPC (No space left on device); left: ");
  }
}

TEST_CASE("pack: killed at any instant, the archive is whole or absent") {
  const Scratch scratch;
  write(scratch.report() / "noise.bin", noise(100'000));
  for (int i = 0; i < 20; ++i) write(scratch.report() / ("file" + std::to_string(i)), "text");
  fs::create_directory(scratch.path("out"));
  const std::string output = scratch.path("out/cozyreport.tgz").string();
  std::minstd_rand random(11);
  std::uniform_int_distribution<useconds_t> moment_us(500, 25'000);
  int found = 0;
  const auto pack_and_kill = [&](useconds_t after_us) {
    {
      const Busy busy([&] { (void)pack(scratch.report().string(), output); });
      ::usleep(after_us);
    }
    if (!fs::exists(output)) return;
    ++found;
    REQUIRE(members(output).find("failed") == std::string::npos);
  };
  for (int i = 0; i < 30; ++i) {
    if (i % 3 == 0) fs::remove(output);
    pack_and_kill(moment_us(random));
  }
  // A machine that is busy with other things needs longer for the one pack that has to be whole.
  for (useconds_t patience_us = 50'000; found == 0 && patience_us < 10'000'000; patience_us *= 2)
    pack_and_kill(patience_us);
  CHECK(found > 0);
  CHECK(pack(scratch.report().string(), output).ok());
  CHECK(names_in(scratch.path("out")) == std::vector<std::string>{"cozyreport.tgz"});
}
