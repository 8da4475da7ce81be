#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/report/capture.hpp"
#include "probes/clock.hpp"

/// The shell's canary: fixed work, timed on the runner beside each sample. No counter: nothing of it is ever
/// subtracted.
namespace cozy {

enum class CanaryResult {
  rated,         ///< a rate was written
  under_one,     ///< less than one unit of work per second
  too_fast,      ///< 0 ms on a clock of 10 ms: no rate, and a reading all the same
  not_finished,  ///< stopped at its ceiling: its figure is an upper bound
  no_reading,    ///< the work or its clock failed
  cut,           ///< the file ends before it says
};

/// "rated", "under one" ...
std::string_view canary_result_name(CanaryResult result);

struct CanaryArm {
  std::string name;   ///< "compute", "memory": what tells the arms apart
  std::string label;  ///< what stands behind the name
  std::string work;   ///< "8192 MiB"
  CanaryResult result = CanaryResult::cut;
  std::optional<std::uint64_t> elapsed_ms;        ///< multiples of 10
  std::optional<std::uint64_t> rate_per_second;   ///< whole units
  std::string unit;                               ///< "iterations", "MiB"
  std::optional<std::uint64_t> floor_per_second;  ///< the shell's alarm level of this arm
  bool below_floor = false;

  [[nodiscard]] bool is_reading() const { return result != CanaryResult::no_reading && result != CanaryResult::cut; }
  [[nodiscard]] bool is_alert() const { return below_floor || result == CanaryResult::not_finished; }
};

struct Canary {
  int sample = 1;
  std::vector<CanaryArm> arms;
  std::optional<Stamp> begin_stamp;  ///< whole seconds of the epoch clock
  std::optional<Stamp> end_stamp;
  bool unbounded = false;  ///< no ceiling was in force
  std::string file;        ///< inside the report

  /// Complete with two readings, partial with one or without the stamps that end the file, else unavailable.
  [[nodiscard]] Outcome outcome() const;
};

/// Reads a file of it; whatever it holds, never fails.
Canary parse_canary(std::string_view text);

}  // namespace cozy
