#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Which files of a report are read, by name.
namespace cozy {

enum class FileRole {
  capture,   ///< one of the table of probes
  canary,    ///< the shell's fixed work
  marker,    ///< a file that says something by being there, or holds a reader's messages
  timeline,  ///< what was read between the samples
  identity,  ///< sandbox-host/runner-identity.txt, which the lane writes once
};

/// How much of such a file is read; a longer one is cut with a note.
std::size_t longest_file(FileRole role);

struct KnownFile {
  std::string path;  ///< below its snapshot; below the report for the identity
  FileRole role = FileRole::capture;
  std::string capture;  ///< "runner-kernel-cpu-time"; empty for a file of the snapshot
  int sample = 0;       ///< 0 for a file that belongs to none
  std::string name;
};

/// All of them, the captures before what lies beside them.
std::span<const KnownFile> known_files();

struct ReportPath {
  std::string prefix;    ///< where the report begins, "a/cozyreport"; empty at the front
  std::string snapshot;  ///< empty for the identity
  const KnownFile* file = nullptr;

  /// "snapshots/kubernetes/runner-shape/sample-1/shape.txt"
  [[nodiscard]] std::string inside() const;
};

/// None for every other path. "." and empty components count for nothing.
std::optional<ReportPath> parse_report_path(std::string_view path);

}  // namespace cozy
