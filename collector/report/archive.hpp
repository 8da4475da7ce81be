#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/result.hpp"

/// The only user of libarchive.
namespace cozy {

/// What an archive may hold at most. What lies beyond is left out, and the notes say so.
struct PackLimits {
  std::uint64_t total_bytes = 2ULL * 1024 * 1024 * 1024;  ///< of content; a file that does not fit is left out whole
  std::size_t entries = 100'000;                          ///< names, of all directories together
  unsigned depth = 32;                                    ///< levels of directories below the packed one
};

struct PackSummary {
  std::string path;
  std::uint64_t files = 0;         ///< regular files and symbolic links, without the notes' own
  std::uint64_t bytes = 0;         ///< of the archive
  std::vector<std::string> notes;  ///< what was skipped, cut or could not be read, one line each, escaped
};

/// Packs a directory into a .tgz: members "./<base name of the directory>/...", sorted by name, owner 0,
/// modes 0644 and 0755, every mtime SOURCE_DATE_EPOCH or else 1980-01-01, so that the same content gives
/// the same bytes; symbolic links stored as links and never followed; sockets, FIFOs and devices left
/// out with a note; a file that cannot be read, vanishes, grows or shrinks is noted. All notes stand in the
/// archive too, as its last member PACK-NOTES.txt beside the snapshots. The archive appears whole or not
/// at all: temporary name, fsync, rename. The archive itself and temporaries of it, when they lie inside
/// the directory, are left out; temporaries of packers that were killed are removed.
Result<PackSummary> pack(const std::string& directory, const std::string& output, const PackLimits& limits = {});

}  // namespace cozy
