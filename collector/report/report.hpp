#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/report/canary.hpp"
#include "collector/report/capture.hpp"
#include "collector/report/timeline.hpp"
#include "probes/reading.hpp"
#include "probes/result.hpp"

namespace cozy {

struct ReportPath;

/// Who wrote a file: this program, the lane's shell collectors, or nobody can tell (it was cut before its frame).
enum class Origin { unknown, cozybracket, shell };

/// "cozybracket", "shell", "unknown"
std::string_view origin_name(Origin origin);

/// A capture of a report with what its parser read in it.
struct SampleCapture {
  Capture capture;
  Reading reading;
  std::string file;  ///< its path inside the report, "snapshots/kubernetes/runner-shape/sample-1/shape.txt"
  Origin origin = Origin::unknown;
  std::optional<std::int64_t> mtime_ns{};  ///< as the archive or the file system has it
};

/// A file beside the captures that says something by being there, or holds a reader's messages.
struct Marker {
  std::string capture;  ///< whose folder it lies in; empty for one of the snapshot, "SOFT-RED-node-join.txt"
  int sample = 0;       ///< 0 where it lies in no sample's folder
  std::string name;     ///< "COLLECTION-FAILED.txt"
  std::string text;     ///< its first 16 KiB
  std::string file;     ///< its path inside the report
  std::optional<std::int64_t> mtime_ns{};
};

/// One bracket: the captures of both samples under one name. Never pair across snapshots.
struct Snapshot {
  std::string name;
  std::vector<SampleCapture> captures;
  std::vector<Canary> canaries{};  ///< of the shell, at most one per sample
  std::vector<Marker> markers{};
  std::optional<Timeline> timeline{};

  [[nodiscard]] const SampleCapture* find(std::string_view capture, int sample) const;
  [[nodiscard]] const Canary* canary(int sample) const;
  [[nodiscard]] const Marker* marker(std::string_view capture, int sample, std::string_view name) const;
};

/// An entry of an archive that was not accepted.
struct RefusedEntry {
  std::string name;  ///< escaped
  std::string reason;
};

struct Report {
  std::string path;
  std::vector<Snapshot> snapshots;
  std::vector<std::string> notes;   ///< what could not be read and why
  Origin origin = Origin::unknown;  ///< of its captures; unknown where they differ, which a note says
  bool truncated = false;           ///< its end was not reached, or nothing proves that it was
  std::string truncated_why{};
  std::vector<RefusedEntry> refused{};
  std::string runner_identity{};  ///< the lane's sandbox-host/runner-identity.txt, as it stands there
};

/// A file of a report.
struct ReportFile {
  std::string path;
  std::string text;
  std::string fault{};  ///< why the text is less than whole or may be wrong
  std::optional<std::int64_t> mtime_ns{};
};

/// Collects the files of a report, from a directory or from an archive, in any order.
class ReportBuilder {
 public:
  /// Takes a file when its path is one of those that are read, wherever the report begins inside the path.
  /// The text of a capture, ours or the shell's, goes through the probe's own parser.
  void add(ReportFile file);
  void add(std::string_view path, std::string_view text) { add(ReportFile{std::string(path), std::string(text)}); }
  void note(std::string words);
  Report finish(std::string path);

 private:
  Snapshot* snapshot_named(const std::string& name);
  void add_capture(ReportFile& file, const ReportPath& path, Snapshot& snapshot);

  Report report_;
  std::size_t rows_ = 0;  ///< of all readings
};

/// The longest file of a capture that is read; a longer one is cut with a note.
inline constexpr std::size_t k_longest_capture = 16UL * 1024 * 1024;

/// Opens a report directory. Links are not followed.
Result<Report> open_report_directory(const std::string& directory);

}  // namespace cozy
