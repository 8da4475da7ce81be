#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/report/report.hpp"

/// What the captures of a report say, verbatim, with what says how to read it: for a reader who wants to see it.
namespace cozy {

struct CaptureText {
  std::string snapshot;  ///< raw, as the other names
  std::string capture;
  int sample = 1;
  std::string file;  ///< inside the report
  Outcome outcome = Outcome::unavailable;
  std::string reason;  ///< escaped; empty for a complete one
  std::string title;   ///< of the legend, as are the next two
  std::string layer;
  std::string source;
  std::vector<std::string> legend;  ///< a sentence each, the last says what a reading of this outcome is not
  std::string text;                 ///< raw bytes, up to a cut behind the end of a line
  std::uint64_t cut_bytes = 0;      ///< how many more there were
};

/// All texts together, as they are written in a page, stay below this.
inline constexpr std::size_t k_most_text = 1536UL * 1024;

/// What one byte of a text takes in a page, at most.
std::size_t written_size(char before, char byte);

/// Of one snapshot, or of all where it is "". Where there is too much, the longest are cut, to one length.
std::vector<CaptureText> capture_texts(const Report& report, const std::string& one_snapshot,
                                       std::size_t most = k_most_text);

}  // namespace cozy
