#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "collector/report/byte_source.hpp"

/// The only user of zlib for reading.
namespace cozy {

/// RFC 1951, alone or in the frame of RFC 1952, whose checksum and length are verified at its end.
class Inflater {
 public:
  enum class Format { raw, gzip };
  enum class State { open, ended, damaged };

  explicit Inflater(Format format);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  struct Step {
    std::size_t taken = 0;
    std::size_t made = 0;
  };
  /// Makes what room and input allow. A step that does neither on some input and some room is damage.
  Step step(std::string_view input, char* output, std::size_t room);
  /// Begins anew, as before the first byte.
  void reset();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const std::string& error() const { return error_; }  ///< of damage

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  State state_ = State::open;
  std::string error_;
};

/// CRC-32 as gzip and zip have it; begins with 0.
std::uint32_t crc32_of(std::uint32_t crc, std::string_view bytes);

/// What a gzip file holds: all its members, one after the other.
class GzipSource : public ByteSource {
 public:
  GzipSource(BufferedSource& compressed, ByteMeter& meter);

  std::size_t read(char* buffer, std::size_t size) override;
  [[nodiscard]] std::string fault() const override { return fault_; }

  static bool begins_with_magic(std::string_view bytes);

 private:
  bool next_member();
  void end(std::string fault);

  BufferedSource& compressed_;
  ByteMeter& meter_;
  Inflater inflater_;
  std::string fault_;
  bool ended_ = false;
};

}  // namespace cozy
