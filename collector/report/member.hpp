#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/report/byte_source.hpp"

/// What the readers of tar and of zip hand out alike.
namespace cozy {

enum class MemberKind { file, directory, symbolic_link, hard_link, device, fifo, other };

/// "a symbolic link" ...
std::string_view member_kind_words(MemberKind kind);

/// The header of a member: all of it is claimed and none of it proved.
struct Member {
  std::string name;  ///< raw bytes
  MemberKind kind = MemberKind::file;
  std::optional<std::uint64_t> size;
  std::optional<std::int64_t> mtime_ns;
  std::string unreadable;  ///< why there is no content: encrypted, a method that is not read
};

class MemberVisitor {
 public:
  MemberVisitor() = default;
  MemberVisitor(const MemberVisitor&) = delete;
  MemberVisitor& operator=(const MemberVisitor&) = delete;
  virtual ~MemberVisitor() = default;

  /// Takes as much of the content as it wants; what is left is skipped. The content's fault() tells of this
  /// member alone. False ends the walk.
  virtual bool member(const Member& member, ByteSource& content) = 0;

  /// The archive says at its end that a member that went by as a file is none.
  virtual void not_a_file(const std::string& name, MemberKind kind) = 0;
};

/// How the reading of an archive ended.
struct ArchiveEnd {
  bool recognized = false;  ///< it began as an archive of the kind
  std::string fault;        ///< why its end was not reached; empty where the end is proved
  std::vector<std::string> notes;
};

}  // namespace cozy
