#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/analysis.hpp"

/// Two analyses side by side, of a run that passed and of one that failed.
namespace cozy {

/// What a number of a comparison is, so that a rendering knows how to write it.
enum class Unit { share, per_second, cpus, seconds };

/// A number with the error that its reading has: it lies within `error` of `value`.
struct Measured {
  double value = 0;
  double error = 0;
};

/// One number of both. An absent side was not read.
struct ComparedNumber {
  std::string subject;  ///< "runner", "srv1"; raw bytes
  std::string what;     ///< "steal", "waited"
  Unit unit = Unit::share;
  std::optional<Measured> green;
  std::optional<Measured> red;
  bool differs = false;  ///< both are there, and are further apart than both errors together

  /// red - green; none where a side is absent.
  [[nodiscard]] std::optional<double> change() const;
};

/// A finding by its id and subject.
struct FindingKey {
  std::string id;
  std::string subject;
};

struct Comparison {
  std::string green_snapshot;
  std::string red_snapshot;
  std::string green_verdict;
  std::string red_verdict;
  /// Where the machines differ in shape, or are not known to agree, one sentence each, escaped: the numbers
  /// below may then differ for that reason alone.
  std::vector<std::string> warnings;
  std::vector<ComparedNumber> numbers;  ///< the runner, then the nodes by name
  std::vector<FindingKey> green_only;
  std::vector<FindingKey> red_only;
  std::vector<FindingKey> both;
};

Comparison compare(const Analysis& green, const Analysis& red);

}  // namespace cozy
