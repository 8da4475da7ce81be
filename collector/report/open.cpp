#include "collector/report/open.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "collector/report/output_file.hpp"
#include "collector/report/report_files.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

bool is_directory(const Descriptor& directory, const std::string& name) {
  struct stat facts {};
  return ::fstatat(directory.number(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

/// Looks for the directories that hold "snapshots", breadth first and never through a link.
class BeginningSearch {
 public:
  std::vector<std::string> run(const std::string& top) {
    std::vector<std::string> level{top};
    for (int depth = 0; depth <= k_deepest && found_.empty() && !level.empty(); ++depth) level = look_at(level);
    return std::move(found_);
  }

 private:
  static constexpr int k_deepest = 4;
  static constexpr std::size_t k_most_names = 10'000;

  /// Takes those that are one, and gives the directories below all of them.
  std::vector<std::string> look_at(const std::vector<std::string>& directories) {
    std::vector<std::string> below;
    for (const std::string& path : directories) {
      // The caller's own path may lead through links; nothing below it may.
      const int follow = &path == &directories.front() && names_ == 0 ? 0 : O_NOFOLLOW;
      const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
      if (!directory.open()) continue;
      if (is_directory(directory, "snapshots")) found_.push_back(path);
      const Listing listing = list_names(directory, k_most_names - names_);
      names_ += listing.names.size();
      for (const std::string& name : listing.names) {
        if (is_directory(directory, name)) below.push_back(path + "/" + name);
      }
    }
    return below;
  }

  std::vector<std::string> found_;
  std::size_t names_ = 0;
};

Result<Report> open_directory(const std::string& path) {
  struct stat facts {};
  const bool here = ::lstat((path + "/snapshots").c_str(), &facts) == 0;
  const std::vector<std::string> found = here ? std::vector{path} : BeginningSearch().run(path);
  if (found.empty()) return open_report_directory(path);  // whose error says what is missing
  auto report = open_report_directory(found.front());
  if (!report) return report;
  report->path = path;
  if (found.front() != path) report->notes.push_back("the report begins at " + escape(found.front()));
  for (std::size_t i = 1; i < found.size() && i < 10; ++i) {
    report->notes.push_back("a second report begins at " + escape(found[i]) + ": it is left out");
  }
  return report;
}

}  // namespace

Result<Report> open_report_archive(int descriptor, const std::string& path, const ArchiveLimits& limits) {
  ByteMeter meter{limits.bytes};
  DescriptorSource source(descriptor, meter);
  ReportFiles files;
  const ArchiveSummary summary = read_archive(source, meter, files, limits);
  if (summary.recognized) return files.finish(path, summary);
  if (!source.fault().empty()) return Error{path, source.fault()};
  if (meter.input == 0) return Error{path, "is empty"};
  return Error{path, "is no report: neither a directory nor a tar, tgz or zip archive"};
}

Result<Report> open_report(const std::string& path, const ArchiveLimits& limits) {
  if (path == "-") return open_report_archive(STDIN_FILENO, path, limits);
  // A FIFO without a writer is not waited for; one that has a writer is read as it comes.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (!file.open() || ::fstat(file.number(), &facts) != 0) return Error{path, errno_text(errno), errno};
  if (S_ISDIR(facts.st_mode)) return open_directory(path);
  const int flags = ::fcntl(file.number(), F_GETFL);
  if (flags >= 0) ::fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK);
  return open_report_archive(file.number(), path, limits);
}

}  // namespace cozy
