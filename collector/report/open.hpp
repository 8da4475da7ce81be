#pragma once

#include <string>

#include "collector/report/archive_reader.hpp"
#include "collector/report/report.hpp"

namespace cozy {

/// Opens a report, ours or the shell's: a directory, an archive (tar, tgz, or the zip around files or around one of
/// those), or "-" for an archive on standard input. Content decides, not the name. Streams, writes nothing, and
/// holds no more than the limits. An archive that is cut or damaged is read as far as it goes and says so; one
/// without a snapshot is no error. What is no archive at all is one, and so is a directory without snapshots.
Result<Report> open_report(const std::string& path, const ArchiveLimits& limits = {});

/// The same from an open descriptor, which stays open.
Result<Report> open_report_archive(int descriptor, const std::string& path, const ArchiveLimits& limits = {});

}  // namespace cozy
