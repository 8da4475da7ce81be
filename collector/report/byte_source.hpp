#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// Bytes that come once, from a file, a pipe or another archive.
namespace cozy {

/// Bytes from their first to their last.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Gives up to `size` bytes, `size` above 0. 0 at the end alone, and from then on.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;

  /// At the end: why it is not the end of what was meant, or why the bytes may be wrong. Empty where all is well.
  [[nodiscard]] virtual std::string fault() const = 0;
};

/// Bounds of one input over all its layers: what is compressed may claim anything.
struct ByteLimits {
  std::uint64_t input = 64ULL << 30U;          ///< bytes taken from the outside
  std::uint64_t expanded = 4ULL << 30U;        ///< bytes that may come out, however few went in
  std::uint64_t expanded_per_input_byte = 64;  ///< and beyond those; text shrinks to a tenth or a thirtieth
};

/// Counts what went in and what was unpacked from it.
struct ByteMeter {
  ByteLimits limits{};
  std::uint64_t input = 0;
  std::uint64_t expanded = 0;

  [[nodiscard]] bool expands_too_far() const;
  [[nodiscard]] std::string expands_too_far_words() const;
};

/// An open descriptor, up to the limit of the input. It stays open.
class DescriptorSource : public ByteSource {
 public:
  DescriptorSource(int descriptor, ByteMeter& meter) : descriptor_(descriptor), meter_(meter) {}

  std::size_t read(char* buffer, std::size_t size) override;
  [[nodiscard]] std::string fault() const override { return fault_; }

 private:
  int descriptor_;
  ByteMeter& meter_;
  std::string fault_;
  bool ended_ = false;
};

/// Another source with a look ahead.
class BufferedSource : public ByteSource {
 public:
  static constexpr std::size_t k_capacity = 128UL * 1024;

  explicit BufferedSource(ByteSource& source)
      : source_(source), buffer_(std::make_unique_for_overwrite<char[]>(k_capacity)) {}

  /// The next bytes, which stay: `least` of them or more, fewer only where the source ends. Up to k_capacity.
  std::string_view peek(std::size_t least);
  /// Takes bytes that peek() has shown.
  void consume(std::size_t size);
  /// Takes bytes unseen; false where the source ends before.
  bool skip(std::uint64_t size);

  std::size_t read(char* buffer, std::size_t size) override;
  [[nodiscard]] std::string fault() const override { return source_.fault(); }
  /// How many bytes were taken.
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  ByteSource& source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace cozy
