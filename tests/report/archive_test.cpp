#include "collector/report/archive.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/report/archive_fixture.hpp"

using namespace archive_tests;
using cozy::pack;
using cozy::PackLimits;

namespace {

pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("pack: tar gives back what went in, sorted, without owner and time") {
  const Scratch scratch;
  write(scratch.report() / "b/data.txt", "cpu 1 2 3\n");
  write(scratch.report() / "b/large.bin", noise(300'000));
  write(scratch.report() / "a-run.sh", "#!/bin/sh\n");
  write(scratch.report() / "empty.txt", "");
  fs::create_directories(scratch.report() / "empty");
  fs::permissions(scratch.report() / "a-run.sh", fs::perms(0700));
  fs::permissions(scratch.report() / "b/data.txt", fs::perms(0600));

  const auto packed = pack(scratch.report().string() + "/", scratch.output());
  REQUIRE(packed.ok());
  CHECK(packed->path == scratch.output());
  CHECK(packed->files == 4);
  CHECK(packed->bytes == fs::file_size(scratch.output()));
  CHECK(packed->notes.empty());
  CHECK(shell("tar tvzf '" + scratch.output() + "' | tr -s ' '") ==
        "drwxr-xr-x 0/0 0 1980-01-01 00:00 ./cozyreport/\n"
        "-rwxr-xr-x 0/0 10 1980-01-01 00:00 ./cozyreport/a-run.sh\n"
        "drwxr-xr-x 0/0 0 1980-01-01 00:00 ./cozyreport/b/\n"
        "-rw-r--r-- 0/0 10 1980-01-01 00:00 ./cozyreport/b/data.txt\n"
        "-rw-r--r-- 0/0 300000 1980-01-01 00:00 ./cozyreport/b/large.bin\n"
        "drwxr-xr-x 0/0 0 1980-01-01 00:00 ./cozyreport/empty/\n"
        "-rw-r--r-- 0/0 0 1980-01-01 00:00 ./cozyreport/empty.txt\n");
  // A gzip file ends with the size of its content: nothing is behind it.
  CHECK(shell("gzip -dc '" + scratch.output() + "' | wc -c") ==
        shell("tail -c 4 '" + scratch.output() + "' | od -An -tu4 | tr -d ' '"));
  CHECK(shell("diff -r '" + scratch.report().string() + "' '" + unpack(scratch).string() + "'").empty());
}

TEST_CASE("pack: links are stored and never followed") {
  const Scratch scratch;
  write(scratch.path("outside/secret.txt"), "not ours");
  write(scratch.report() / "real/file.txt", "ours");
  const std::vector<std::string> targets{"nowhere", "../outside", "../outside/secret.txt", "real",
                                         ".",       "/proc/kmsg", std::string(300, 'x'),   "bytes\xff\xfe"};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    fs::create_symlink(targets[i], scratch.report() / ("link" + std::to_string(i)));
  }
  fs::create_directory_symlink(scratch.report(), scratch.path("alias"));

  const auto packed = pack(scratch.report().string(), scratch.output());
  REQUIRE(packed.ok());
  CHECK(packed->notes.empty());
  CHECK(packed->files == targets.size() + 1);
  const fs::path unpacked = unpack(scratch);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    CHECK(fs::read_symlink(unpacked / ("link" + std::to_string(i))) == targets[i]);
  }
  CHECK(members(scratch.output()).find("secret") == std::string::npos);

  SECTION("the caller's own path may lead through one") {
    REQUIRE(pack(scratch.path("alias").string(), scratch.output()).ok());
    CHECK(members(scratch.output()).find("./alias/real/file.txt\n") != std::string::npos);
  }
}

TEST_CASE("pack: what is no file is left out with a note, and nothing waits for it") {
  const Scratch scratch;
  write(scratch.report() / "file.txt", "text");
  REQUIRE(::mkfifo((scratch.report() / "fifo\nsecond line").c_str(), 0666) == 0);
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (scratch.report() / "qmp").string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::string device_note;
  if (::mknod((scratch.report() / "null").c_str(), S_IFCHR | 0666, 0x103) == 0) {
    device_note = "null: left out: a character device\n";
  } else {
    not_tested("no device can be made here");
  }

  const auto packed = pack(scratch.report().string(), scratch.output());
  ::close(listening);
  REQUIRE(packed.ok());
  CHECK(cozy::join(packed->notes, "\n") + "\n" ==
        "fifo\\x0asecond line: left out: a FIFO\n" + device_note + "qmp: left out: a socket\n");
  CHECK(packed->files == 1);
  CHECK(members(scratch.output()) == "./cozyreport/\n./cozyreport/file.txt\n./cozyreport/PACK-NOTES.txt\n");
  const std::string notes = read(unpack(scratch) / "PACK-NOTES.txt");
  CHECK(notes.substr(notes.find('\n') + 1) == cozy::join(packed->notes, "\n") + "\n");

  SECTION("notes that are there already stay") {
    write(scratch.report() / "PACK-NOTES.txt", "of an earlier pack");
    REQUIRE(pack(scratch.report().string(), scratch.output()).ok());
    CHECK(read(unpack(scratch) / "PACK-NOTES.txt") == "of an earlier pack");
    CHECK(read(unpack(scratch) / "PACK-NOTES-2.txt") == notes);
  }
}

TEST_CASE("pack: names of any length and any bytes") {
  const Scratch scratch;
  const std::vector<std::string> names{std::string(255, 'n'),
                                       std::string(200, 'd') + "/" + std::string(250, 'f'),
                                       "\xc3\xa4-utf8",
                                       "latin1-\xe4\xff",
                                       "new\nline",
                                       "-rf",
                                       " blank ",
                                       "back\\slash"};
  for (const std::string& name : names) write(scratch.report() / name, name);
  const auto packed = pack(scratch.report().string(), scratch.output());
  REQUIRE(packed.ok());
  CHECK(packed->notes.empty());
  const fs::path unpacked = unpack(scratch);
  for (const std::string& name : names) CHECK(read(unpacked / name) == name);
}

TEST_CASE("pack: the same content gives the same bytes") {
  const Scratch scratch;
  const std::vector<std::string> names{"a/1.txt", "a.txt", "b/2.txt", "a-b"};
  for (const auto& name : names) write(scratch.path("one/cozyreport/" + name), name);
  for (auto name = names.rbegin(); name != names.rend(); ++name) write(scratch.path("two/cozyreport/" + *name), *name);
  fs::last_write_time(scratch.path("two/cozyreport/a.txt"), fs::file_time_type{});
  fs::permissions(scratch.path("two/cozyreport/a.txt"), fs::perms(0640));
  const std::string first = scratch.path("first.tgz").string();
  const std::string second = scratch.path("second.tgz").string();
  REQUIRE(pack(scratch.path("one/cozyreport").string(), first).ok());
  REQUIRE(in_child([&] { return notes_or_error(scratch.path("two/cozyreport"), second); }).empty());
  CHECK(read(first) == read(second));
  CHECK(read(first).substr(4, 4) == std::string(4, '\0'));  // the time in the header of gzip

  SECTION("SOURCE_DATE_EPOCH is the time of every member, unless it is no time") {
    const auto pack_at = [&](const char* seconds) {
      return in_child([&] {
        ::setenv("SOURCE_DATE_EPOCH", seconds, 1);
        return notes_or_error(scratch.path("two/cozyreport"), second);
      });
    };
    REQUIRE(pack_at("1700000000").empty());
    CHECK(shell("tar tvzf '" + second + "' | grep -vc ' 2023-11-14 22:13 '") == "failed: 0\n");
    for (const char* no_time : {"yesterday", "-1", "99999999999", ""}) {
      REQUIRE(pack_at(no_time).empty());
      CHECK(read(first) == read(second));
    }
  }
}

TEST_CASE("pack: an archive inside the directory does not hold itself") {
  const Scratch scratch;
  write(scratch.report() / "sub/file.txt", "text");
  write(scratch.report() / "x.tgz", "of another name");
  const std::string output = (scratch.report() / "sub/x.tgz").string();
  const std::string expected = "./cozyreport/\n./cozyreport/sub/\n./cozyreport/sub/file.txt\n./cozyreport/x.tgz\n";
  REQUIRE(pack(scratch.report().string(), output).ok());
  const std::string first = read(output);
  REQUIRE(pack(scratch.report().string(), output).ok());
  CHECK(read(output) == first);
  CHECK(members(output) == expected);

  SECTION("what killed packers left is removed, what living ones write is left out") {
    const std::string partial = (scratch.report() / "sub/.x.tgz.partial-").string();
    write(partial + std::to_string(ended_process()), "left behind");
    write(partial + std::to_string(::getpid()), "left behind by an earlier owner of this number");
    write(partial + "1", "at work");
    REQUIRE(pack(scratch.report().string(), output).ok());
    CHECK(members(output) == expected);
    CHECK(names_in(scratch.report() / "sub") == std::vector<std::string>{".x.tgz.partial-1", "file.txt", "x.tgz"});
  }
  SECTION("a temporary that is locked is at work, whatever its number") {
    const std::string partial = (scratch.report() / "sub/.x.tgz.partial-").string() + std::to_string(::getpid());
    write(partial, "at work");
    const int locked = ::open(partial.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(locked, LOCK_EX | LOCK_NB) == 0);
    const auto packed = pack(scratch.report().string(), output);
    ::close(locked);
    REQUIRE_FALSE(packed.ok());
    CHECK(packed.error().text() == output + ": no temporary file can be made beside it: EEXIST (File exists)");
    CHECK(read(output) == first);
    CHECK(read(partial) == "at work");
  }
  SECTION("under another name it is left out with a note") {
    fs::create_hard_link(output, scratch.report() / "copy.tgz");
    const auto packed = pack(scratch.report().string(), output);
    REQUIRE(packed.ok());
    CHECK(packed->notes == std::vector<std::string>{"copy.tgz: left out: it is the archive under another name"});
  }
}

TEST_CASE("pack: every cut is stated") {
  const Scratch scratch;
  write(scratch.report() / "a", std::string(10, 'a'));
  write(scratch.report() / "b", std::string(100, 'b'));
  write(scratch.report() / "c/d/e", std::string(10, 'c'));
  PackLimits limits;

  SECTION("of content") {
    limits.total_bytes = 20;
    const auto packed = pack(scratch.report().string(), scratch.output(), limits);
    REQUIRE(packed.ok());
    CHECK(cozy::join(packed->notes, "\n") ==
          "b: left out: its 100 bytes go beyond the archive's cap\n"
          "cut at the cap of 20 bytes of content: files left out 1, bytes packed 20");
    CHECK(read(unpack(scratch) / "c/d/e") == std::string(10, 'c'));
  }
  SECTION("of depth") {
    limits.depth = 1;
    const auto packed = pack(scratch.report().string(), scratch.output(), limits);
    REQUIRE(packed.ok());
    CHECK(packed->notes ==
          std::vector<std::string>{"c/d: its content is left out: it lies deeper than 1 levels of directories"});
  }
  SECTION("of names") {
    limits.entries = 3;
    const auto packed = pack(scratch.report().string(), scratch.output(), limits);
    REQUIRE(packed.ok());
    REQUIRE(packed->notes.size() == 1);
    CHECK(packed->notes[0].find("c/: holds more names than the 3 ") == 0);
  }
  SECTION("of the notes themselves") {
    for (int i = 0; i < 1005; ++i) ::mkfifo((scratch.report() / ("fifo" + std::to_string(i))).c_str(), 0666);
    limits.total_bytes = 20;
    const auto packed = pack(scratch.report().string(), scratch.output(), limits);
    REQUIRE(packed.ok());
    REQUIRE(packed->notes.size() == 1002);
    CHECK(packed->notes[1000] == "and 6 more such notes");
    CHECK(packed->notes[1001] == "cut at the cap of 20 bytes of content: files left out 1, bytes packed 20");
  }
}
