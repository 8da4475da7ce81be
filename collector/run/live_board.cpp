#include "collector/run/live_board.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace cozy {

void LiveNode::set_name(std::string_view words) {
  const std::size_t size = std::min(words.size(), name.size() - 1);
  name.fill('\0');
  std::transform(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size), name.begin(),
                 [](char c) { return c >= ' ' && c <= '~' ? c : '?'; });
}

LiveBoard::LiveBoard() {
  void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) page_ = new (memory) Page{};
}

LiveBoard::~LiveBoard() {
  if (page_ != nullptr) ::munmap(page_, sizeof(Page));
}

void LiveBoard::write(const LiveNumbers& numbers) {
  if (page_ == nullptr) return;
  page_->changes.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  page_->numbers = numbers;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  page_->changes.fetch_add(1);
}

std::optional<LiveNumbers> LiveBoard::read() const {
  constexpr int k_tries = 5;
  for (int i = 0; page_ != nullptr && i < k_tries; ++i) {
    const std::uint32_t before = page_->changes.load();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const LiveNumbers numbers = page_->numbers;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (before % 2 == 0 && before == page_->changes.load() && numbers.at_ns != 0) return numbers;
  }
  return std::nullopt;
}

}  // namespace cozy
