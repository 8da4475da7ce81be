#include "collector/run/live_steps.hpp"

#include <algorithm>
#include <cstddef>

namespace cozy {

namespace {

// Of the first line of /proc/stat. What stands behind steal is inside of user.
constexpr std::size_t k_idle = 3;
constexpr std::size_t k_iowait = 4;
constexpr std::size_t k_steal = 7;

void set_runner(const LiveSteps::Columns& before, const LiveSteps::Columns& after, LiveNumbers& numbers) {
  if (before.size() <= k_steal || after.size() <= k_steal) return;
  double all = 0;
  double busy = 0;
  double steal = 0;
  for (std::size_t i = 0; i <= k_steal; ++i) {
    if (!before[i] || !after[i]) return;
    const auto grown = static_cast<double>(*after[i] - std::min(*before[i], *after[i]));  // idle may go back
    all += grown;
    if (i == k_steal) steal = grown;
    if (i != k_idle && i != k_iowait && i != k_steal) busy += grown;
  }
  if (all <= 0) return;
  numbers.busy = busy / all;
  numbers.steal = steal / all;
}

}  // namespace

void LiveSteps::tell(std::int64_t time_ns, const Columns& cpu, const std::vector<FollowedQemu>& qemus,
                     LiveBoard& board) {
  const std::int64_t length_ns = time_ns - before_ns_;
  if (before_ns_ != 0 && length_ns > 0) {
    LiveNumbers numbers;
    numbers.at_ns = time_ns;
    set_runner(before_, cpu, numbers);
    for (const FollowedQemu& qemu : qemus) {
      const FollowedStep& step = qemu.last_step();
      if (step.vcpus == 0) continue;
      if (numbers.nodes < numbers.node.size()) {
        LiveNode& node = numbers.node.at(numbers.nodes);
        const double time = static_cast<double>(length_ns) * static_cast<double>(step.vcpus);
        node.set_name(qemu.node());
        node.ran = std::min(static_cast<double>(step.ran_ns) / time, 1.0);
        node.waited = std::min(static_cast<double>(step.waited_ns) / time, 1.0);
      }
      ++numbers.nodes;
    }
    board.write(numbers);
  }
  before_ns_ = time_ns;
  before_ = cpu;
}

}  // namespace cozy
