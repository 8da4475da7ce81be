#pragma once

#include "collector/report/member.hpp"

/// Reads zip (APPNOTE.TXT) in one pass from its front, as it comes out of a pipe: stored and deflated members,
/// sizes before or behind them, zip64. The directory at its end proves the end and tells links from files.
/// libarchive's reader does not serve: it loses names that the C locale cannot hold, tells no links in a
/// stream, and brings six methods of compression and a cipher that no report has.
namespace cozy {

bool begins_as_zip(std::string_view bytes);

/// `source` stands at the first byte. The meter counts what comes out of deflated members.
ArchiveEnd read_zip(BufferedSource& source, ByteMeter& meter, MemberVisitor& visitor);

}  // namespace cozy
