#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/report/legend.hpp"
#include "probes/clock.hpp"
#include "probes/reading.hpp"
#include "probes/result.hpp"

namespace cozy {

/// What a capture can be.
enum class Outcome {
  complete,     ///< read whole, and numbers that may be subtracted are there
  partial,      ///< such numbers are there, and the read was cut or a source was refused
  empty,        ///< the kernel was asked, answered, and has none: a finding
  unavailable,  ///< never reached, or nothing usable: says nothing about the run
};

std::string_view outcome_name(Outcome outcome);
std::optional<Outcome> outcome_of_name(std::string_view name);

/// Complete and partial captures hold data.
bool holds_data(Outcome outcome);

/// How the read of a capture ended, in words that stand in it.
struct ReadEnd {
  int exit_code = 0;      ///< as the shell counts: 128 + signal, 124 for a bound that fired
  std::string words;      ///< "exited 0", "deadline of 20 s reached, ended by SIGKILL"
  std::string shortfall;  ///< why the text may be less than whole; empty when the read ended by itself
};

struct Judgement {
  Outcome outcome = Outcome::unavailable;
  std::string reason;        ///< one sentence; empty for complete
  bool gauges_only = false;  ///< unavailable for a pair, and yet there are values to show as states
};

/// The one place that decides what a capture is: by parsed numbers alone, never by bytes or headings.
Judgement judge(const Reading& reading, const ReadEnd& end, const Legend& legend);

/// One source, read once.
struct Capture {
  std::string name;
  int sample = 1;
  std::string snapshot;
  std::string text;  ///< what the probe wrote, without its marks
  Judgement judgement;
  std::string sidecar;  ///< the file beside it that holds the reader's messages, if there is one
  ReadEnd end;
  std::optional<Stamp> begin_stamp;  ///< before the first open; absent in files of the shell
  std::optional<Stamp> end_stamp;    ///< after the last read
  std::int64_t bound_ns = 0;
  std::int64_t grace_ns = 0;
};

/// The file: data, legend, how to pair or what fell short, trailer. Lines as shell-written files have
/// them, so that readers of those read these too.
std::string format_capture(const Capture& capture, const Legend& legend);

/// Reads such a file back. A file without its whole trailer is "end unknown": never complete, and perhaps
/// without its name. The judgement is the written one; whoever parses the text judges it anew.
Result<Capture> parse_capture(std::string_view file_text);

}  // namespace cozy
