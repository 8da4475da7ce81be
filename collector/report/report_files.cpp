#include "collector/report/report_files.hpp"

#include <algorithm>
#include <utility>

#include "collector/report/report_path.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_refused = 100;
constexpr std::size_t k_most_beginnings = 64;
constexpr std::size_t k_most_kept = 16384;
constexpr std::size_t k_most_notes = 100;
constexpr std::size_t k_longest_shown = 300;

std::string shown(const std::string& archive, const std::string& name) {
  const std::string path = archive.empty() ? name : archive + ": " + name;
  const std::string escaped = escape(path.substr(0, k_longest_shown));
  return path.size() > k_longest_shown ? escaped + "..." : escaped;
}

}  // namespace

std::size_t ReportFiles::wants(const std::string& name) {
  const auto path = parse_report_path(name);
  return path ? longest_file(path->file->role) : 0;
}

std::size_t ReportFiles::beginning_of(const std::string& archive, const std::string& prefix) {
  const auto known = std::find_if(beginnings_.begin(), beginnings_.end(),
                                  [&](const Beginning& b) { return b.prefix == prefix && b.archive == archive; });
  if (known != beginnings_.end()) return static_cast<std::size_t>(known - beginnings_.begin());
  if (beginnings_.size() == k_most_beginnings) return k_most_beginnings;
  const auto height =
      static_cast<std::size_t>(std::count(prefix.begin(), prefix.end(), '/')) + (prefix.empty() ? 0 : 1);
  beginnings_.push_back({archive, prefix, height + (archive.empty() ? 0 : 1), 0});
  return beginnings_.size() - 1;
}

void ReportFiles::take(MemberFile file) {
  const auto path = parse_report_path(file.name);
  if (!path) return;
  const auto note = [&](const std::string& words) {
    if (notes_.size() < k_most_notes) notes_.push_back(shown(file.archive, file.name) + ": " + words);
  };
  const std::size_t beginning = beginning_of(file.archive, path->prefix);
  if (beginning == k_most_beginnings || kept_.size() == k_most_kept) return note("one file too many, left out");
  std::string inside = path->inside();
  const auto [place, fresh] = by_place_.try_emplace(std::to_string(beginning) + "/" + inside, kept_.size());
  if (!fresh) return note("stands there twice, the first counts");
  ++beginnings_[beginning].files;
  kept_.push_back({beginning, std::move(file), std::move(inside)});
}

void ReportFiles::refuse(const std::string& archive, const std::string& name, const std::string& reason) {
  if (refused_.size() < k_most_refused)
    refused_.push_back({shown(archive, name), reason});
  else
    ++refused_more_;
}

void ReportFiles::take_back(const std::string& archive, const std::string& name, const std::string& reason) {
  refuse(archive, name, reason);
  const auto path = parse_report_path(name);
  if (!path) return;
  const auto place = by_place_.find(std::to_string(beginning_of(archive, path->prefix)) + "/" + path->inside());
  if (place == by_place_.end()) return;
  Kept& kept = kept_[place->second];
  if (kept.inside.empty() || kept.member.name != name) return;
  --beginnings_[kept.beginning].files;
  kept.inside.clear();
}

void ReportFiles::name_others(std::size_t chosen, ReportBuilder& builder) const {
  for (std::size_t i = 0; i < beginnings_.size(); ++i) {
    const Beginning& other = beginnings_[i];
    if (i == chosen || other.files == 0) continue;
    const std::string place = shown(other.archive, other.prefix.empty() ? "." : other.prefix);
    const std::string count = other.files == 1 ? "1 file" : std::to_string(other.files) + " files";
    builder.note("a second report begins at " + place + ": it is left out, " + count);
  }
}

Report ReportFiles::finish(std::string path, const ArchiveSummary& summary) {
  ReportBuilder builder;
  std::size_t chosen = beginnings_.size();
  for (std::size_t i = 0; i < beginnings_.size(); ++i) {
    if (beginnings_[i].files == 0) continue;
    if (chosen == beginnings_.size() || beginnings_[i].height < beginnings_[chosen].height) chosen = i;
  }
  name_others(chosen, builder);
  for (std::string& note : notes_) builder.note(std::move(note));
  for (const std::string& note : summary.notes) builder.note(note);
  if (refused_more_ > 0) builder.note("and " + std::to_string(refused_more_) + " more entries were refused");
  for (Kept& kept : kept_) {
    if (kept.beginning != chosen || kept.inside.empty()) continue;
    builder.add(
        {std::move(kept.inside), std::move(kept.member.text), std::move(kept.member.fault), kept.member.mtime_ns});
  }
  Report report = builder.finish(std::move(path));
  report.refused = std::move(refused_);
  report.truncated = !summary.cuts.empty();
  report.truncated_why = join(summary.cuts, "; ");
  return report;
}

}  // namespace cozy
