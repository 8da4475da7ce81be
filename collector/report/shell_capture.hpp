#pragma once

#include <string_view>

#include "collector/report/report.hpp"
#include "probes/probe.hpp"

namespace cozy {

/// Reads a capture file that has none of our own frame: one of the shell collectors, or one that was cut before
/// any frame. Whatever it holds, never fails. Lines of the frame are kept from the probe's parser, which sees
/// the data alone; a file without stamp or exit code is of unknown end and never complete. The name, the sample
/// and the file are the caller's to fill in.
SampleCapture read_shell_capture(std::string_view file_text, const Probe& probe, const Legend& legend);

/// Weighs the files that lie beside the captures of a snapshot: a COLLECTION-FAILED.txt alone stands for an
/// unavailable capture; one that contradicts data is of another run than they are, and which of the two is the
/// later is told by their times, where they differ. What cannot be told is said.
void settle_markers(Snapshot& snapshot);

}  // namespace cozy
