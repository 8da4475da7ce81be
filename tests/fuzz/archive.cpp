#include <algorithm>
#include <string>

#include "collector/report/archive_reader.hpp"
#include "collector/report/report_files.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/readings.hpp"

namespace cozy::fuzz {

namespace {

/// Bytes in memory, so many at once.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::size_t step, ByteMeter& meter)
      : bytes_(bytes), step_(step), meter_(meter) {}

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t got = bytes_.copy(buffer, std::min(size, step_));
    bytes_.remove_prefix(got);
    meter_.input += got;
    return got;
  }
  [[nodiscard]] std::string fault() const override { return {}; }

 private:
  std::string_view bytes_;
  std::size_t step_;
  ByteMeter& meter_;
};

/// Gives every header of a tar the checksum that fits it: a fuzzer would never find one, and would see nothing of
/// what comes after it.
std::string with_checksums(std::string_view bytes) {
  constexpr std::size_t k_block = 512;
  constexpr std::size_t k_at = 148;
  std::string tar(bytes);
  for (std::size_t begin = 0; begin + k_block <= tar.size(); begin += k_block) {
    if (tar.compare(begin + 257, 5, "ustar") != 0) continue;
    tar.replace(begin + k_at, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < k_block; ++i) sum += static_cast<unsigned char>(tar[begin + i]);
    for (std::size_t digit = 6; digit-- > 0; sum >>= 3U) {
      tar[begin + k_at + digit] = static_cast<char>('0' + (sum & 7U));
    }
  }
  return tar;
}

/// Small enough that no input takes long.
ArchiveLimits limits() {
  ArchiveLimits limits;
  limits.bytes.expanded = 4UL * 1024 * 1024;
  limits.members = 2000;
  limits.member_bytes = 256UL * 1024;
  limits.kept_bytes = 1024UL * 1024;
  return limits;
}

struct Opened {
  ArchiveSummary summary;
  Report report;
};

Opened open_bytes(std::string_view bytes, std::size_t step) {
  const ArchiveLimits k_limits = limits();
  ByteMeter meter{k_limits.bytes};
  MemorySource source(bytes, step, meter);
  ReportFiles files;
  Opened opened;
  opened.summary = read_archive(source, meter, files, k_limits);
  opened.report = files.finish("report.tgz", opened.summary);
  return opened;
}

void require_sound_report(const Report& report) {
  std::size_t bytes = 0;
  for (const std::string& note : report.notes) require_harmless_line(note);
  for (const RefusedEntry& entry : report.refused) require_harmless_line(entry.name + entry.reason);
  require_harmless_line(report.truncated_why);
  require(report.truncated == !report.truncated_why.empty(), "what was cut says why");
  for (const Snapshot& snapshot : report.snapshots) {
    require(!snapshot.name.empty() && snapshot.name.find('/') == std::string::npos, "a snapshot is named by a folder");
    for (const SampleCapture& file : snapshot.captures) {
      require_sound(file.reading);
      require_harmless_line(file.capture.judgement.reason);
      bytes += file.capture.text.size();
    }
  }
  require(bytes <= limits().kept_bytes, "no more is kept than the limit");
}

bool same_report(const Report& a, const Report& b) {
  const auto same_capture = [](const SampleCapture& x, const SampleCapture& y) {
    return x.file == y.file && x.capture.text == y.capture.text &&
           x.capture.judgement.outcome == y.capture.judgement.outcome && same(x.reading, y.reading);
  };
  const auto same_snapshot = [&](const Snapshot& x, const Snapshot& y) {
    return x.name == y.name && x.markers.size() == y.markers.size() &&
           std::equal(x.captures.begin(), x.captures.end(), y.captures.begin(), y.captures.end(), same_capture);
  };
  return a.truncated == b.truncated && a.refused.size() == b.refused.size() &&
         std::equal(a.snapshots.begin(), a.snapshots.end(), b.snapshots.begin(), b.snapshots.end(), same_snapshot);
}

}  // namespace

void archive(std::string_view input) {
  const std::string bytes = with_checksums(input);
  const Opened opened = open_bytes(bytes, bytes.size() + 1);
  require_sound_report(opened.report);
  if (!opened.summary.recognized) require(opened.report.snapshots.empty(), "nothing comes out of what is no archive");
  // A pipe gives what it has.
  const Opened in_parts = open_bytes(bytes, 509);
  require(opened.summary.recognized == in_parts.summary.recognized, "the kind does not depend on how the bytes come");
  require(same_report(opened.report, in_parts.report), "the report does not depend on how the bytes come");
}

}  // namespace cozy::fuzz
