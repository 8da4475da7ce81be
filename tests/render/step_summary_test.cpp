#include "collector/render/step_summary.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "collector/render/markdown.hpp"
#include "collector/render/neutral.hpp"
#include "tests/analyse/case_files.hpp"
#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

using cases::Answer;

/// A file of the test's own, gone with it.
class SummaryFile {
 public:
  explicit SummaryFile(std::string content = {})
      : path_(std::filesystem::temp_directory_path() / ("cozy-summary-" + std::to_string(::getpid()) + ".md")),
        before_(std::move(content)) {
    std::ofstream(path_, std::ios::binary) << before_;
  }
  SummaryFile(const SummaryFile&) = delete;
  SummaryFile& operator=(const SummaryFile&) = delete;
  ~SummaryFile() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string text() const { return rendered::content(path_); }
  [[nodiscard]] std::string appended() const { return text().substr(before_.size()); }
  [[nodiscard]] bool kept_what_stood_there() const { return text().starts_with(before_); }

 private:
  std::filesystem::path path_;
  std::string before_;
};

/// As make.py of case A07 makes it.
std::string earlier_lines(std::size_t size) {
  const std::string line = "earlier line of another step\n";
  std::string text;
  while (text.size() < size) text += line;
  return text.substr(0, size);
}

/// More than a summary may hold, with characters of several bytes.
std::string many_lines() {
  std::string text = "## cozybracket: a verdict\n";
  while (text.size() < k_step_summary_limit + 1000) text += "| caf\xc3\xa9 \xe6\x9d\xb1\xe4\xba\xac | 1 |\n";
  return text;
}

/// Appends to a file of that size; what stands there has to stay.
struct Appended {
  std::uint64_t standing = 0;
  std::string text;
  bool refused = false;
};

Appended append_behind(std::size_t standing, const std::string& markdown) {
  const SummaryFile file(earlier_lines(standing));
  const auto result = append_step_summary(file.path(), markdown);
  CHECK(file.kept_what_stood_there());
  if (result) CHECK(result->bytes == file.appended().size());
  return {standing, file.appended(), !result.ok()};
}

bool is_whole_in_lines(const std::string& part, const std::string& markdown) {
  const std::string kept = part.substr(part.front() == '\n' ? 1 : 0,
                                       part.rfind("\n\n**cozybracket: cut here") + 1 - (part.front() == '\n' ? 1 : 0));
  return markdown.starts_with(kept) && kept.ends_with('\n');
}

std::vector<Finding> findings(std::size_t count, Level level) {
  std::vector<Finding> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({"node-waited", level, "srv1", "srv" + std::to_string(i) + " waited, 50 % of it", {}, "", 0.5});
  return list;
}

}  // namespace

TEST_CASE("A07: the summary stays below its limit, counting what stands there", "[render][step_summary]") {
  const std::string markdown = many_lines();
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    if (key == "limit.bytes") return Answer(std::uint64_t{k_step_summary_limit});
    if (key == "earlier.bytes") return Answer("unchanged");  // append_behind holds it
    if (key == "cut.is.stated")
      return Answer(append_behind(0, markdown).text.find("cut here") != std::string::npos ? "yes" : "no");
    const auto size = between(key, "summary-", ".");
    const auto standing = size ? parse_u64(*size) : std::nullopt;
    if (!standing) return std::nullopt;
    const Appended appended = append_behind(static_cast<std::size_t>(*standing), markdown);
    CHECK(rendered::is_valid_utf8(appended.text));
    if (!appended.text.empty()) CHECK(is_whole_in_lines(appended.text, markdown));
    const std::uint64_t total = *standing + appended.text.size();
    if (key.ends_with(".total.below"))
      return Answer(std::uint64_t{total < k_step_summary_limit ? k_step_summary_limit : total});
    if (key.ends_with(".room")) {
      const auto room = k_step_summary_limit - 1 - *standing;
      CHECK(appended.text.size() <= room);
      CHECK(appended.text.size() + 40 > room);  // one line more would not have fitted
      return Answer(std::uint64_t{room});
    }
    CHECK(appended.refused);
    return Answer(std::uint64_t{appended.text.size()});
  };
  cases::check_case("A07", answer, [] { return std::string(); });
}

TEST_CASE("step summary: what fits is appended whole", "[render][step_summary]") {
  const std::string markdown = to_markdown(rendered::fixture("waited"));
  CHECK(append_behind(0, markdown).text == markdown);
  CHECK(append_behind(100, markdown).text == "\n" + markdown);  // what stands there may lack its line end
  const SummaryFile file;
  std::filesystem::remove(file.path());
  const auto made = append_step_summary(file.path(), markdown);
  REQUIRE(made.ok());
  CHECK_FALSE(made->cut);
  CHECK(file.text() == markdown);
}

TEST_CASE("step summary: the cut, byte by byte around the limit", "[render][step_summary]") {
  const std::string markdown = "## one\n\nline of caf\xc3\xa9\nline three\n";
  const std::size_t size = markdown.size();
  for (std::size_t room = 0; room < 400; ++room) {
    INFO(room << " bytes of room");
    const std::uint64_t standing = k_step_summary_limit - 1 - room;
    const auto text = fit_step_summary(markdown, standing);
    if (room >= size + 1) {
      REQUIRE(text);
      CHECK(*text == "\n" + markdown);
    } else {
      CHECK_FALSE(text);  // the sentence about the cut is longer than this text
    }
  }
  const std::string longer = markdown + std::string(1000, 'x') + "\nlast\n";
  std::size_t cuts = 0;
  for (std::size_t room = 100; room < 400; ++room) {
    const auto text = fit_step_summary(longer, k_step_summary_limit - 1 - room);
    if (!text) continue;
    CHECK(text->size() <= room);
    CHECK(text->starts_with("\n## one\n"));
    CHECK(text->find("bytes are left out") != std::string::npos);
    CHECK(rendered::is_valid_utf8(*text));
    ++cuts;
  }
  CHECK(cuts > 100);
  CHECK_FALSE(fit_step_summary(longer, k_step_summary_limit + 1));
  CHECK_FALSE(fit_step_summary("", 0));
}

TEST_CASE("step summary: what is no file of ours is left alone", "[render][step_summary]") {
  const auto refused = [](const std::string& path, const std::string& words) {
    const auto result = append_step_summary(path, "text\n");
    REQUIRE_FALSE(result.ok());
    INFO(result.error().text());
    CHECK(result.error().text().find(path) == 0);
    CHECK(result.error().text().find(words) != std::string::npos);
  };
  const std::string folder = std::filesystem::temp_directory_path().string();
  refused(folder, "EISDIR");
  refused("/nowhere/at/all.md", "ENOENT");
  refused("/dev/null", "is no regular file");
  const std::string fifo = folder + "/cozy-summary-fifo-" + std::to_string(::getpid());
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  refused(fifo, "ENXIO");  // and nobody waits for a reader
  ::unlink(fifo.c_str());
  const SummaryFile full(earlier_lines(k_step_summary_limit));
  refused(full.path(), "has no room: 1048576 bytes stand there");
}

TEST_CASE("annotations: at most ten of a level, the rest counted in the last", "[render][step_summary]") {
  Analysis analysis;
  const auto count = [&](const std::string& level) {
    const auto lines = annotations(analysis);
    return std::count_if(lines.begin(), lines.end(),
                         [&](const auto& line) { return line.starts_with("::" + level + " title=cozybracket"); });
  };
  analysis.findings = findings(10, Level::warning);
  CHECK(count("warning") == 10);
  CHECK(annotations(analysis).front() == "::warning title=cozybracket node-waited::srv0 waited, 50 %25 of it");
  analysis.findings = findings(25, Level::warning);
  for (const Finding& finding : findings(11, Level::notice)) analysis.findings.push_back(finding);
  for (const Finding& finding : findings(50, Level::info)) analysis.findings.push_back(finding);
  CHECK(count("warning") == 10);
  CHECK(count("notice") == 10);
  const auto lines = annotations(analysis);
  REQUIRE(lines.size() == 20);  // information is none
  CHECK(lines[9] ==
        "::warning title=cozybracket::16 more findings of this level: the job log and the report have them");
  CHECK(lines[19].find("::2 more findings") != std::string::npos);
  analysis.findings.clear();
  CHECK(annotations(analysis).empty());
}

TEST_CASE("A09, A15: an annotation is one line and cannot start a second one", "[render][step_summary]") {
  const ReportAnalysis report = rendered::with_names(rendered::hostile_names());
  const auto lines = annotations(report.snapshots.front());
  CHECK_FALSE(lines.empty());
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(split_lines(line).size() == 1);
    CHECK((line.starts_with("::warning title=cozybracket") || line.starts_with("::notice title=cozybracket")));
    CHECK(line.find("##[") == std::string::npos);
    CHECK_FALSE(rendered::has_control_bytes(line));
    CHECK(rendered::is_valid_utf8(line));
    CHECK(line.size() < 3500);  // what a line of the log holds
    const std::string message = line.substr(line.find("::", 2) + 2);
    CHECK(neutral_escaped(message) == message);
  }
  Analysis analysis;
  analysis.findings = {{"a:b,c", Level::warning, "", "x,line=1::y:z", {}, "", 0}};
  CHECK(annotations(analysis).front() == "::warning title=cozybracket a%3Ab%2Cc::x,line=1::y:z");
}

}  // namespace cozy
