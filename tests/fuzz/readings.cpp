#include "tests/fuzz/readings.hpp"

#include <algorithm>

#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

bool same_row(const Row& a, const Row& b) {
  return a.scope == b.scope && a.field == b.field && a.value == b.value && a.kind == b.kind;
}

bool same_subject(const Subject& a, const Subject& b) {
  return a.scope == b.scope && a.identity == b.identity && a.begin.has_value() == b.begin.has_value() &&
         a.end.has_value() == b.end.has_value();
}

bool same_node(const NodeEvidence& a, const NodeEvidence& b) {
  return a.node == b.node && a.pid == b.pid && a.evidence == b.evidence && a.notes == b.notes;
}

template <class T, class Same>
bool all_same(const std::vector<T>& a, const std::vector<T>& b, Same same_one) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_one);
}

}  // namespace

void require_sound(const Reading& reading) {
  for (const Row& row : reading.rows) {
    require(!row.scope.empty() && !row.field.empty(), "a row has a scope and a field");
  }
  for (const NodeEvidence& node : reading.nodes) require(!node.node.empty(), "a node has a name");
}

void require_sound(const Judgement& judgement, const Reading& reading) {
  if (holds_data(judgement.outcome)) require(!reading.rows.empty(), "what holds data has rows");
  if (judgement.outcome == Outcome::complete) require(reading.partial.empty(), "what is complete is not partial");
  require(judgement.reason.empty() == (judgement.outcome == Outcome::complete), "what is not complete says why");
  require_harmless_line(judgement.reason);
}

bool same(const Reading& a, const Reading& b) {
  return all_same(a.rows, b.rows, same_row) && all_same(a.subjects, b.subjects, same_subject) &&
         all_same(a.nodes, b.nodes, same_node) && a.stalled == b.stalled && a.refused == b.refused &&
         a.notes == b.notes && a.partial == b.partial && a.finding == b.finding && a.unavailable == b.unavailable &&
         a.counters_refused == b.counters_refused;
}

}  // namespace cozy::fuzz
