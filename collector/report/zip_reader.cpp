#include "collector/report/zip_reader.hpp"

#include <sys/stat.h>

#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "collector/report/zip_content.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_local_header = "PK\x03\x04";
constexpr std::string_view k_central_header = "PK\x01\x02";
constexpr std::string_view k_signature = "PK\x05\x05";
constexpr std::string_view k_end = "PK\x05\x06";
constexpr std::string_view k_end_64 = "PK\x06\x06";
constexpr std::string_view k_end_64_locator = "PK\x06\x07";
constexpr std::string_view k_extra_data = "PK\x06\x08";
constexpr std::size_t k_longest_shown = 200;

std::uint32_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(zip_number(bytes, at, 2));
}
std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(zip_number(bytes, at, 4));
}
std::uint64_t u64_at(std::string_view bytes, std::size_t at) { return zip_number(bytes, at, 8); }

/// MS-DOS time has no zone; it is only ever compared with that of other members.
std::optional<std::int64_t> dos_time_ns(std::uint32_t time, std::uint32_t date) {
  if (date == 0) return std::nullopt;
  std::tm parts{};
  parts.tm_year = static_cast<int>(date >> 9U) + 80;
  parts.tm_mon = static_cast<int>(date >> 5U & 15U) - 1;
  parts.tm_mday = static_cast<int>(date & 31U);
  parts.tm_hour = static_cast<int>(time >> 11U);
  parts.tm_min = static_cast<int>(time >> 5U & 63U);
  parts.tm_sec = static_cast<int>(time & 31U) * 2;
  return bounded_ns(::timegm(&parts), 0);
}

/// The extra fields that matter: sizes of 64 bits, and the time in epoch seconds.
void take_extra(std::string_view extra, ZipHeader& header) {
  while (extra.size() >= 4) {
    const std::uint32_t id = u16_at(extra, 0);
    const std::size_t length = u16_at(extra, 2);
    if (length > extra.size() - 4) return;
    const std::string_view data = extra.substr(4, length);
    if (id == 0x0001 && length >= 16) {
      if (header.size == 0xffffffffU) header.size = u64_at(data, 0);
      if (header.packed_size == 0xffffffffU) header.packed_size = u64_at(data, 8);
    }
    if (id == 0x5455 && length >= 5 && (data[0] & 1) != 0) {
      header.member.mtime_ns = bounded_ns(static_cast<std::int32_t>(u32_at(data, 1)), 0);
    }
    extra.remove_prefix(4 + length);
  }
}

/// What a member without readable content offers.
class NoContent : public ByteSource {
 public:
  std::size_t read(char*, std::size_t) override { return 0; }
  [[nodiscard]] std::string fault() const override { return {}; }
};

class ZipWalk {
 public:
  ZipWalk(BufferedSource& source, ByteMeter& meter, MemberVisitor& visitor)
      : source_(source), meter_(meter), visitor_(visitor) {}

  ArchiveEnd run() {
    end_.recognized = begins_as_zip(source_.peek(4));
    if (!end_.recognized) return std::move(end_);
    if (source_.peek(4).starts_with(k_zip_descriptor)) source_.consume(4);  // one part that was to be of several
    while (!stopped_ && end_.fault.empty() && source_.peek(4).starts_with(k_local_header)) local_member();
    if (!stopped_ && end_.fault.empty()) directory();
    return std::move(end_);
  }

 private:
  bool cut(std::string_view where) {
    const std::string words = source_.fault();
    end_.fault = words.empty() ? "the zip ends in " + std::string(where) : words;
    return false;
  }

  /// Takes `size` bytes as text; false where the source ends before.
  bool take(std::size_t size, std::string& text) {
    const std::string_view there = source_.peek(size);
    if (there.size() < size) return false;
    text = there.substr(0, size);
    source_.consume(size);
    return true;
  }

  bool read_header(ZipHeader& header) {
    std::string fixed_part;
    std::string extra;
    if (!take(30, fixed_part)) return cut("a header");
    header.flags = u16_at(fixed_part, 6);
    header.method = u16_at(fixed_part, 8);
    header.crc = u32_at(fixed_part, 14);
    header.packed_size = u32_at(fixed_part, 18);
    header.size = u32_at(fixed_part, 22);
    header.member.mtime_ns = dos_time_ns(u16_at(fixed_part, 10), u16_at(fixed_part, 12));
    if (!take(u16_at(fixed_part, 26), header.member.name) || !take(u16_at(fixed_part, 28), extra))
      return cut("a header");
    take_extra(extra, header);
    Member& member = header.member;
    if (member.name.ends_with('/')) member.kind = MemberKind::directory;
    if (!header.sizes_behind()) member.size = header.size;
    if (header.encrypted())
      member.unreadable = "encrypted";
    else if (!header.readable())
      member.unreadable =
          "compressed by method " + std::to_string(header.method) + " (only stored and deflated ones are read)";
    return true;
  }

  void local_member() {
    ZipHeader header;
    if (!read_header(header)) return;
    const std::string in_member = ", in the member " + escape(header.member.name.substr(0, k_longest_shown));
    if (!header.readable()) {
      NoContent none;
      stopped_ = !visitor_.member(header.member, none);
      if (header.sizes_behind())
        end_.fault = header.member.unreadable + " and of unknown length" + in_member;
      else if (!stopped_ && !source_.skip(header.packed_size))
        cut("the member " + escape(header.member.name.substr(0, k_longest_shown)));
      return;
    }
    ZipContent content(source_, meter_, inflater_, header);
    stopped_ = !visitor_.member(header.member, content);
    if (stopped_) return;
    content.finish();
    if (!content.lost().empty()) end_.fault = content.lost() + in_member;
  }

  /// The directory, whose last record is the end of the archive.
  void directory() {
    for (;;) {
      const std::string mark(source_.peek(4).substr(0, 4));
      if (mark.size() < 4) {
        cut("its directory");
        return;
      }
      if (mark == k_end) return end_record();
      if (!(mark == k_central_header ? central_member() : other_record(mark))) return;
    }
  }

  bool central_member() {
    std::string fixed_part;
    std::string name;
    if (!take(46, fixed_part) || !take(u16_at(fixed_part, 28), name)) return cut("its directory");
    const std::uint64_t rest = u16_at(fixed_part, 30) + u16_at(fixed_part, 32);
    if (!source_.skip(rest)) return cut("its directory");
    const unsigned host = static_cast<unsigned char>(fixed_part[5]);
    const mode_t mode = u32_at(fixed_part, 38) >> 16U;
    constexpr unsigned k_unix = 3;
    constexpr unsigned k_darwin = 19;
    if (host != k_unix && host != k_darwin) return true;
    if (S_ISLNK(mode)) visitor_.not_a_file(name, MemberKind::symbolic_link);
    if (S_ISCHR(mode) || S_ISBLK(mode)) visitor_.not_a_file(name, MemberKind::device);
    if (S_ISFIFO(mode)) visitor_.not_a_file(name, MemberKind::fifo);
    return true;
  }

  void end_record() {
    std::string fixed_part;
    if (!take(22, fixed_part) || !source_.skip(u16_at(fixed_part, 20))) cut("its last record");
  }

  bool other_record(const std::string& mark) {
    std::string fixed_part;
    std::uint64_t rest = 0;
    bool whole = false;
    if (mark == k_end_64 && (whole = take(12, fixed_part))) rest = u64_at(fixed_part, 4);
    if (mark == k_end_64_locator) whole = take(20, fixed_part);
    if (mark == k_signature && (whole = take(6, fixed_part))) rest = u16_at(fixed_part, 4);
    if (mark == k_extra_data && (whole = take(8, fixed_part))) rest = u32_at(fixed_part, 4);
    if (whole && source_.skip(rest)) return true;
    const bool known = mark == k_end_64 || mark == k_end_64_locator || mark == k_signature || mark == k_extra_data;
    if (known) return cut("its directory");
    end_.fault = "damaged: no header of a zip at byte " + std::to_string(source_.position());
    return false;
  }

  BufferedSource& source_;
  ByteMeter& meter_;
  MemberVisitor& visitor_;
  Inflater inflater_{Inflater::Format::raw};
  ArchiveEnd end_;
  bool stopped_ = false;
};

}  // namespace

bool begins_as_zip(std::string_view bytes) {
  return bytes.starts_with(k_local_header) || bytes.starts_with(k_end) || bytes.starts_with(k_zip_descriptor);
}

ArchiveEnd read_zip(BufferedSource& source, ByteMeter& meter, MemberVisitor& visitor) {
  return ZipWalk(source, meter, visitor).run();
}

}  // namespace cozy
