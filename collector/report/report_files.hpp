#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collector/report/archive_reader.hpp"
#include "collector/report/report.hpp"

namespace cozy {

/// Takes the files of a report out of an archive, wherever the report begins in it, and makes a Report of them.
/// Files under two different beginnings are never mixed: the report that begins highest is read, of two at the
/// same height the first, and the others are named. Of a file that stands there twice the first counts.
class ReportFiles : public MemberSink {
 public:
  std::size_t wants(const std::string& name) override;
  void take(MemberFile file) override;
  void refuse(const std::string& archive, const std::string& name, const std::string& reason) override;
  void take_back(const std::string& archive, const std::string& name, const std::string& reason) override;

  /// Once, at the end.
  Report finish(std::string path, const ArchiveSummary& summary);

 private:
  /// Where a report begins.
  struct Beginning {
    std::string archive;
    std::string prefix;
    std::size_t height = 0;  ///< components above it
    std::size_t files = 0;
  };
  struct Kept {
    std::size_t beginning = 0;
    MemberFile member;
    std::string inside;  ///< empty for what does not count after all
  };

  /// Its number; the count of all that are taken where it is one more.
  std::size_t beginning_of(const std::string& archive, const std::string& prefix);
  void name_others(std::size_t chosen, ReportBuilder& builder) const;

  std::vector<Beginning> beginnings_;
  std::vector<Kept> kept_;
  std::map<std::string, std::size_t, std::less<>> by_place_;  ///< "beginning number/path inside"
  std::vector<RefusedEntry> refused_;
  std::uint64_t refused_more_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace cozy
