#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/held_files.hpp"

namespace cozy {

/// The runner's own files that a tick reads. What cannot be read is null.
class MachineReadings {
 public:
  MachineReadings();

  /// "cpu":[...],"psi":[...],"mem":N
  [[nodiscard]] std::string members();
  /// The columns of the first line of /proc/stat, as they were last read.
  [[nodiscard]] const std::vector<std::optional<std::uint64_t>>& cpu() const { return cpu_; }

 private:
  void read_cpu();
  [[nodiscard]] std::string pressure_list() const;
  [[nodiscard]] std::string memory() const;

  HeldFile stat_;
  HeldFile memory_;
  std::vector<HeldFile> pressure_;
  std::vector<std::optional<std::uint64_t>> cpu_;
};

}  // namespace cozy
