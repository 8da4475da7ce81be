#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/difference.hpp"

namespace cozy {

/// One row of a pair with its own copies of the values. An absent side was not read.
struct ComparedRow {
  std::string scope;
  std::string field;
  Kind kind = Kind::unknown;
  Change change = Change::absent;
  std::optional<Value> before;
  std::optional<Value> after;
  std::optional<double> per_second;  ///< of a rate whose reads have stamps
};

/// The rows of a pair, kept when its readings are gone: evidence, and what a rendering shows of a capture
/// that it knows nothing else about. In the order of the readings.
class ComparedRows {
 public:
  ComparedRows() = default;
  explicit ComparedRows(const Difference& difference);
  explicit ComparedRows(std::vector<ComparedRow> rows, std::size_t left_out = 0);

  [[nodiscard]] const std::vector<ComparedRow>& rows() const { return rows_; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Null for a row that is in neither reading, and for one that was left out.
  [[nodiscard]] const ComparedRow* find(std::string_view scope, std::string_view field) const;
  /// Rows beyond what is kept of one capture.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  std::vector<ComparedRow> rows_;
  std::vector<std::size_t> order_;  ///< of rows_, by scope and field
  std::size_t left_out_ = 0;
};

}  // namespace cozy
