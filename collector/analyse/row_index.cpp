#include "collector/analyse/row_index.hpp"

#include <algorithm>
#include <string>

namespace cozy {

namespace {

bool row_less(const Row& row, std::string_view scope, std::string_view field) {
  const int order = row.scope.compare(scope);
  return order != 0 ? order < 0 : row.field < field;
}

}  // namespace

RowIndex::RowIndex(const std::vector<Row>& rows) {
  order_.reserve(rows.size());
  for (const Row& row : rows) order_.push_back(&row);
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Row* a, const Row* b) { return row_less(*a, b->scope, b->field); });
}

const Row* RowIndex::find(std::string_view scope, std::string_view field) const {
  const auto at = std::lower_bound(order_.begin(), order_.end(), field, [&](const Row* row, std::string_view wanted) {
    return row_less(*row, scope, wanted);
  });
  return at != order_.end() && (*at)->scope == scope && (*at)->field == field ? *at : nullptr;
}

bool RowIndex::has_scope(std::string_view scope) const {
  const auto at = std::lower_bound(order_.begin(), order_.end(), scope,
                                   [](const Row* row, std::string_view wanted) { return row->scope < wanted; });
  return at != order_.end() && (*at)->scope == scope;
}

SubjectIndex::SubjectIndex(const std::vector<Subject>& subjects) {
  order_.reserve(subjects.size());
  for (const Subject& subject : subjects) order_.push_back(&subject);
  std::stable_sort(order_.begin(), order_.end(),
                   [](const Subject* a, const Subject* b) { return a->scope < b->scope; });
}

const Subject* SubjectIndex::find(std::string_view scope) const {
  const auto at =
      std::lower_bound(order_.begin(), order_.end(), scope,
                       [](const Subject* subject, std::string_view wanted) { return subject->scope < wanted; });
  return at != order_.end() && (*at)->scope == scope ? *at : nullptr;
}

RefusalIndex::RefusalIndex(const Reading& reading) {
  order_.reserve(reading.refused.size() + reading.stalled.size());
  for (const std::string& line : reading.refused) order_.emplace_back(line);
  for (const std::string& line : reading.stalled) order_.emplace_back(line);
  std::sort(order_.begin(), order_.end());
}

std::string_view RefusalIndex::find(std::string_view name) const {
  if (order_.empty()) return {};
  for (const char behind : {':', ' '}) {
    const std::string wanted = std::string(name) + behind;
    const auto at = std::lower_bound(order_.begin(), order_.end(), std::string_view(wanted));
    if (at != order_.end() && at->starts_with(wanted)) return *at;
  }
  return {};
}

}  // namespace cozy
