#include "collector/report/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cozy {

namespace {

uInt narrow(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct Inflater::Stream {
  z_stream z{};
};

Inflater::Inflater(Format format) : stream_(std::make_unique<Stream>()) {
  const int window_bits = format == Format::gzip ? MAX_WBITS + 16 : -MAX_WBITS;
  if (::inflateInit2(&stream_->z, window_bits) == Z_OK) return;
  state_ = State::damaged;
  error_ = "no memory to unpack it";
}

Inflater::~Inflater() { ::inflateEnd(&stream_->z); }

Inflater::Step Inflater::step(std::string_view input, char* output, std::size_t room) {
  if (state_ != State::open) return {};
  z_stream& z = stream_->z;
  // zlib takes its input as const only where ZLIB_CONST is defined before every include of it.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  z.avail_in = narrow(input.size());
  z.next_out = reinterpret_cast<Bytef*>(output);
  z.avail_out = narrow(room);
  const uInt in_before = z.avail_in;
  const uInt out_before = z.avail_out;
  const int code = ::inflate(&z, Z_NO_FLUSH);
  const Step step{in_before - z.avail_in, out_before - z.avail_out};
  if (code == Z_STREAM_END) {
    state_ = State::ended;
  } else if (code != Z_OK || (step.taken == 0 && step.made == 0)) {
    state_ = State::damaged;
    error_ = z.msg != nullptr ? z.msg : "it cannot be unpacked";
  }
  return step;
}

void Inflater::reset() {
  error_.clear();
  state_ = State::open;
  if (::inflateReset(&stream_->z) == Z_OK) return;
  state_ = State::damaged;
  error_ = "it cannot be unpacked";
}

std::uint32_t crc32_of(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

GzipSource::GzipSource(BufferedSource& compressed, ByteMeter& meter)
    : compressed_(compressed), meter_(meter), inflater_(Inflater::Format::gzip) {}

bool GzipSource::begins_with_magic(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

std::size_t GzipSource::read(char* buffer, std::size_t size) {
  while (!ended_) {
    const std::string_view input = compressed_.peek(1);
    if (input.empty()) {
      const std::string fault = compressed_.fault();
      end(fault.empty() ? "the gzip data end before their checksum and length" : fault);
      break;
    }
    const Inflater::Step step = inflater_.step(input, buffer, size);
    compressed_.consume(step.taken);
    meter_.expanded += step.made;
    if (inflater_.state() == Inflater::State::damaged) {
      end("the gzip data are damaged before byte " + std::to_string(compressed_.position()) + ": " + inflater_.error());
    } else if (inflater_.state() == Inflater::State::ended && next_member()) {
      inflater_.reset();
    }
    if (meter_.expands_too_far()) end(meter_.expands_too_far_words());
    if (step.made > 0) return step.made;
  }
  return 0;
}

/// A gzip file may be several put together. Zeros behind it are padding; anything else is ignored, as gzip does.
bool GzipSource::next_member() {
  if (begins_with_magic(compressed_.peek(3))) return true;
  end("");
  return false;
}

void GzipSource::end(std::string fault) {
  if (!ended_) fault_ = std::move(fault);
  ended_ = true;
}

}  // namespace cozy
