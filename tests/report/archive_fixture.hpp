#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "collector/report/archive.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

/// Real directories, real users and the system's own tar, for the tests of pack().
namespace archive_tests {

namespace fs = std::filesystem;

/// A directory of its own, gone with its test. Every user may enter it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "cozy-archive-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    fs::permissions(path_, fs::perms(0777));
    fs::create_directory(report());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] fs::path report() const { return path_ / "cozyreport"; }
  [[nodiscard]] std::string output() const { return (path_ / "cozyreport.tgz").string(); }
  [[nodiscard]] fs::path path(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

inline void not_tested(const std::string& why) { WARN(why << ": not tested"); }

inline void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// What a command says on both its streams; "failed: " before it where its status is not 0.
inline std::string shell(const std::string& command) {
  FILE* pipe = ::popen(("exec 2>&1; LC_ALL=C; TZ=UTC; export LC_ALL TZ; " + command).c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  return (::pclose(pipe) == 0 ? "" : "failed: ") + text;
}

inline std::string members(const std::string& archive) { return shell("tar tzf '" + archive + "'"); }

inline fs::path unpack(const Scratch& scratch) {
  const fs::path target = scratch.path("unpacked");
  fs::create_directory(target);
  CHECK(shell("tar xzf '" + scratch.output() + "' -C '" + target.string() + "'").empty());
  return target / "cozyreport";
}

/// What a function says in a child process, where it may change its user, its limits or its mounts. An
/// exception ends the child: there must never be two processes that go on with the tests.
inline std::string in_child(const std::function<std::string()>& say) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string said = [&]() noexcept { return say(); }();
    ::_exit(::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 1; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

inline std::string notes_or_error(const fs::path& directory, const std::string& output) {
  const auto packed = cozy::pack(directory.string(), output);
  return packed ? cozy::join(packed->notes, "\n") : "error: " + packed.error().text();
}

inline bool become_ordinary() {
  constexpr unsigned k_nobody = 65534;
  if (::geteuid() != 0) return true;
  return ::setresgid(k_nobody, k_nobody, k_nobody) == 0 && ::setresuid(k_nobody, k_nobody, k_nobody) == 0;
}

inline std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace archive_tests
