#include "collector/report/report_path.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "collector/report/legend.hpp"
#include "collector/report/report.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array<std::string_view, 4> k_sidecars{"COLLECTION-FAILED.txt", "COLLECTION-TRUNCATED.txt",
                                                     "READ-WARNINGS.txt", "read-error.log"};
/// Captures of the shell that are taken of a failed wait alone: only what became of them is read.
constexpr std::array<std::string_view, 3> k_red_pairs{"sandbox-host-cpu-time", "tenant-cpu-throttle",
                                                      "tenant-thread-cpu"};
constexpr std::array<std::string_view, 2> k_red_singles{"tenant-network-counters", "tenant-block-io"};

class Table {
 public:
  Table() {
    for (const Legend& legend : legends()) {
      for (const int sample : legend.samples) {
        add(FileRole::capture, legend.capture, sample, legend.file);
        for (const std::string_view sidecar : k_sidecars) add(FileRole::marker, legend.capture, sample, sidecar);
      }
    }
    for (const int sample : {1, 2}) {
      add(FileRole::canary, "runner-canary", sample, "fixed-work.txt");
      for (const std::string_view capture : k_red_pairs) add_failures(capture, sample);
    }
    for (const std::string_view capture : k_red_singles) add_failures(capture, 0);
    add(FileRole::marker, "", 0, "SOFT-RED-node-join.txt");
    files_.push_back({"timeline/timeline.jsonl", FileRole::timeline, "timeline", 0, "timeline.jsonl"});
    files_.push_back({"sandbox-host/runner-identity.txt", FileRole::identity, "", 0, "runner-identity.txt"});
    for (const KnownFile& file : files_) by_path_.emplace(file.path, &file);
  }

  [[nodiscard]] std::span<const KnownFile> files() const { return files_; }
  [[nodiscard]] const KnownFile* find(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }

 private:
  void add(FileRole role, std::string_view capture, int sample, std::string_view name) {
    std::string path(capture);
    if (!path.empty()) path += '/';
    if (sample != 0) path += "sample-" + std::to_string(sample) + "/";
    path += name;
    files_.push_back({std::move(path), role, std::string(capture), sample, std::string(name)});
  }

  void add_failures(std::string_view capture, int sample) {
    add(FileRole::marker, capture, sample, "COLLECTION-FAILED.txt");
    add(FileRole::marker, capture, sample, "COLLECTION-TRUNCATED.txt");
  }

  std::vector<KnownFile> files_;
  std::map<std::string, const KnownFile*, std::less<>> by_path_;
};

const Table& table() {
  static const Table k_table;
  return k_table;
}

std::string join_parts(std::span<const std::string_view> parts) {
  std::string path;
  for (const std::string_view part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

}  // namespace

std::size_t longest_file(FileRole role) {
  constexpr std::size_t k_longest_beside = 16UL * 1024;
  const bool small = role == FileRole::marker || role == FileRole::identity;
  return small ? k_longest_beside : k_longest_capture;
}

std::span<const KnownFile> known_files() { return table().files(); }

std::string ReportPath::inside() const {
  return file->role == FileRole::identity ? file->path : "snapshots/" + snapshot + "/" + file->path;
}

std::optional<ReportPath> parse_report_path(std::string_view path) {
  std::vector<std::string_view> parts = split_at(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  const std::span<const std::string_view> all(parts);
  constexpr std::size_t k_deepest = 3;  // CAPTURE/sample-N/FILE
  for (std::size_t depth = 1; depth <= k_deepest && depth <= all.size(); ++depth) {
    const KnownFile* file = table().find(join_parts(all.last(depth)));
    if (file == nullptr) continue;
    const auto above = all.first(all.size() - depth);
    if (file->role == FileRole::identity) return ReportPath{join_parts(above), "", file};
    if (above.size() < 2 || above[above.size() - 2] != "snapshots") continue;
    return ReportPath{join_parts(above.first(above.size() - 2)), std::string(above.back()), file};
  }
  return std::nullopt;
}

}  // namespace cozy
