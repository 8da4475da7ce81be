#include "probes/kernel_mount.hpp"

#include <sys/stat.h>

#include <thread>
#include <utility>

#include "probes/pseudo_file.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

std::string mount_namespace() {
  const auto link = read_symlink(FileCalls::system(), "/proc/self/ns/mnt");
  return link ? *link : "unknown";
}

}  // namespace

TEST_CASE("a file system that is not there is refused by name", "[kernel_mount]") {
  const auto mount = DetachedMount::of("no-such-file-system");
  REQUIRE_FALSE(mount);
  CHECK(mount.error().subject == "no-such-file-system");
  CHECK(mount.error().code != 0);
  CHECK(mount.error().reason.starts_with("fs"));  // the call that was refused
}

TEST_CASE("a detached mount is a directory while it lives, or is refused with a reason", "[kernel_mount]") {
  auto mount = DetachedMount::of("debugfs");
  if (!mount) {
    CHECK(mount.error().code != 0);
    CHECK(mount.error().subject == "debugfs");
    return;
  }
  std::string path;
  {
    DetachedMount moved = std::move(*mount);
    path = moved.path();
    CHECK(path.starts_with("/proc/self/fd/"));
    struct stat facts {};
    REQUIRE(::stat((path + "/.").c_str(), &facts) == 0);
    CHECK(S_ISDIR(facts.st_mode));
  }
  CHECK(list_directory(FileCalls::system(), path, 10).error().code != 0);
}

TEST_CASE("a private mount that is refused says at which step, and stays in its thread", "[kernel_mount]") {
  const std::string before = mount_namespace();
  Error error;
  std::thread([&error] {
    const auto mount = mount_privately("no-such-file-system", "/proc");
    if (!mount) error = mount.error();
  }).join();
  CHECK(error.subject == "no-such-file-system");
  CHECK(error.code != 0);
  CHECK((error.reason.starts_with("unshare: ") || error.reason.starts_with("mount")));
  CHECK(mount_namespace() == before);
}
