#include "collector/report/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "collector/report/output_file.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_buffer_bytes = 64UL * 1024;
constexpr std::size_t k_most_notes = 1000;
constexpr std::string_view k_notes_heading =
    "What this archive does not hold, or not whole, one line each; paths begin in the packed directory.\n";

/// The one mtime of every member.
std::int64_t member_time_s() {
  constexpr std::int64_t k_1980_s = 315'532'800;        // later than what unpackers call implausibly old
  constexpr std::int64_t k_latest_s = (1LL << 33) - 1;  // what a header of tar holds in octal
  const char* wanted = std::getenv("SOURCE_DATE_EPOCH");
  const auto seconds = wanted != nullptr ? parse_i64(wanted) : std::nullopt;
  return seconds && *seconds >= 0 && *seconds <= k_latest_s ? *seconds : k_1980_s;
}

/// What is stored about a file beside its content.
struct Member {
  std::string path;
  mode_t kind = S_IFREG;
  mode_t mode = 0644;
  std::uint64_t size = 0;
  std::string target{};  ///< of a symbolic link
};

/// libarchive's writer. Once a call returned false the archive cannot be finished, and error() says why.
class TarWriter {
 public:
  explicit TarWriter(OutputFile& output) : output_(output) {}
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;
  ~TarWriter() {
    if (archive_ && !finished_) ::archive_write_fail(archive_.get());  // or freeing it would write on
  }

  bool open();
  bool add(const Member& member);
  bool data(const char* bytes, std::size_t size);
  bool zeros(std::uint64_t count);
  bool finish();
  [[nodiscard]] Error error() const;

 private:
  struct Free {
    void operator()(struct archive* archive) const { ::archive_write_free(archive); }
    void operator()(struct archive_entry* entry) const { ::archive_entry_free(entry); }
  };

  static la_ssize_t write_out(struct archive* archive, void* output, const void* data, std::size_t size);

  OutputFile& output_;
  std::int64_t time_s_ = member_time_s();
  std::unique_ptr<struct archive, Free> archive_{::archive_write_new()};
  bool finished_ = false;
};

/// GNU's form of tar takes names and targets of any length and any bytes as they are. That of pax wants
/// UTF-8, takes a name for UTF-8 or not by the locale, and marks the rest with a keyword GNU tar warns of.
bool TarWriter::open() {
  struct archive* const a = archive_.get();
  return a != nullptr && ::archive_write_set_format_gnutar(a) == ARCHIVE_OK &&
         ::archive_write_add_filter_gzip(a) == ARCHIVE_OK &&  // a warning would mean: by an outside program
         ::archive_write_set_filter_option(a, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
         ::archive_write_set_filter_option(a, "gzip", "compression-level", "6") == ARCHIVE_OK &&
         ::archive_write_set_bytes_per_block(a, static_cast<int>(k_buffer_bytes)) == ARCHIVE_OK &&
         ::archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&  // no padding behind the gzip stream
         ::archive_write_open2(a, &output_, nullptr, write_out, nullptr, nullptr) == ARCHIVE_OK;
}

la_ssize_t TarWriter::write_out(struct archive* archive, void* output, const void* data, std::size_t size) {
  auto& file = *static_cast<OutputFile*>(output);
  if (file.write(static_cast<const char*>(data), size)) return static_cast<la_ssize_t>(size);
  ::archive_set_error(archive, file.failure(), "write");
  return -1;
}

bool TarWriter::add(const Member& member) {
  const std::unique_ptr<struct archive_entry, Free> entry(::archive_entry_new());
  if (!entry) return false;
  ::archive_entry_set_pathname(entry.get(), member.path.c_str());
  ::archive_entry_set_filetype(entry.get(), member.kind);
  ::archive_entry_set_perm(entry.get(), member.mode);
  ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.size));
  ::archive_entry_set_mtime(entry.get(), static_cast<time_t>(time_s_), 0);
  if (member.kind == S_IFLNK) ::archive_entry_set_symlink(entry.get(), member.target.c_str());
  return ::archive_write_header(archive_.get(), entry.get()) >= ARCHIVE_WARN;
}

bool TarWriter::data(const char* bytes, std::size_t size) {
  return ::archive_write_data(archive_.get(), bytes, size) == static_cast<la_ssize_t>(size);
}

bool TarWriter::zeros(std::uint64_t count) {
  static constexpr std::array<char, 4096> k_zeros{};
  while (count > 0) {
    const std::size_t step = std::min<std::uint64_t>(count, k_zeros.size());
    if (!data(k_zeros.data(), step)) return false;
    count -= step;
  }
  return true;
}

bool TarWriter::finish() {
  finished_ = ::archive_write_close(archive_.get()) == ARCHIVE_OK;
  return finished_;
}

Error TarWriter::error() const {
  const int code = output_.failure();
  if (code != 0) return Error{output_.path(), "cannot be written: " + errno_text(code), code};
  const char* words = archive_ ? ::archive_error_string(archive_.get()) : nullptr;
  return Error{output_.path(), std::string("libarchive: ") + (words != nullptr ? words : "failed without a reason")};
}

/// A directory that is open and being packed.
struct Place {
  const Descriptor& directory;
  Identity identity;
  std::string path;  ///< inside the packed directory, with "/" at its end; empty for that directory
  unsigned depth = 0;
};

std::string kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "a file of no known kind";
}

/// Why a thing that was listed could not be read.
std::string unread(int code) {
  return code == ENOENT ? "vanished before it was read" : "cannot be read: " + errno_text(code);
}

ssize_t read_some(const Descriptor& file, char* buffer, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(file.number(), buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

/// The walk. Every name is opened in its directory's descriptor and never through a link, so whatever is
/// exchanged meanwhile cannot lead out of the tree. A call returns false when the archive cannot be written.
class Packer {
 public:
  Packer(TarWriter& writer, const OutputFile& output, const PackLimits& limits, std::string top)
      : writer_(writer), output_(output), limits_(limits), top_(std::move(top)), entries_left_(limits.entries) {}

  bool run(const Descriptor& directory);

  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool children(const Place& place);
  bool child(const Place& place, const std::string& name);
  bool directory(const Place& place, const std::string& name);
  bool link(const Place& place, const std::string& name);
  bool regular_file(const Place& place, const std::string& name);
  bool content(const Descriptor& file, const std::string& path, std::uint64_t announced);
  bool add_notes();

  bool skip(const std::string& path, const std::string& why) {
    note(path, why);
    return true;
  }
  void note(const std::string& path, const std::string& words);
  [[nodiscard]] std::string member_path(const std::string& path) const { return top_ + "/" + path; }

  TarWriter& writer_;
  const OutputFile& output_;
  PackLimits limits_;
  std::string top_;  ///< the first part of every member's path: "./cozyreport"
  std::size_t entries_left_;
  std::uint64_t files_ = 0;
  std::uint64_t content_bytes_ = 0;
  std::uint64_t files_beyond_cap_ = 0;
  std::vector<std::string> notes_;
  std::uint64_t unlisted_notes_ = 0;
  std::vector<std::string> top_names_;
  std::array<char, k_buffer_bytes> buffer_{};
};

bool Packer::run(const Descriptor& directory) {
  return writer_.add({top_, S_IFDIR, 0755}) && children({directory, identity_of(directory), "", 0}) && add_notes();
}

bool Packer::children(const Place& place) {
  const Listing listing = list_names(place.directory, entries_left_);
  entries_left_ -= listing.names.size();
  if (place.depth == 0) top_names_ = listing.names;
  if (listing.code != 0) note(place.path, "not listed to its end: " + errno_text(listing.code));
  if (listing.cut) {
    note(place.path, "holds more names than the " + std::to_string(limits_.entries) +
                         " that the archive takes in all; the first that the file system gave are packed");
  }
  return std::all_of(listing.names.begin(), listing.names.end(),
                     [&](const std::string& name) { return child(place, name); });
}

bool Packer::child(const Place& place, const std::string& name) {
  if (output_.has_name(place.identity, name)) return true;
  const std::string path = place.path + name;
  if (member_path(path).size() >= PATH_MAX) return skip(path, "left out: its path is too long to be unpacked");
  struct stat facts {};
  if (::fstatat(place.directory.number(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return skip(path, unread(errno));
  }
  if (output_.is_file(identity_of(facts))) return skip(path, "left out: it is the archive under another name");
  switch (facts.st_mode & S_IFMT) {
    case S_IFDIR:
      return directory(place, name);
    case S_IFLNK:
      return link(place, name);
    case S_IFREG:
      return regular_file(place, name);
    default:
      return skip(path, "left out: " + kind_of(facts.st_mode));
  }
}

bool Packer::directory(const Place& place, const std::string& name) {
  const std::string path = place.path + name;
  if (!writer_.add({member_path(path), S_IFDIR, 0755})) return false;
  if (place.depth >= limits_.depth) {
    const std::string levels = std::to_string(limits_.depth) + " levels of directories";
    return skip(path, "its content is left out: it lies deeper than " + levels);
  }
  const Descriptor inner(
      ::openat(place.directory.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!inner.open()) return skip(path, unread(errno));
  return children({inner, identity_of(inner), path + "/", place.depth + 1});
}

bool Packer::link(const Place& place, const std::string& name) {
  const std::string path = place.path + name;
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(place.directory.number(), name.c_str(), target.data(), target.size());
  if (length < 0) return skip(path, unread(errno));
  const auto size = static_cast<std::size_t>(length);
  if (size == target.size()) return skip(path, "left out: a link whose target is too long to be unpacked");
  ++files_;
  return writer_.add({member_path(path), S_IFLNK, 0777, 0, std::string(target.data(), size)});
}

bool Packer::regular_file(const Place& place, const std::string& name) {
  const std::string path = place.path + name;
  const Descriptor file(
      ::openat(place.directory.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!file.open() || ::fstat(file.number(), &facts) != 0) return skip(path, unread(errno));
  if (!S_ISREG(facts.st_mode)) return skip(path, "left out: exchanged for " + kind_of(facts.st_mode));
  const auto announced = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  if (announced > limits_.total_bytes - content_bytes_) {
    ++files_beyond_cap_;
    return skip(path, "left out: its " + std::to_string(announced) + " bytes go beyond the archive's cap");
  }
  content_bytes_ += announced;
  ++files_;
  const mode_t mode = (facts.st_mode & 0111) != 0 ? 0755 : 0644;
  return writer_.add({member_path(path), S_IFREG, mode, announced}) && content(file, path, announced);
}

/// A header of tar gives the size before the content, so exactly that many bytes have to follow.
bool Packer::content(const Descriptor& file, const std::string& path, std::uint64_t announced) {
  std::uint64_t stored = 0;
  ssize_t got = 0;
  int code = 0;
  for (;;) {
    // One byte more than was announced tells whether there is more.
    const std::size_t want = std::clamp<std::uint64_t>(announced - stored, 1, buffer_.size());
    got = read_some(file, buffer_.data(), want);
    if (got < 0) code = errno;
    if (got <= 0 || stored == announced) break;
    if (!writer_.data(buffer_.data(), static_cast<std::size_t>(got))) return false;
    stored += static_cast<std::uint64_t>(got);
  }
  const std::string end = "after " + std::to_string(stored) + " of the announced " + std::to_string(announced) +
                          " bytes" + (stored < announced ? "; zero bytes fill the rest" : "");
  if (got > 0) note(path, "grew: only the announced " + std::to_string(announced) + " bytes are stored");
  if (got < 0) note(path, "not read to its end: " + errno_text(code) + " " + end);
  if (got == 0 && stored < announced) note(path, "shrank: ended " + end);
  return writer_.zeros(announced - stored);
}

void Packer::note(const std::string& path, const std::string& words) {
  if (notes_.size() < k_most_notes) {
    notes_.push_back(escape(path.empty() ? "." : path) + ": " + words);
  } else {
    ++unlisted_notes_;
  }
}

bool Packer::add_notes() {
  if (unlisted_notes_ > 0) notes_.push_back("and " + std::to_string(unlisted_notes_) + " more such notes");
  if (files_beyond_cap_ > 0) {
    notes_.push_back("cut at the cap of " + std::to_string(limits_.total_bytes) + " bytes of content: files left out " +
                     std::to_string(files_beyond_cap_) + ", bytes packed " + std::to_string(content_bytes_));
  }
  if (notes_.empty()) return true;
  std::string name = "PACK-NOTES.txt";  // a report that was unpacked and is packed again has one already
  for (int i = 2; std::binary_search(top_names_.begin(), top_names_.end(), name); ++i) {
    name = "PACK-NOTES-" + std::to_string(i) + ".txt";
  }
  const std::string text = std::string(k_notes_heading) + join(notes_, "\n") + "\n";
  return writer_.add({member_path(name), S_IFREG, 0644, text.size()}) && writer_.data(text.data(), text.size());
}

/// The last part of a directory's path; that of its real path for ".", ".." and "/".
std::string base_name(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  path.erase(0, path.rfind('/') + 1);
  if (!path.empty() && path != "." && path != "..") return path;
  return {};
}

}  // namespace

Result<PackSummary> pack(const std::string& directory, const std::string& output, const PackLimits& limits) {
  // The caller's own path may lead through links; nothing inside the directory may.
  const Descriptor top(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int code = errno;
  if (!top.open()) return Error{directory, "the directory to be packed cannot be opened: " + errno_text(code), code};
  std::string base = base_name(directory);
  std::array<char, PATH_MAX> real{};
  if (base.empty() && ::realpath(directory.c_str(), real.data()) != nullptr) base = base_name(real.data());
  OutputFile file(output);
  if (const auto opened = file.open(); !opened) return opened.error();
  TarWriter writer(file);
  Packer packer(writer, file, limits, base.empty() ? "." : "./" + base);
  if (!writer.open() || !packer.run(top) || !writer.finish()) return writer.error();
  if (const auto committed = file.commit(); !committed) return committed.error();
  return PackSummary{output, packer.files(), file.bytes(), packer.notes()};
}

}  // namespace cozy
