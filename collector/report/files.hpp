#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/result.hpp"

/// Writing the files of a report. Nothing of it has a bound: callers that need one bring it.
namespace cozy {

/// A small file beside a capture.
struct Sidecar {
  std::string name;
  std::string text;
};

/// Makes the directory, and those above it, where they are missing.
Result<Done> make_directories(const std::string& directory);

/// Writes directory/name whole or not at all: a temporary name, then rename. A full disk, a directory
/// that is a file and the like are errors that name the path; the temporary is gone then.
Result<Done> write_file(const std::string& directory, const std::string& name, std::string_view text);

/// Writes a capture's file and its sidecars, and takes away the sidecars that an earlier read has left.
Result<Done> write_capture_files(const std::string& directory, const std::string& name, std::string_view text,
                                 const std::vector<Sidecar>& sidecars);

}  // namespace cozy
