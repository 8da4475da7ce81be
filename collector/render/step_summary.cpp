#include "collector/render/step_summary.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/render/neutral.hpp"
#include "collector/report/output_file.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_annotations = 10;
constexpr std::size_t k_longest_message = 2000;  // a line of the log holds 3500 bytes

std::string cut_sentence(std::size_t left_out) {
  return "\n**cozybracket: cut here, " + std::to_string(left_out) +
         " bytes are left out: a step summary has to stay below 1 MiB. The whole text is SUMMARY.md in the report.**\n";
}

/// All of it, or the errno.
int write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The begin of a text, without half a character or half an escape at its end.
std::string begin_of(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + " (cut)";
}

std::string annotation(Level level, const std::string& title, const std::string& message) {
  return "::" + std::string(level_name(level)) + " title=" + annotation_property(title) +
         "::" + annotation_message(message);
}

}  // namespace

std::optional<std::string> fit_step_summary(std::string_view markdown, std::uint64_t standing_bytes) {
  if (markdown.empty() || standing_bytes >= k_step_summary_limit) return std::nullopt;
  const auto room = static_cast<std::size_t>(k_step_summary_limit - 1 - standing_bytes);
  // What stands there may lack its line end.
  const std::string border = standing_bytes > 0 ? "\n" : "";
  if (border.size() + markdown.size() <= room) return border + std::string(markdown);
  const std::size_t longest_sentence = border.size() + cut_sentence(markdown.size()).size();
  if (longest_sentence >= room) return std::nullopt;
  const std::size_t line_end = markdown.rfind('\n', room - longest_sentence - 1);
  if (line_end == std::string_view::npos) return std::nullopt;
  const std::string_view kept = markdown.substr(0, line_end + 1);
  return border + std::string(kept) + cut_sentence(markdown.size() - kept.size());
}

Result<StepSummary> append_step_summary(const std::string& path, std::string_view markdown) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0644));
  struct stat facts {};
  if (!file.open() || ::fstat(file.number(), &facts) != 0) return Error{path, errno_text(errno), errno};
  if (!S_ISREG(facts.st_mode)) return Error{path, "is no regular file", 0};
  const auto standing = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  const auto text = fit_step_summary(markdown, standing);
  if (!text) {
    return Error{path,
                 "has no room: " + std::to_string(standing) + " bytes stand there and it has to stay below " +
                     std::to_string(k_step_summary_limit),
                 0};
  }
  const int code = write_all(file, *text);
  if (code == 0) return StepSummary{text->size(), text->find(markdown) == std::string::npos};
  // Half a table is worse than none; nobody else writes while our step runs.
  if (::ftruncate(file.number(), facts.st_size) != 0)
    return Error{path, errno_text(code) + ", and half of it stands there", code};
  return Error{path, errno_text(code), code};
}

std::vector<std::string> annotations(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Level level : {Level::warning, Level::notice}) {
    std::vector<const Finding*> of_level;
    for (const Finding& finding : analysis.findings) {
      if (finding.level == level) of_level.push_back(&finding);
    }
    const bool fits = of_level.size() <= k_most_annotations;
    const std::size_t shown = fits ? of_level.size() : k_most_annotations - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const Finding& finding = *of_level[i];
      lines.push_back(
          annotation(level, "cozybracket " + finding.id, begin_of(neutral_escaped(finding.says), k_longest_message)));
    }
    if (!fits) {
      lines.push_back(annotation(level, "cozybracket",
                                 std::to_string(of_level.size() - shown) +
                                     " more findings of this level: the job log and the report have them"));
    }
  }
  return lines;
}

}  // namespace cozy
