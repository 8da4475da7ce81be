#include "collector/report/report.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "collector/report/output_file.hpp"
#include "collector/report/report_path.hpp"
#include "collector/report/shell_capture.hpp"
#include "probes/probe.hpp"
#include "probes/pseudo_file.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

/// What was written stands where it is worse than what the text alone shows: the text cannot tell how
/// its read ended. Where both say the same, the one that says more of it.
Judgement worse(const Judgement& written, const Judgement& judged) {
  if (written.outcome == judged.outcome && judged.reason.find(written.reason) != std::string::npos) return judged;
  return static_cast<int>(written.outcome) >= static_cast<int>(judged.outcome) ? written : judged;
}

/// Opens what lies below a directory, and nothing through a link: a report that was downloaded may hold any.
class CallsBelow : public FileCalls {
 public:
  explicit CallsBelow(const std::string& directory)
      : directory_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  int open(const std::string& path, int flags) override {
    open_how how{};
    how.flags = static_cast<unsigned>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const auto file = static_cast<int>(::syscall(SYS_openat2, directory_.number(), path.c_str(), &how, sizeof how));
    if (file >= 0 || errno != ENOSYS) return file;
    return ::openat(directory_.number(), path.c_str(), flags | O_NOFOLLOW);  // Linux before 5.6
  }

 private:
  Descriptor directory_;
};

bool is_link(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

/// The known files of a directory.
class DirectoryFiles {
 public:
  DirectoryFiles(CallsBelow& calls, ReportBuilder& builder) : calls_(calls), builder_(builder) {}

  void add_snapshot(const std::string& name) {
    std::string blocked;  // a folder on the way to a capture that was named already
    for (const KnownFile& known : known_files()) {
      if (known.role == FileRole::identity) continue;
      const std::string inside = "snapshots/" + name + "/" + known.path;
      const std::string folder = inside.substr(0, inside.rfind('/'));
      if (folder == blocked) continue;
      const int code = add(inside, known.role);
      if (code == ELOOP || code == ENOTDIR) blocked = folder;
    }
  }

  void add_identity() {
    for (const KnownFile& known : known_files()) {
      if (known.role == FileRole::identity) add(known.path, known.role);
    }
  }

 private:
  int add(const std::string& inside, FileRole role) {
    const std::size_t longest = longest_file(role);
    auto file = read_file(calls_, inside, FileShape::stream, longest);
    if (file) {
      const std::string fault = file->cut ? "longer than " + std::to_string(longest) + " bytes, cut" : "";
      builder_.add({inside, std::move(file->text), fault, file->mtime_ns});
      return 0;
    }
    if (file.error().code != ENOENT) builder_.note(escape(inside) + ": " + file.error().reason);
    return file.error().code;
  }

  CallsBelow& calls_;
  ReportBuilder& builder_;
};

constexpr std::size_t k_most_snapshots = 64;
constexpr std::size_t k_most_notes = 100;
constexpr std::size_t k_most_rows = 500'000;  // a runner of 1024 CPUs with a hundred nodes has a tenth

/// A file with our own frame.
SampleCapture own_capture(Capture capture, const Probe& probe, const Legend& legend) {
  SampleCapture file;
  file.origin = Origin::cozybracket;
  file.reading = probe.parse(capture.text);
  capture.judgement = worse(capture.judgement, judge(file.reading, capture.end, legend));
  file.capture = std::move(capture);
  return file;
}

/// What became of the file on its way here.
void take_fault(const std::string& fault, Capture& capture) {
  if (fault.empty()) return;
  Judgement& judgement = capture.judgement;
  if (judgement.outcome == Outcome::complete) judgement.outcome = Outcome::partial;
  judgement.reason += (judgement.reason.empty() ? "" : "; ") + make_line(fault);
  capture.end.shortfall += (capture.end.shortfall.empty() ? "" : "; ") + make_line(fault);
}

bool holds(const Snapshot& snapshot, const KnownFile& file) {
  switch (file.role) {
    case FileRole::capture:
      return snapshot.find(file.capture, file.sample) != nullptr;
    case FileRole::canary:
      return snapshot.canary(file.sample) != nullptr;
    case FileRole::marker:
      return snapshot.marker(file.capture, file.sample, file.name) != nullptr;
    case FileRole::timeline:
      return snapshot.timeline.has_value();
    case FileRole::identity:
      return false;
  }
  return false;
}

Origin origin_of(const std::vector<Snapshot>& snapshots, bool& mixed) {
  bool ours = false;
  bool shell = false;
  bool canary = false;
  for (const Snapshot& snapshot : snapshots) {
    canary = canary || !snapshot.canaries.empty();
    for (const SampleCapture& file : snapshot.captures) {
      ours = ours || file.origin == Origin::cozybracket;
      shell = shell || file.origin == Origin::shell;
    }
  }
  mixed = ours && shell;
  if (mixed) return Origin::unknown;
  if (ours) return Origin::cozybracket;
  return shell || canary ? Origin::shell : Origin::unknown;
}

}  // namespace

const SampleCapture* Snapshot::find(std::string_view capture, int sample) const {
  const auto found = std::find_if(captures.begin(), captures.end(), [&](const SampleCapture& c) {
    return c.capture.sample == sample && c.capture.name == capture;
  });
  return found == captures.end() ? nullptr : &*found;
}

const Canary* Snapshot::canary(int sample) const {
  const auto found =
      std::find_if(canaries.begin(), canaries.end(), [&](const Canary& c) { return c.sample == sample; });
  return found == canaries.end() ? nullptr : &*found;
}

const Marker* Snapshot::marker(std::string_view capture, int sample, std::string_view marker_name) const {
  const auto found = std::find_if(markers.begin(), markers.end(), [&](const Marker& m) {
    return m.sample == sample && m.capture == capture && m.name == marker_name;
  });
  return found == markers.end() ? nullptr : &*found;
}

std::string_view origin_name(Origin origin) {
  if (origin == Origin::unknown) return "unknown";
  return origin == Origin::shell ? "shell" : "cozybracket";
}

void ReportBuilder::note(std::string words) {
  if (report_.notes.size() < k_most_notes) report_.notes.push_back(std::move(words));
}

Snapshot* ReportBuilder::snapshot_named(const std::string& name) {
  const auto known = std::find_if(report_.snapshots.begin(), report_.snapshots.end(),
                                  [&](const Snapshot& s) { return s.name == name; });
  if (known != report_.snapshots.end()) return &*known;
  if (report_.snapshots.size() == k_most_snapshots) {
    note("more than " + std::to_string(k_most_snapshots) + " snapshots");
    return nullptr;
  }
  return &report_.snapshots.emplace_back(Snapshot{name, {}});
}

void ReportBuilder::add(ReportFile file) {
  const auto path = parse_report_path(file.path);
  if (!path) return;
  const KnownFile& known = *path->file;
  if (!file.fault.empty()) note(escape(file.path) + ": " + make_line(file.fault));
  if (known.role == FileRole::identity) {
    if (report_.runner_identity.empty()) report_.runner_identity = file.text;
    return;
  }
  Snapshot* snapshot = snapshot_named(path->snapshot);
  if (snapshot == nullptr) return;
  if (holds(*snapshot, known)) return note(escape(file.path) + ": stands there twice, the first counts");
  if (known.role == FileRole::capture) return add_capture(file, *path, *snapshot);
  if (known.role == FileRole::timeline) {
    snapshot->timeline = parse_timeline(file.text);
    if (!snapshot->timeline) return note(escape(file.path) + ": is no timeline, left out");
    const std::size_t bad = snapshot->timeline->bad_lines;
    if (bad > 0)
      note(escape(file.path) + ": " + std::to_string(bad) + (bad == 1 ? " line is" : " lines are") +
           " none of a timeline's, or beyond what is read: left out");
    return;
  }
  if (known.role == FileRole::canary) {
    Canary canary = parse_canary(file.text);
    canary.sample = known.sample;
    canary.file = path->inside();
    return snapshot->canaries.push_back(std::move(canary));
  }
  snapshot->markers.push_back({known.capture, known.sample, known.name, file.text, path->inside(), file.mtime_ns});
}

void ReportBuilder::add_capture(ReportFile& file, const ReportPath& path, Snapshot& snapshot) {
  const KnownFile& known = *path.file;
  const Probe* probe = find_probe(known.capture);
  const Legend* legend = find_legend(known.capture);
  if (probe == nullptr || legend == nullptr) return;
  if (rows_ > k_most_rows) return note(escape(file.path) + ": the report holds too many numbers, left out");
  auto own = parse_capture(file.text);
  SampleCapture read =
      own ? own_capture(std::move(*own), *probe, *legend) : read_shell_capture(file.text, *probe, *legend);
  rows_ += read.reading.rows.size();
  read.capture.name = known.capture;  // the path decides: it is what pairs
  read.capture.sample = known.sample;
  read.capture.snapshot = path.snapshot;
  read.file = path.inside();
  read.mtime_ns = file.mtime_ns;
  take_fault(file.fault, read.capture);
  snapshot.captures.push_back(std::move(read));
}

Report ReportBuilder::finish(std::string path) {
  report_.path = std::move(path);
  std::sort(report_.snapshots.begin(), report_.snapshots.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (Snapshot& snapshot : report_.snapshots) settle_markers(snapshot);
  bool mixed = false;
  report_.origin = origin_of(report_.snapshots, mixed);
  if (mixed) note("some captures were written by cozybracket and some by the shell collectors");
  return std::move(report_);
}

Result<Report> open_report_directory(const std::string& directory) {
  constexpr std::size_t k_most_names = 4096;
  CallsBelow calls(directory);
  ReportBuilder builder;
  const std::string snapshots = directory + "/snapshots";
  if (is_link(snapshots)) return Error{snapshots, "is a symbolic link, which is not followed", ELOOP};
  const auto names = list_directory(calls, snapshots, k_most_names);
  if (!names) return names.error();
  DirectoryFiles files(calls, builder);
  for (const DirectoryEntry& snapshot : *names) {
    if (snapshot.directory) files.add_snapshot(snapshot.name);
  }
  files.add_identity();
  return builder.finish(directory);
}

}  // namespace cozy
