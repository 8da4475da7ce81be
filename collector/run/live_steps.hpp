#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/run/followed_qemu.hpp"
#include "collector/run/live_board.hpp"

namespace cozy {

/// Makes the live numbers of what a recorder has read for its ticks; reads nothing itself.
class LiveSteps {
 public:
  using Columns = std::vector<std::optional<std::uint64_t>>;

  /// The columns of the first line of /proc/stat, and the QEMUs, as they were just read.
  void tell(std::int64_t time_ns, const Columns& cpu, const std::vector<FollowedQemu>& qemus, LiveBoard& board);

 private:
  std::int64_t before_ns_ = 0;
  Columns before_;
};

}  // namespace cozy
