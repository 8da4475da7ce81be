#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/reading.hpp"
#include "probes/result.hpp"

namespace cozy {

/// What one field is: its kind in the kernel's words, its unit, and what it means.
struct FieldLegend {
  Kind kind = Kind::unknown;
  std::string unit;
  std::string means;
};

/// How to read a capture. Data, from legends/NAME.json; built into the binary and copied into every report.
struct Legend {
  std::string capture;                   ///< "runner-kernel-cpu-time": the folder of a report, and the probe's name
  std::string file;                      ///< "proc-stat.txt"
  std::string title;                     ///< what the capture is, in a few words
  std::string layer;                     ///< whose numbers they are
  std::string source;                    ///< the kernel's files
  std::vector<int> samples;              ///< {1, 2}, or {1} for what does not change
  std::vector<std::string> sentences;    ///< one physical line each; {sample}, {other} and {snapshot} are filled in
  std::string pairing;                   ///< how to subtract the other sample; said for whole readings alone
  std::string empty_means;               ///< what "asked, answered, has none" says about the run
  std::string unavailable_is_not;        ///< what nobody may read into a missing reading
  std::string partial_means;             ///< what a difference with a cut reading gets wrong
  bool needs_counter = true;             ///< data is at least one cumulative value, not any value
  Kind default_kind = Kind::cumulative;  ///< of a field that neither the kernel nor `fields` names
  std::map<std::string, FieldLegend, std::less<>> fields;
  std::string json;  ///< the file itself

  /// The kernel's own word for the row where it gave one, else this legend's, else the default.
  [[nodiscard]] Kind kind_of(const Row& row) const;
};

/// Reads one legend. Errors name the key that is missing or wrong.
Result<Legend> parse_legend(std::string_view json);

/// The legends built in, in the order of the table of probes. They are parsed at the first call; a test
/// holds that every one of them parses.
std::span<const Legend> legends();

const Legend* find_legend(std::string_view capture);

/// What may be filled into a sentence.
struct LegendValues {
  int sample = 1;
  std::string snapshot;
};

/// The sentences as bracketed lines: each lands as one line whatever the values hold.
std::vector<std::string> legend_lines(const Legend& legend, const LegendValues& values);

/// One sentence with its values filled in, escaped, on one line.
std::string fill(std::string_view sentence, const LegendValues& values);

}  // namespace cozy
