#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/interval.hpp"
#include "collector/report/legend.hpp"
#include "probes/reading.hpp"

/// Two readings of one capture, row by row. Only a cumulative row is ever subtracted.
namespace cozy {

/// What became of a row between two readings.
enum class Change {
  rate,        ///< cumulative, grew or stayed
  went_back,   ///< smaller, and the subject is the same: no rate
  reset,       ///< the subject is another one or began anew, or its counter may have been cleared: no rate
  appeared,    ///< its scope is in the second reading alone
  gone,        ///< its scope is in the first reading alone
  not_a_rate,  ///< instant, peak, histogram or a word: both values stand for themselves
  absent,      ///< one of the values was not read
};

/// "rate", "went back", "not a rate" ...
std::string_view change_name(Change change);

/// One side of a pair.
struct ReadSide {
  const Reading& reading;
  ReadSpan read;      ///< of the whole capture
  bool whole = true;  ///< false: what is not there may just not have been reached
};

/// What is known of a pair beside its rows.
struct PairRules {
  const Legend* legend = nullptr;               ///< says the kinds; without it only the rows' own words count
  bool clearable = false;                       ///< somebody can set the counters to 0, as in KVM's debugfs
  std::set<std::string, std::less<>> replaced;  ///< scopes that are known to be other subjects on the second side
};

/// One row of a pair. Points into the readings.
struct RowChange {
  const Row* before = nullptr;  ///< null where the first reading has no such row
  const Row* after = nullptr;
  Kind kind = Kind::unknown;
  Change change = Change::absent;
  std::optional<std::uint64_t> delta;  ///< of a rate alone
  std::optional<Interval> interval;    ///< between the reads of this very subject, else of the capture
  std::string_view reason;             ///< why a value was not read, where its reading says so

  [[nodiscard]] const std::string& scope() const { return (before != nullptr ? before : after)->scope; }
  [[nodiscard]] const std::string& field() const { return (before != nullptr ? before : after)->field; }
  [[nodiscard]] std::optional<double> per_second() const;
};

/// The pairs of all rows of two readings: those of the first in its order, then those that only the
/// second has. Points into both readings, which have to outlive it.
class Difference {
 public:
  Difference(std::vector<RowChange> rows, const ReadSide& before, const ReadSide& after);

  [[nodiscard]] const std::vector<RowChange>& rows() const { return rows_; }
  /// Null where neither reading has the row: absent.
  [[nodiscard]] const RowChange* find(std::string_view scope, std::string_view field) const;
  /// The delta of a rate; none for every other state.
  [[nodiscard]] std::optional<std::uint64_t> delta(std::string_view scope, std::string_view field) const;

  [[nodiscard]] const Reading& before() const { return *before_; }
  [[nodiscard]] const Reading& after() const { return *after_; }
  [[nodiscard]] bool whole_before() const { return whole_before_; }
  [[nodiscard]] bool whole_after() const { return whole_after_; }
  /// Between the two reads of the capture.
  [[nodiscard]] const std::optional<Interval>& interval() const { return interval_; }

 private:
  std::vector<RowChange> rows_;
  std::vector<std::size_t> order_;  ///< of rows_, by scope and field
  const Reading* before_;
  const Reading* after_;
  bool whole_before_;
  bool whole_after_;
  std::optional<Interval> interval_;
};

/// Pairs the rows in O(n log n). A row that stands in one reading more than once counts once, the first.
Difference difference(const ReadSide& before, const ReadSide& after, const PairRules& rules);

/// A value that can be a counter's: none for a word and for a negative number.
std::optional<std::uint64_t> counter_value(const Value& value);

}  // namespace cozy
