#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clock.hpp"

namespace cozy {

/// What the kernel says a number is (the words of Documentation/virt/kvm/api.rst, KVM_GET_STATS_FD).
/// Only a cumulative one is ever subtracted. `unknown` is left to the legend of the capture.
enum class Kind { unknown, cumulative, instant, peak, histogram };

std::string_view kind_name(Kind kind);
std::optional<Kind> kind_of_name(std::string_view name);

/// A number as the kernel wrote it, or a word. Unsigned where it has no sign, so that 2^64 - 5 stays.
using Value = std::variant<std::uint64_t, std::int64_t, std::string>;

std::string value_text(const Value& value);
bool is_number(const Value& value);

/// One value. A row that could not be read is not there: it is never 0.
struct Row {
  std::string scope;  ///< "cpu3", "thread 812/815", "vm 2231-14", "vm 2231-14 vcpu0", "machine", "srv1"
  std::string field;  ///< "steal", "utime", "exits"
  Value value;
  Kind kind = Kind::unknown;
};

/// What the rows of a scope are of, so that two readings are of the same thing: the identity is "start
/// 88110" for a process or thread; the stamps are around its own reads where the probe took them.
struct Subject {
  std::string scope;
  std::string identity;
  std::optional<Stamp> begin;
  std::optional<Stamp> end;
};

/// A node of the sandbox and the process that was found for it, or why none was.
struct NodeEvidence {
  std::string node;
  std::optional<std::uint64_t> pid;   ///< as the reader's PID namespace numbers it
  std::vector<std::string> evidence;  ///< "pid file", "guest name"
  std::vector<std::string> notes;     ///< disagreements, a stale pid file, why there is no process
};

/// The text of one capture, parsed. Pure data: made by the parser of its probe and by nothing else.
struct Reading {
  std::vector<Row> rows;
  std::vector<Subject> subjects;
  std::vector<NodeEvidence> nodes;

  std::vector<std::string> stalled;  ///< files that did not answer within their bound
  std::vector<std::string> refused;  ///< "path: reason" of files that answered with an error
  std::vector<std::string> notes;    ///< what a person should know and no number says
  std::vector<std::string> partial;  ///< why the reading is less than whole; empty for a whole one
  std::string finding;               ///< the kernel answered and had none: the NO-... line
  std::string unavailable;           ///< nothing of use was reached: why
  bool counters_refused = false;     ///< the kernel refused its counters (lockdown); gauges may be there

  [[nodiscard]] const Row* find(std::string_view scope, std::string_view field) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view scope, std::string_view field) const;
  [[nodiscard]] std::string word(std::string_view scope, std::string_view field) const;
  [[nodiscard]] const Subject* subject(std::string_view scope) const;

  void add(std::string scope, std::string field, Value value, Kind kind = Kind::unknown);
};

/// Adds to one of a reading's lists of words. The list is bounded, and says where it ends: a hostile text can
/// hold a million bad lines.
void add_words(std::vector<std::string>& list, std::string words);

/// The lines of a capture's text that have their end. A last line without one was cut: its last number may
/// be cut short, so it is left out and said in `partial`.
std::vector<std::string_view> whole_lines(std::string_view text, Reading& reading);

/// Lines that every probe may write beside its data. Returns true when the line was one of them.
///   [stalled PATH: REASON]   [not read PATH: REASON]   [walk cut: REASON]   [note: TEXT]
bool parse_common_line(std::string_view line, Reading& reading);

}  // namespace cozy
