#include "collector/analyse/compared_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cozy {

namespace {

/// A machine of 256 CPUs with 64 nodes of 32 vCPUs stays below; a hostile text can hold a million rows.
constexpr std::size_t k_most_rows = 100'000;

ComparedRow copy_of(const RowChange& row) {
  ComparedRow copy{row.scope(), row.field(), row.kind, row.change, std::nullopt, std::nullopt, row.per_second()};
  if (row.before != nullptr) copy.before = row.before->value;
  if (row.after != nullptr) copy.after = row.after->value;
  return copy;
}

std::vector<ComparedRow> copies_of(const std::vector<RowChange>& rows) {
  const std::size_t kept = std::min(rows.size(), k_most_rows);
  std::vector<ComparedRow> copies;
  copies.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) copies.push_back(copy_of(rows[i]));
  return copies;
}

bool key_less(const ComparedRow& row, std::string_view scope, std::string_view field) {
  const int order = row.scope.compare(scope);
  return order != 0 ? order < 0 : row.field < field;
}

}  // namespace

ComparedRows::ComparedRows(const Difference& difference)
    : ComparedRows(copies_of(difference.rows()),
                   difference.rows().size() - std::min(difference.rows().size(), k_most_rows)) {}

ComparedRows::ComparedRows(std::vector<ComparedRow> rows, std::size_t left_out)
    : rows_(std::move(rows)), order_(rows_.size()), left_out_(left_out) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [this](std::size_t a, std::size_t b) { return key_less(rows_[a], rows_[b].scope, rows_[b].field); });
}

const ComparedRow* ComparedRows::find(std::string_view scope, std::string_view field) const {
  const auto at = std::lower_bound(order_.begin(), order_.end(), 0,
                                   [&](std::size_t i, int) { return key_less(rows_[i], scope, field); });
  if (at == order_.end()) return nullptr;
  const ComparedRow& row = rows_[*at];
  return row.scope == scope && row.field == field ? &row : nullptr;
}

}  // namespace cozy
