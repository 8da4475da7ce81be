#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "probes/reading.hpp"

/// Look-ups in a reading by sorted order: a hostile input can hold a million rows. All point into the
/// reading, which has to outlive them; of equal entries the first counts.
namespace cozy {

class RowIndex {
 public:
  explicit RowIndex(const std::vector<Row>& rows);
  [[nodiscard]] const Row* find(std::string_view scope, std::string_view field) const;
  [[nodiscard]] bool has_scope(std::string_view scope) const;

 private:
  std::vector<const Row*> order_;
};

class SubjectIndex {
 public:
  explicit SubjectIndex(const std::vector<Subject>& subjects);
  [[nodiscard]] const Subject* find(std::string_view scope) const;

 private:
  std::vector<const Subject*> order_;
};

/// The "THING: reason" lines of a reading: what answered with an error, or not at all.
class RefusalIndex {
 public:
  explicit RefusalIndex(const Reading& reading);
  /// The line whose thing is `name`, or stands below it ("vm 2231-14 vcpu0 exits" below "vm 2231-14"); empty if none.
  [[nodiscard]] std::string_view find(std::string_view name) const;

 private:
  std::vector<std::string_view> order_;
};

}  // namespace cozy
