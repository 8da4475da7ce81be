#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/report/byte_source.hpp"

/// Archives as they come: tar, gzip around it, zip around files or around those. One pass, nothing on disk,
/// memory and time bounded whatever the archive claims.
namespace cozy {

struct ArchiveLimits {
  ByteLimits bytes{};
  std::uint64_t members = 4'000'000;              ///< of all layers together
  std::size_t member_bytes = 16UL * 1024 * 1024;  ///< kept of one member, whoever wants more
  std::size_t kept_bytes = 32UL * 1024 * 1024;    ///< kept of all members
};

/// A member that was asked for.
struct MemberFile {
  std::string archive;  ///< the archive inside the archive that holds it; empty for the outer one
  std::string name;     ///< raw bytes
  std::string text;
  std::string fault;  ///< why the text is less than whole or may be wrong; empty otherwise
  std::optional<std::int64_t> mtime_ns;
};

/// Decides by name and takes what it asked for. Names are raw bytes.
class MemberSink {
 public:
  MemberSink() = default;
  MemberSink(const MemberSink&) = delete;
  MemberSink& operator=(const MemberSink&) = delete;
  virtual ~MemberSink() = default;

  /// How many bytes of it are wanted at most; 0 for a member that does not matter.
  virtual std::size_t wants(const std::string& name) = 0;
  virtual void take(MemberFile file) = 0;
  /// An entry that is not accepted, with the reason.
  virtual void refuse(const std::string& archive, const std::string& name, const std::string& reason) = 0;
  /// The archive says at its end that this is no file: what was taken of it does not count.
  virtual void take_back(const std::string& archive, const std::string& name, const std::string& reason) = 0;
};

struct ArchiveSummary {
  bool recognized = false;        ///< it is one of the kinds
  std::vector<std::string> cuts;  ///< why the reading ended before the end of an archive; empty where all were whole
  std::vector<std::string> notes;
};

/// Decides by content. Names that are absolute or lead upwards, links, devices and FIFOs are refused; an
/// archive inside a zip is read as well, one level deep, and any other archive inside an archive is refused.
ArchiveSummary read_archive(ByteSource& source, ByteMeter& meter, MemberSink& sink, const ArchiveLimits& limits = {});

}  // namespace cozy
