#include "collector/report/archive_reader.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>

#include "collector/report/inflate.hpp"
#include "collector/report/member.hpp"
#include "collector/report/tar_reader.hpp"
#include "collector/report/zip_reader.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_tar_block = 512;

/// Why a name is not accepted. By its components: "a/..b" is a name like any other.
std::string name_refusal(std::string_view name) {
  if (name.empty()) return "has no name";
  if (name.size() > PATH_MAX) return "a name that is too long";
  if (name.starts_with('/')) return "an absolute name";
  for (const std::string_view part : split_at(name, '/')) {
    if (part == "..") return "a name that leads upwards";
  }
  return {};
}

enum class Shape { none, tar, gzip, zip };

Shape shape_of(std::string_view front) {
  if (GzipSource::begins_with_magic(front)) return Shape::gzip;
  if (begins_as_zip(front)) return Shape::zip;
  return begins_as_tar(front) ? Shape::tar : Shape::none;
}

/// The front of a member, read already, and then the rest of it.
class Continued : public ByteSource {
 public:
  Continued(std::string_view front, ByteSource& rest) : front_(front), rest_(rest) {}

  std::size_t read(char* buffer, std::size_t size) override {
    if (front_.empty()) return rest_.read(buffer, size);
    const std::size_t step = front_.copy(buffer, size);
    front_.remove_prefix(step);
    return step;
  }
  [[nodiscard]] std::string fault() const override { return rest_.fault(); }

 private:
  std::string_view front_;
  ByteSource& rest_;
};

/// Whether a member may be an archive by its front. Of a gzip file it is what it unpacks to that counts.
bool may_be_archive(std::string_view front) {
  const Shape shape = shape_of(front);
  if (shape != Shape::gzip) return shape != Shape::none;
  std::array<char, k_tar_block> head;
  std::size_t made = 0;
  Inflater inflater(Inflater::Format::gzip);
  while (inflater.state() == Inflater::State::open && made < head.size()) {
    const Inflater::Step step = inflater.step(front, head.data() + made, head.size() - made);
    front.remove_prefix(step.taken);
    made += step.made;
  }
  // Too little to tell is a front that was cut, or one whose own header is long.
  return made < head.size() ? inflater.state() != Inflater::State::ended : begins_as_tar({head.data(), made});
}

/// Fills the buffer as far as the source allows.
std::size_t read_full(ByteSource& source, char* buffer, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const std::size_t got = source.read(buffer + filled, size - filled);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

class Reader {
 public:
  Reader(ByteMeter& meter, MemberSink& sink, const ArchiveLimits& limits)
      : meter_(meter), sink_(sink), limits_(limits) {}

  /// One archive and the members in it. False where it is none.
  bool read(ByteSource& source, const std::string& archive);
  ArchiveSummary finish(bool recognized) {
    summary_.recognized = recognized;
    return std::move(summary_);
  }

 private:
  friend class Level;

  bool read_tgz(BufferedSource& source, MemberVisitor& visitor, const std::string& archive);
  void take_end(ArchiveEnd end, const std::string& archive);
  void keep(const Member& member, ByteSource& content, const std::string& archive, std::size_t wanted);
  bool count_member();

  ByteMeter& meter_;
  MemberSink& sink_;
  const ArchiveLimits& limits_;
  ArchiveSummary summary_;
  std::uint64_t members_ = 0;
  std::size_t kept_bytes_ = 0;
  bool stopped_ = false;  ///< at a limit: nothing more of any level is read
};

/// The members of one archive.
class Level : public MemberVisitor {
 public:
  Level(Reader& reader, std::string archive, bool opens_archives)
      : reader_(reader), archive_(std::move(archive)), opens_archives_(opens_archives) {}

  bool member(const Member& member, ByteSource& content) override {
    if (!reader_.count_member()) return false;
    std::string refusal = name_refusal(member.name);
    if (refusal.empty() && member.kind == MemberKind::directory) return true;
    if (refusal.empty() && member.kind != MemberKind::file) refusal = member_kind_words(member.kind);
    const std::size_t wanted = refusal.empty() ? reader_.sink_.wants(member.name) : 0;
    if (wanted > 0) refusal = member.unreadable;
    if (!refusal.empty()) {
      reader_.sink_.refuse(archive_, member.name, refusal);
    } else if (wanted > 0) {
      reader_.keep(member, content, archive_, wanted);
    } else {
      look_inside(member, content);
    }
    return !reader_.stopped_;
  }

  void not_a_file(const std::string& name, MemberKind kind) override {
    reader_.sink_.take_back(archive_, name, std::string(member_kind_words(kind)));
  }

 private:
  void look_inside(const Member& member, ByteSource& content) {
    std::array<char, k_tar_block> buffer;
    const std::string_view front(buffer.data(), read_full(content, buffer.data(), buffer.size()));
    if (!may_be_archive(front)) return;
    if (!opens_archives_)
      return reader_.sink_.refuse(archive_, member.name, "an archive inside an archive, not opened");
    Continued whole(front, content);
    reader_.read(whole, member.name);
  }

  Reader& reader_;
  std::string archive_;
  bool opens_archives_;
};

bool Reader::count_member() {
  if (members_++ < limits_.members) return true;
  if (!stopped_) summary_.cuts.push_back("stopped at the limit of " + std::to_string(limits_.members) + " members");
  stopped_ = true;
  return false;
}

bool Reader::read(ByteSource& source, const std::string& archive) {
  BufferedSource buffered(source);
  const Shape shape = shape_of(buffered.peek(k_tar_block));
  Level level(*this, archive, shape == Shape::zip && archive.empty());
  if (shape == Shape::gzip) return read_tgz(buffered, level, archive);
  // A tar of before 1988 has no magic: libarchive tells it by its checksum.
  ArchiveEnd end = shape == Shape::zip ? read_zip(buffered, meter_, level) : read_tar(buffered, level, false);
  const bool recognized = end.recognized;
  take_end(std::move(end), archive);
  return recognized;
}

bool Reader::read_tgz(BufferedSource& source, MemberVisitor& visitor, const std::string& archive) {
  GzipSource unpacked(source, meter_);
  BufferedSource front(unpacked);
  const bool too_short = front.peek(k_tar_block).size() < k_tar_block;
  if (too_short && unpacked.fault().empty()) return false;
  ArchiveEnd end;
  if (too_short) {  // nobody can tell what it would have been
    end.recognized = true;
    end.fault = unpacked.fault();
  } else {
    end = read_tar(front, visitor, true);
  }
  const bool recognized = end.recognized;
  take_end(std::move(end), archive);
  return recognized;
}

void Reader::take_end(ArchiveEnd end, const std::string& archive) {
  if (!end.recognized) return;
  const std::string in_archive = archive.empty() ? "" : escape(archive) + ": ";
  for (std::string& note : end.notes) summary_.notes.push_back(in_archive + note);
  if (!end.fault.empty()) summary_.cuts.push_back(in_archive + end.fault);
}

void Reader::keep(const Member& member, ByteSource& content, const std::string& archive, std::size_t wanted) {
  const std::size_t room = limits_.kept_bytes - kept_bytes_;
  const std::size_t most = std::min(limits_.member_bytes, wanted);
  const std::size_t cap = std::min(most, room);
  MemberFile file{archive, member.name, {}, {}, member.mtime_ns};
  std::array<char, 16UL * 1024> buffer;
  while (const std::size_t got = content.read(buffer.data(), buffer.size())) {
    const std::size_t step = std::min(got, cap - file.text.size());
    file.text.append(buffer.data(), step);
    if (step == got) continue;
    file.fault = cap == most
                     ? "longer than " + std::to_string(cap) + " bytes, cut"
                     : "cut: the files of a report may have " + std::to_string(limits_.kept_bytes) + " bytes in all";
    break;
  }
  if (file.fault.empty()) file.fault = content.fault();
  kept_bytes_ += file.text.size();
  sink_.take(std::move(file));
}

}  // namespace

ArchiveSummary read_archive(ByteSource& source, ByteMeter& meter, MemberSink& sink, const ArchiveLimits& limits) {
  Reader reader(meter, sink, limits);
  return reader.finish(reader.read(source, ""));
}

}  // namespace cozy
