#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/probe.hpp"
#include "tests/probes/fake_calls.hpp"

namespace cozy::test {

/// The path of a case's file: case_path("T03", "stat.txt").
std::string case_path(std::string_view id, std::string_view file);
/// Its bytes.
std::string case_text(std::string_view id, std::string_view file);

/// A directory of this test's own, removed with the object.
class TemporaryTree {
 public:
  TemporaryTree();
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;
  ~TemporaryTree();

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string path(std::string_view relative) const;
  /// Writes a file and makes the directories above it.
  void write(std::string_view relative, std::string_view text) const;

 private:
  std::string directory_;
};

/// Bounds that no test comes near when nothing is held.
Watchdog::Bounds patient();
/// A file that is held costs this much.
Watchdog::Bounds impatient();

struct ProbeRun {
  std::string text;
  Reading reading;
  std::size_t abandoned = 0;
};

/// Runs a probe over a tree and parses what it wrote. The sandbox is the tree's own.
ProbeRun run_on(std::string_view probe, const std::string& root, FakeCalls& calls, Watchdog::Bounds bounds = patient());
ProbeRun run_on(std::string_view probe, const std::string& root);

/// True when one of the words holds the part.
bool mentions(const std::vector<std::string>& words, std::string_view part);

/// A stat line with 52 fields, as the kernel writes it, with its newline.
std::string stat_line(std::string_view tid, std::string_view comm, std::string_view utime = "12",
                      std::string_view start = "990011", std::string_view flags = "4194624");

}  // namespace cozy::test
