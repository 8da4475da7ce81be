#pragma once

#include "collector/report/member.hpp"

/// Reads tar through libarchive, in one pass and without anything on disk.
namespace cozy {

/// Whether a first block of 512 bytes is one of tar: the magic of ustar, pax and GNU tar.
bool begins_as_tar(std::string_view bytes);

/// Walks the members. Ends after the two blocks of zeros that end a tar, and reads the source to its own end,
/// as far as `drain` allows: a checksum may stand there. Without those blocks nothing proves the end.
ArchiveEnd read_tar(ByteSource& source, MemberVisitor& visitor, bool drain);

}  // namespace cozy
