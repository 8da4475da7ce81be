#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace cozy {

/// What a tick says of one node: shares of its vCPUs' time since the tick before.
struct LiveNode {
  std::array<char, 24> name{};  ///< printable ASCII, ended by NUL, cut
  double ran = 0;
  double waited = 0;

  void set_name(std::string_view words);
};

/// What a tick says: shares of the time since the tick before, 0 to 1; below 0 where one is not known.
struct LiveNumbers {
  std::int64_t at_ns = 0;  ///< boot-time clock
  double busy = -1;        ///< of the runner's CPU time, all but idle, iowait and steal
  double steal = -1;
  std::size_t nodes = 0;  ///< how many there are; the first of them are told of
  std::array<LiveNode, 16> node{};
};
static_assert(std::is_trivially_copyable_v<LiveNumbers>);

/// From a recorder to the process that began it, through memory that both share: made before the fork. A reader never
/// waits, and never sees half of a tick.
class LiveBoard {
 public:
  LiveBoard();
  LiveBoard(const LiveBoard&) = delete;
  LiveBoard& operator=(const LiveBoard&) = delete;
  ~LiveBoard();

  void write(const LiveNumbers& numbers);
  /// None before the first tick that has one before it.
  [[nodiscard]] std::optional<LiveNumbers> read() const;

 private:
  struct Page {
    std::atomic<std::uint32_t> changes;  ///< odd while it is written
    LiveNumbers numbers;
  };
  Page* page_ = nullptr;
};

}  // namespace cozy
