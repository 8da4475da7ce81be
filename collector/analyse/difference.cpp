#include "collector/analyse/difference.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "collector/analyse/row_index.hpp"

namespace cozy {

namespace {

constexpr std::array<std::pair<Change, std::string_view>, 7> k_change_names{{
    {Change::rate, "rate"},
    {Change::went_back, "went back"},
    {Change::reset, "reset"},
    {Change::appeared, "appeared"},
    {Change::gone, "gone"},
    {Change::not_a_rate, "not a rate"},
    {Change::absent, "absent"},
}};

/// One reading with its look-ups.
struct IndexedSide {
  explicit IndexedSide(const ReadSide& read_side)
      : side(read_side), rows(side.reading.rows), subjects(side.reading.subjects), refusals(side.reading) {}

  const ReadSide& side;
  RowIndex rows;
  SubjectIndex subjects;
  RefusalIndex refusals;
};

/// What all rows of a scope share.
struct ScopeFacts {
  std::string_view scope;
  bool replaced = false;
  std::optional<Interval> interval;
};

class Pairing {
 public:
  Pairing(const ReadSide& before, const ReadSide& after, const PairRules& rules)
      : before_(before), after_(after), rules_(rules), interval_(interval_between(before.read, after.read)) {}

  std::vector<RowChange> pair() {
    std::vector<RowChange> rows;
    rows.reserve(before_.side.reading.rows.size());
    for (const Row& row : before_.side.reading.rows) {
      if (before_.rows.find(row.scope, row.field) != &row) continue;
      const Row* partner = after_.rows.find(row.scope, row.field);
      rows.push_back(partner != nullptr ? both(row, *partner) : first_alone(row));
    }
    for (const Row& row : after_.side.reading.rows) {
      if (after_.rows.find(row.scope, row.field) != &row) continue;
      if (before_.rows.find(row.scope, row.field) == nullptr) rows.push_back(second_alone(row));
    }
    return rows;
  }

 private:
  [[nodiscard]] Kind kind_of(const Row& row) const {
    return rules_.legend != nullptr ? rules_.legend->kind_of(row) : row.kind;
  }

  /// Rows of a scope follow each other, so the last answer is kept.
  const ScopeFacts& facts_of(std::string_view scope) {
    if (known_ && facts_.scope == scope) return facts_;
    known_ = true;
    facts_ = {scope, rules_.replaced.contains(scope), interval_};
    const Subject* first = before_.subjects.find(scope);
    const Subject* second = after_.subjects.find(scope);
    if (first == nullptr || second == nullptr) return facts_;
    const bool known = !first->identity.empty() && !second->identity.empty();
    if (known && first->identity != second->identity) facts_.replaced = true;
    const auto own = interval_between({first->begin, first->end}, {second->begin, second->end});
    if (own) facts_.interval = own;
    return facts_;
  }

  RowChange both(const Row& before, const Row& after) {
    const ScopeFacts& facts = facts_of(before.scope);
    RowChange row{&before, &after, kind_of(before), Change::not_a_rate, std::nullopt, facts.interval, {}};
    if (row.kind == Kind::cumulative) row.kind = kind_of(after);
    const auto first = counter_value(before.value);
    const auto second = counter_value(after.value);
    if (row.kind != Kind::cumulative || !first || !second) return row;
    if (facts.replaced) {
      row.change = Change::reset;
    } else if (*second < *first) {
      row.change = rules_.clearable ? Change::reset : Change::went_back;
    } else {
      row.change = Change::rate;
      row.delta = *second - *first;
    }
    return row;
  }

  RowChange first_alone(const Row& row) { return alone({&row, nullptr}, row, after_, Change::gone); }
  RowChange second_alone(const Row& row) { return alone({nullptr, &row}, row, before_, Change::appeared); }

  /// A scope that a whole reading does not have is not there; a field that a scope lacks was not read.
  RowChange alone(std::pair<const Row*, const Row*> rows, const Row& row, const IndexedSide& without, Change whole) {
    std::string_view reason = without.refusals.find(row.scope + " " + row.field);
    if (reason.empty()) reason = without.refusals.find(row.scope);
    const bool unread = !without.side.whole || !reason.empty() || without.rows.has_scope(row.scope);
    return {rows.first, rows.second, kind_of(row), unread ? Change::absent : whole, std::nullopt, std::nullopt, reason};
  }

  IndexedSide before_;
  IndexedSide after_;
  const PairRules& rules_;
  std::optional<Interval> interval_;
  ScopeFacts facts_;
  bool known_ = false;
};

bool key_less(const RowChange& row, std::string_view scope, std::string_view field) {
  const int order = row.scope().compare(scope);
  return order != 0 ? order < 0 : row.field() < field;
}

}  // namespace

std::string_view change_name(Change change) {
  for (const auto& [known, name] : k_change_names) {
    if (known == change) return name;
  }
  return "absent";
}

std::optional<double> RowChange::per_second() const {
  if (!delta || !interval) return std::nullopt;
  return static_cast<double>(*delta) / interval->seconds();
}

std::optional<std::uint64_t> counter_value(const Value& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

Difference::Difference(std::vector<RowChange> rows, const ReadSide& before, const ReadSide& after)
    : rows_(std::move(rows)),
      order_(rows_.size()),
      before_(&before.reading),
      after_(&after.reading),
      whole_before_(before.whole),
      whole_after_(after.whole),
      interval_(interval_between(before.read, after.read)) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return key_less(rows_[a], rows_[b].scope(), rows_[b].field()); });
}

const RowChange* Difference::find(std::string_view scope, std::string_view field) const {
  const auto at = std::lower_bound(order_.begin(), order_.end(), 0,
                                   [&](std::size_t i, int) { return key_less(rows_[i], scope, field); });
  if (at == order_.end()) return nullptr;
  const RowChange& row = rows_[*at];
  return row.scope() == scope && row.field() == field ? &row : nullptr;
}

std::optional<std::uint64_t> Difference::delta(std::string_view scope, std::string_view field) const {
  const RowChange* row = find(scope, field);
  return row == nullptr ? std::nullopt : row->delta;
}

Difference difference(const ReadSide& before, const ReadSide& after, const PairRules& rules) {
  return {Pairing(before, after, rules).pair(), before, after};
}

}  // namespace cozy
