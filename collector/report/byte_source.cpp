#include "collector/report/byte_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "probes/text.hpp"

namespace cozy {

bool ByteMeter::expands_too_far() const {
  return expanded > limits.expanded && (expanded - limits.expanded) / limits.expanded_per_input_byte > input;
}

std::string ByteMeter::expands_too_far_words() const {
  return "stopped: " + std::to_string(input) + " bytes expand to more than " + std::to_string(expanded) +
         ", beyond the limit of " + std::to_string(limits.expanded) + " and " +
         std::to_string(limits.expanded_per_input_byte) + " for each byte read";
}

std::size_t DescriptorSource::read(char* buffer, std::size_t size) {
  if (ended_) return 0;
  if (meter_.input >= meter_.limits.input) {
    fault_ = "stopped at the limit of " + std::to_string(meter_.limits.input) + " bytes read";
    ended_ = true;
    return 0;
  }
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(size, meter_.limits.input - meter_.input));
  ssize_t got = 0;
  do {
    got = ::read(descriptor_, buffer, room);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fault_ = "cannot be read on: " + errno_text(errno);
  ended_ = got <= 0;
  const auto count = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  meter_.input += count;
  return count;
}

std::string_view BufferedSource::peek(std::size_t least) {
  least = std::min(least, k_capacity);
  if (end_ - begin_ < least && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < least && !ended_) {
    const std::size_t got = source_.read(buffer_.get() + end_, k_capacity - end_);
    ended_ = got == 0;
    end_ += got;
  }
  return {buffer_.get() + begin_, end_ - begin_};
}

void BufferedSource::consume(std::size_t size) {
  size = std::min(size, end_ - begin_);
  begin_ += size;
  position_ += size;
  if (begin_ == end_) begin_ = end_ = 0;
}

bool BufferedSource::skip(std::uint64_t size) {
  while (size > 0) {
    const std::size_t there = peek(1).size();
    if (there == 0) return false;
    const std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(size, there));
    consume(step);
    size -= step;
  }
  return true;
}

std::size_t BufferedSource::read(char* buffer, std::size_t size) {
  const std::string_view there = peek(1);
  const std::size_t step = std::min(size, there.size());
  std::memcpy(buffer, there.data(), step);
  consume(step);
  return step;
}

}  // namespace cozy
