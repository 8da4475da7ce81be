#include "probes/pseudo_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "probes/thread_stat.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr std::size_t k_cap = 64UL * 1024;

}  // namespace

TEST_CASE("a file is read whole, with its mode and its time", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("value", "12\n");
  REQUIRE(::chmod(tree.path("value").c_str(), 0444) == 0);
  const timespec times[] = {{5, 0}, {1755760000, 7}};
  REQUIRE(::utimensat(AT_FDCWD, tree.path("value").c_str(), times, 0) == 0);

  const auto file = read_file(calls, tree.path("value"), FileShape::record, k_cap);
  REQUIRE(file);
  CHECK(file->text == "12\n");
  CHECK_FALSE(file->cut);
  CHECK(file->mode == 0444U);
  CHECK(file->mtime_ns == 1755760000'000000007);
}

TEST_CASE("an empty file is read, and is no error", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("empty", "");
  const auto file = read_file(calls, tree.path("empty"), FileShape::record, k_cap);
  REQUIRE(file);
  CHECK(file->text.empty());
}

TEST_CASE("an error names its call's number and words", "[pseudo_file]") {
  const TemporaryTree tree;
  tree.write("value", "12\n");
  for (const char* call : {"open", "stat", "read"}) {
    FakeCalls calls(tree.directory());
    calls.fail(call, "value", EIO);
    const auto file = read_file(calls, tree.path("value"), FileShape::record, k_cap);
    CAPTURE(call);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == EIO);
    CHECK(file.error().subject == tree.path("value"));
    CHECK(file.error().reason.starts_with("EIO"));
  }
  FakeCalls calls(tree.directory());
  CHECK(read_file(calls, tree.path("missing"), FileShape::record, k_cap).error().code == ENOENT);
}

TEST_CASE("an interrupted read is tried again", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("value", "12\n");
  calls.fail("read", "value", EINTR, 3);
  const auto file = read_file(calls, tree.path("value"), FileShape::record, k_cap);
  REQUIRE(file);
  CHECK(file->text == "12\n");
}

TEST_CASE("what is no regular file is refused at once, with its kind", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  REQUIRE(::mkfifo(tree.path("fifo").c_str(), 0600) == 0);
  REQUIRE(::mkdir(tree.path("directory").c_str(), 0700) == 0);
  const auto fifo = read_file(calls, tree.path("fifo"), FileShape::stream, k_cap);
  REQUIRE_FALSE(fifo);
  CHECK(fifo.error().reason == "is a FIFO, not a regular file");
  const auto directory = read_file(calls, tree.path("directory"), FileShape::stream, k_cap);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().reason == "is a directory, not a regular file");
  const auto device = read_file(calls, "/dev/null", FileShape::stream, k_cap);
  REQUIRE_FALSE(device);
  CHECK(device.error().reason == "is a character device, not a regular file");
}

TEST_CASE("S13: the same text for every length around a buffer's size", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  for (const std::size_t length : {1UL, 4095UL, 4096UL, 4097UL, 65535UL, 65536UL, 65537UL, 131072UL, 300000UL}) {
    std::string text(length - 1, 'x');
    text += '\n';
    tree.write("file", text);
    for (const FileShape shape : {FileShape::record, FileShape::stream}) {
      const auto file = read_file(calls, tree.path("file"), shape, 1UL << 20U);
      CAPTURE(length);
      REQUIRE(file);
      CHECK(file->text == text);
      CHECK_FALSE(file->cut);
    }
  }
}

TEST_CASE("a file beyond the cap is cut and says so, and one of exactly the cap is whole", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("file", std::string(100, 'x'));
  const auto cut = read_file(calls, tree.path("file"), FileShape::stream, 99);
  REQUIRE(cut);
  CHECK(cut->cut);
  CHECK(cut->text.size() == 99);
  const auto whole = read_file(calls, tree.path("file"), FileShape::stream, 100);
  REQUIRE(whole);
  CHECK_FALSE(whole->cut);
  CHECK(whole->text.size() == 100);
}

TEST_CASE("T07: a record that comes in pieces is read again from its start, never glued", "[pseudo_file]") {
  const std::string first = case_text("T07", "stat-first.txt");
  const std::string then = case_text("T07", "stat-then.txt");
  const std::string glued = first.substr(0, 48) + then.substr(48);
  const auto mixture = parse_thread_stat(glued);
  REQUIRE(mixture);  // why gluing is dangerous
  CHECK(mixture->state == 'R');
  CHECK(mixture->utime_ticks == 777);

  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("stat", first);
  calls.change_behind("stat", 48, then);
  const auto file = read_file(calls, tree.path("stat"), FileShape::record, k_cap);
  REQUIRE(file);
  CHECK(file->text == then);
  const auto stat = parse_thread_stat(file->text);
  REQUIRE(stat);
  CHECK(stat->state == 'S');
  CHECK(stat->utime_ticks == 777);
  CHECK(stat->stime_ticks == 300);
  CHECK(stat->guest_time_ticks == 700U);
}

TEST_CASE("a record that never comes whole is refused, and a stream may come in pieces", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("file", std::string(100, 'x'));
  calls.read_at_most("file", 48);
  const auto record = read_file(calls, tree.path("file"), FileShape::record, k_cap);
  REQUIRE_FALSE(record);
  CHECK(record.error().reason == "came in pieces, each time it was read");
  const auto stream = read_file(calls, tree.path("file"), FileShape::stream, k_cap);
  REQUIRE(stream);
  CHECK(stream->text.size() == 100);

  calls.fail("rewind", "file", ESPIPE);
  const auto no_rewind = read_file(calls, tree.path("file"), FileShape::record, k_cap);
  REQUIRE_FALSE(no_rewind);
  CHECK(no_rewind.error().code == ESPIPE);
}

TEST_CASE("a listing is sorted, without dots, and bounded", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  tree.write("d/b", "");
  tree.write("d/a", "");
  tree.write("d/c/x", "");
  REQUIRE(::symlink("c", tree.path("d/link").c_str()) == 0);
  REQUIRE(::chmod(tree.path("d/a").c_str(), 0444) == 0);

  const auto entries = list_directory(calls, tree.path("d"), 4, true);
  REQUIRE(entries);
  REQUIRE(entries->size() == 4);
  CHECK((*entries)[0].name == "a");
  CHECK((*entries)[0].mode == 0444U);
  CHECK((*entries)[1].name == "b");
  CHECK((*entries)[2].name == "c");
  CHECK((*entries)[2].directory);
  CHECK_FALSE((*entries)[3].directory);  // a link leads elsewhere

  const auto many = list_directory(calls, tree.path("d"), 3);
  REQUIRE_FALSE(many);
  CHECK(many.error().reason == "holds more than 3 names");
  CHECK(list_directory(calls, tree.path("missing"), 3).error().code == ENOENT);
  CHECK(list_directory(calls, tree.path("d/a"), 3).error().code == ENOTDIR);
}

TEST_CASE("a symbolic link is read, not followed", "[pseudo_file]") {
  const TemporaryTree tree;
  FakeCalls calls(tree.directory());
  REQUIRE(::symlink("/usr/bin/qemu-system-x86_64 (deleted)", tree.path("exe").c_str()) == 0);
  const auto target = read_symlink(calls, tree.path("exe"));
  REQUIRE(target);
  CHECK(*target == "/usr/bin/qemu-system-x86_64 (deleted)");
  tree.write("file", "");
  CHECK(read_symlink(calls, tree.path("file")).error().code == EINVAL);
  calls.fail("readlink", "exe", EACCES);
  CHECK(read_symlink(calls, tree.path("exe")).error().code == EACCES);
}

TEST_CASE("real pseudo-files have no size and are read all the same", "[pseudo_file]") {
  const auto stat = read_file(FileCalls::system(), "/proc/self/stat", FileShape::record, k_cap);
  REQUIRE(stat);
  const auto parsed = parse_thread_stat(stat->text);
  REQUIRE(parsed);
  CHECK(parsed->tid == static_cast<std::uint64_t>(::getpid()));
}
