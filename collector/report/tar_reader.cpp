#include "collector/report/tar_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_block = 512;
constexpr std::size_t k_buffer_bytes = 64UL * 1024;

struct Free {
  void operator()(struct archive* archive) const { ::archive_read_free(archive); }
};

/// Feeds libarchive from a source and keeps count.
class Feed {
 public:
  explicit Feed(ByteSource& source) : source_(source), buffer_(k_buffer_bytes) {}

  static la_ssize_t read(struct archive*, void* feed, const void** data) {
    auto& self = *static_cast<Feed*>(feed);
    *data = self.buffer_.data();
    return static_cast<la_ssize_t>(self.next());
  }

  std::size_t next() {
    const std::size_t got = source_.read(buffer_.data(), buffer_.size());
    const std::size_t last = last_data(std::string_view(buffer_.data(), got));
    if (last > 0) data_end_ = supplied_ + last;
    supplied_ += got;
    return got;
  }

  [[nodiscard]] std::uint64_t supplied() const { return supplied_; }
  /// Where the last byte stands that is not zero.
  [[nodiscard]] std::uint64_t data_end() const { return data_end_; }
  [[nodiscard]] const ByteSource& source() const { return source_; }

 private:
  /// Behind the last byte that is not zero; block by block, since most of what is zero comes in long runs.
  static std::size_t last_data(std::string_view bytes) {
    static constexpr std::array<char, k_block> k_zeros{};
    while (bytes.size() >= k_block &&
           std::memcmp(bytes.data() + bytes.size() - k_block, k_zeros.data(), k_block) == 0) {
      bytes.remove_suffix(k_block);
    }
    return bytes.find_last_not_of('\0') + 1;
  }

  ByteSource& source_;
  std::vector<char> buffer_;
  std::uint64_t supplied_ = 0;
  std::uint64_t data_end_ = 0;
};

/// ARCHIVE_RETRY lies between the two: a header that is none, behind which a search for another would begin.
bool is_good(int code) { return code == ARCHIVE_OK || code == ARCHIVE_WARN; }

std::string error_words(struct archive* archive) {
  const char* words = ::archive_error_string(archive);
  return words != nullptr ? escape(words) : "the tar is cut or damaged";
}

/// The content of the member whose header was read last. Holes are zeros.
class TarContent : public ByteSource {
 public:
  explicit TarContent(struct archive* archive) : archive_(archive) {}

  std::size_t read(char* buffer, std::size_t size) override {
    if (position_ >= block_begin_ + block_.size() && !next_block()) return 0;
    if (position_ < block_begin_) {  // a hole of a sparse file
      const auto zeros = static_cast<std::size_t>(std::min<std::uint64_t>(size, block_begin_ - position_));
      std::memset(buffer, 0, zeros);
      position_ += zeros;
      return zeros;
    }
    const std::string_view rest = block_.substr(static_cast<std::size_t>(position_ - block_begin_));
    const std::size_t step = std::min(size, rest.size());
    std::memcpy(buffer, rest.data(), step);
    position_ += step;
    return step;
  }

  [[nodiscard]] std::string fault() const override { return fault_; }

 private:
  bool next_block() {
    while (!ended_) {
      const void* data = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int code = ::archive_read_data_block(archive_, &data, &size, &offset);
      ended_ = code != ARCHIVE_OK;
      if (ended_ && code != ARCHIVE_EOF) fault_ = error_words(archive_);
      const bool forward = offset >= 0 && static_cast<std::uint64_t>(offset) >= position_;
      if (ended_ || size == 0) continue;
      if (!forward) {
        fault_ = "its parts overlap";
        ended_ = true;
        continue;
      }
      block_ = {static_cast<const char*>(data), size};
      block_begin_ = static_cast<std::uint64_t>(offset);
      return true;
    }
    return false;
  }

  struct archive* archive_;
  std::string_view block_;  ///< libarchive's own, until the next one
  std::uint64_t block_begin_ = 0;
  std::uint64_t position_ = 0;
  std::string fault_;
  bool ended_ = false;
};

MemberKind kind_of(struct archive_entry* entry) {
  if (::archive_entry_hardlink(entry) != nullptr) return MemberKind::hard_link;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
      return MemberKind::file;
    case AE_IFDIR:
      return MemberKind::directory;
    case AE_IFLNK:
      return MemberKind::symbolic_link;
    case AE_IFCHR:
    case AE_IFBLK:
      return MemberKind::device;
    case AE_IFIFO:
      return MemberKind::fifo;
    default:
      return MemberKind::other;
  }
}

/// A name that the C locale cannot hold comes back as its raw bytes, with a warning.
Member member_of(struct archive_entry* entry) {
  Member member;
  const char* name = ::archive_entry_pathname(entry);
  if (name == nullptr) name = ::archive_entry_pathname_utf8(entry);
  member.name = name != nullptr ? name : "";
  member.kind = kind_of(entry);
  const la_int64_t size = ::archive_entry_size(entry);
  if (::archive_entry_size_is_set(entry) != 0 && size >= 0) member.size = static_cast<std::uint64_t>(size);
  if (::archive_entry_mtime_is_set(entry) != 0) {
    member.mtime_ns = bounded_ns(::archive_entry_mtime(entry), ::archive_entry_mtime_nsec(entry));
  }
  return member;
}

class TarWalk {
 public:
  TarWalk(ByteSource& source, MemberVisitor& visitor) : feed_(source), visitor_(visitor) {}

  ArchiveEnd run(bool drain) {
    struct archive* const a = archive_.get();
    const bool ready = a != nullptr && ::archive_read_support_format_tar(a) == ARCHIVE_OK &&
                       ::archive_read_open(a, &feed_, nullptr, Feed::read, nullptr) == ARCHIVE_OK;
    if (!ready) {
      end_.fault = a != nullptr ? error_words(a) : "no memory to read it";
      return end_;
    }
    while (next()) {
    }
    if (end_.recognized && end_.fault.empty() && !stopped_) prove_end(drain);
    if (!feed_.source().fault().empty() && !stopped_) end_.fault = feed_.source().fault() + in_member_;
    return std::move(end_);
  }

 private:
  /// False at the end, proved or not.
  bool next() {
    struct archive* const a = archive_.get();
    struct archive_entry* entry = nullptr;
    const int code = ::archive_read_next_header(a, &entry);
    end_.recognized = end_.recognized || code != ARCHIVE_FATAL || ::archive_format(a) != 0;
    if (code == ARCHIVE_EOF) return false;
    if (!is_good(code)) {
      end_.fault = error_words(a);
      return false;
    }
    const Member member = member_of(entry);
    TarContent content(a);
    stopped_ = !visitor_.member(member, content);
    if (stopped_) return false;
    // Whatever of the content is left may be more than there is.
    const int skipped = content.fault().empty() ? ::archive_read_data_skip(a) : ARCHIVE_FATAL;
    if (skipped == ARCHIVE_EOF || is_good(skipped)) return true;
    in_member_ = ", in the member " + escape(member.name.substr(0, k_longest_name));
    end_.fault = error_words(a) + in_member_;
    return false;
  }

  /// libarchive takes the end of the bytes for the end of the archive as well.
  void prove_end(bool drain) {
    const auto end =
        static_cast<std::uint64_t>(std::max<la_int64_t>(::archive_read_header_position(archive_.get()), 0));
    while ((drain || feed_.supplied() < end + 2 * k_block) && feed_.next() > 0) {
    }
    if (feed_.supplied() < end + 2 * k_block) {
      end_.fault = "the tar ends without the blocks of zeros that end one";
    } else if (feed_.data_end() > end + k_block) {
      end_.notes.emplace_back("data stand behind the end of the tar: they were not read");
    }
  }

  static constexpr std::size_t k_longest_name = 200;

  Feed feed_;
  MemberVisitor& visitor_;
  std::unique_ptr<struct archive, Free> archive_{::archive_read_new()};
  ArchiveEnd end_;
  std::string in_member_;
  bool stopped_ = false;
};

}  // namespace

std::string_view member_kind_words(MemberKind kind) {
  switch (kind) {
    case MemberKind::file:
      return "a file";
    case MemberKind::directory:
      return "a directory";
    case MemberKind::symbolic_link:
      return "a symbolic link";
    case MemberKind::hard_link:
      return "a hard link";
    case MemberKind::device:
      return "a device";
    case MemberKind::fifo:
      return "a FIFO";
    case MemberKind::other:
      return "of a kind that is not read";
  }
  return "of a kind that is not read";
}

bool begins_as_tar(std::string_view bytes) {
  constexpr std::size_t k_magic_at = 257;
  return bytes.size() >= k_block && bytes.substr(k_magic_at, 5) == "ustar";
}

ArchiveEnd read_tar(ByteSource& source, MemberVisitor& visitor, bool drain) {
  return TarWalk(source, visitor).run(drain);
}

}  // namespace cozy
