#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/report/inflate.hpp"
#include "collector/report/member.hpp"

namespace cozy {

inline constexpr std::string_view k_zip_descriptor = "PK\x07\x08";

/// A little-endian number of 1 to 8 bytes; the caller has seen that they are there.
std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t width);

/// What stands before a member. With bit 3 of the flags its sizes and its checksum stand behind it.
struct ZipHeader {
  std::uint32_t flags = 0;
  std::uint32_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  Member member;

  [[nodiscard]] bool sizes_behind() const { return (flags & 8U) != 0; }
  [[nodiscard]] bool encrypted() const { return (flags & 0x41U) != 0; }
  [[nodiscard]] bool deflated() const { return method == 8; }
  [[nodiscard]] bool readable() const { return !encrypted() && (method == 0 || method == 8); }
};

/// The content of one member, stored or deflated. It has to be read to its end, by finish() at the latest, before
/// the next header can be; only then its checksum is known.
class ZipContent : public ByteSource {
 public:
  ZipContent(BufferedSource& source, ByteMeter& meter, Inflater& inflater, const ZipHeader& header);

  std::size_t read(char* buffer, std::size_t size) override;
  [[nodiscard]] std::string fault() const override { return fault_; }
  void finish();
  /// Why no header can be found behind this member; empty where one can.
  [[nodiscard]] const std::string& lost() const { return lost_; }

 private:
  std::size_t read_stored(char* buffer, std::size_t size);
  std::size_t read_to_descriptor(char* buffer, std::size_t size);
  std::size_t read_deflated(char* buffer, std::size_t size);
  void check();
  void check_deflated();
  [[nodiscard]] std::string ended_early() const;
  void lose(std::string words);

  BufferedSource& source_;
  ByteMeter& meter_;
  Inflater& inflater_;
  const ZipHeader& header_;
  std::uint64_t packed_left_;  ///< where the size is known before
  std::uint64_t packed_ = 0;
  std::uint64_t made_ = 0;
  std::uint32_t crc_ = 0;
  std::string fault_;
  std::string lost_;
  bool ended_ = false;
};

}  // namespace cozy
