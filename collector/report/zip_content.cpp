#include "collector/report/zip_content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace cozy {

namespace {

constexpr std::size_t k_longest_descriptor = 24;

/// The length of a descriptor at the front, with sizes of 32 or 64 bits, with its mark or without; 0 where none
/// fits what was read.
std::size_t descriptor_length(std::string_view bytes, std::uint32_t crc, std::uint64_t packed, std::uint64_t size) {
  const std::size_t mark = bytes.starts_with(k_zip_descriptor) ? k_zip_descriptor.size() : 0;
  const std::size_t end_32 = mark + 12;
  const std::size_t end_64 = mark + 20;
  if (bytes.size() < end_32 || zip_number(bytes, mark, 4) != crc) return 0;
  const bool fits_32 = zip_number(bytes, mark + 4, 4) == packed && zip_number(bytes, mark + 8, 4) == size;
  if (fits_32 && (bytes.size() < end_64 || bytes.substr(end_32, 2) == "PK")) return end_32;
  const bool room = bytes.size() >= end_64;
  if (room && zip_number(bytes, mark + 4, 8) == packed && zip_number(bytes, mark + 12, 8) == size) return end_64;
  return fits_32 ? end_32 : 0;
}

}  // namespace

std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

ZipContent::ZipContent(BufferedSource& source, ByteMeter& meter, Inflater& inflater, const ZipHeader& header)
    : source_(source), meter_(meter), inflater_(inflater), header_(header), packed_left_(header.packed_size) {
  if (header_.deflated()) inflater_.reset();
}

std::size_t ZipContent::read(char* buffer, std::size_t size) {
  if (ended_) return 0;
  std::size_t got = 0;
  if (header_.deflated())
    got = read_deflated(buffer, size);
  else if (header_.sizes_behind())
    got = read_to_descriptor(buffer, size);
  else
    got = read_stored(buffer, size);
  crc_ = crc32_of(crc_, {buffer, got});
  made_ += got;
  ended_ = got == 0;
  if (ended_) check();
  return got;
}

void ZipContent::finish() {
  std::array<char, 16UL * 1024> buffer;
  while (read(buffer.data(), buffer.size()) > 0) {
  }
}

std::size_t ZipContent::read_stored(char* buffer, std::size_t size) {
  if (packed_left_ == 0) return 0;
  const std::size_t got = source_.read(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(size, packed_left_)));
  packed_left_ -= got;
  if (got == 0) lose(ended_early());
  return got;
}

/// Without a size before it, the end is where a descriptor stands that fits all that came before it.
std::size_t ZipContent::read_to_descriptor(char* buffer, std::size_t size) {
  const std::string_view there = source_.peek(k_longest_descriptor);
  if (there.empty()) {
    lose(ended_early());
    return 0;
  }
  std::size_t step = std::min(there.find(k_zip_descriptor), there.size());
  if (step == 0) {
    const std::size_t length = descriptor_length(there, crc_, made_, made_);
    source_.consume(length);
    if (length > 0) return 0;
    step = 1;
  } else if (step == there.size() && there.size() > k_zip_descriptor.size()) {
    step -= k_zip_descriptor.size() - 1;  // the mark may begin in the last bytes
  }
  step = std::min(step, size);
  std::memcpy(buffer, there.data(), step);
  source_.consume(step);
  return step;
}

std::size_t ZipContent::read_deflated(char* buffer, std::size_t size) {
  while (inflater_.state() == Inflater::State::open) {
    const std::string_view there = source_.peek(1);
    const std::uint64_t most = header_.sizes_behind() ? there.size() : packed_left_;
    const std::string_view input =
        there.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(there.size(), most)));
    if (input.empty()) {
      if (there.empty()) lose(ended_early());
      fault_ = "its deflated data end before their end";
      return 0;
    }
    const Inflater::Step step = inflater_.step(input, buffer, size);
    source_.consume(step.taken);
    packed_ += step.taken;
    if (!header_.sizes_behind()) packed_left_ -= step.taken;
    meter_.expanded += step.made;
    if (meter_.expands_too_far()) lose(meter_.expands_too_far_words());
    if (inflater_.state() == Inflater::State::damaged) fault_ = "damaged: " + inflater_.error();
    if (!lost_.empty()) return 0;
    if (step.made > 0) return step.made;
  }
  return 0;
}

/// Leaves the source behind the member, or says that nobody knows where that is.
void ZipContent::check() {
  if (lost_.empty() && header_.deflated()) check_deflated();
  if (fault_.empty() && lost_.empty() && !header_.sizes_behind() && header_.crc != crc_)
    fault_ = "its checksum is wrong";
}

void ZipContent::check_deflated() {
  if (!header_.sizes_behind()) {
    if (!source_.skip(packed_left_)) lose(ended_early());
    return;
  }
  if (!fault_.empty()) return lose("damaged in a member whose length is not known");
  const std::string_view there = source_.peek(k_longest_descriptor);
  const std::size_t length = descriptor_length(there, crc_, packed_, made_);
  source_.consume(length);
  if (length == 0) lose(there.size() < k_longest_descriptor ? ended_early() : "no descriptor behind a member fits it");
}

std::string ZipContent::ended_early() const {
  const std::string words = source_.fault();
  return words.empty() ? "the zip ends inside a member" : words;
}

void ZipContent::lose(std::string words) {
  if (lost_.empty()) lost_ = std::move(words);
  if (fault_.empty()) fault_ = lost_;
}

}  // namespace cozy
