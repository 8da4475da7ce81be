#include "collector/render/capture_texts.hpp"

#include <numeric>

#include "collector/render/page_data.hpp"
#include "tests/render/page_case.hpp"

namespace cozy {

namespace {

SampleCapture capture_of(const std::string& name, int sample, std::string text) {
  SampleCapture read;
  read.capture.name = name;
  read.capture.sample = sample;
  read.capture.snapshot = "k";
  read.capture.text = std::move(text);
  read.capture.judgement = {Outcome::complete, "", false};
  read.file = "snapshots/k/" + name + "/sample-" + std::to_string(sample) + "/x.txt";
  return read;
}

Report report_of(std::vector<std::string> texts) {
  Report report;
  report.path = "r";
  report.snapshots.push_back({"k", {}});
  for (std::string& text : texts)
    report.snapshots.back().captures.push_back(capture_of("runner-pressure", 1, std::move(text)));
  return report;
}

std::string lines(std::size_t count, const std::string& line = "0123456789abcde\n") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line;
  return text;
}

}  // namespace

TEST_CASE("capture texts: verbatim, with the legend that says how to read it", "[render][page]") {
  const auto report = open_report((std::filesystem::path(COZY_FIXTURES) / "reports" / "waited").string());
  REQUIRE(report.ok());
  const auto texts = capture_texts(*report, "");
  REQUIRE(texts.size() == report->snapshots.front().captures.size());
  const auto found = std::find_if(texts.begin(), texts.end(), [](const CaptureText& text) {
    return text.capture == "runner-kernel-cpu-time" && text.sample == 2;
  });
  REQUIRE(found != texts.end());
  CHECK(found->snapshot == "kubernetes");
  CHECK(found->file == "snapshots/kubernetes/runner-kernel-cpu-time/sample-2/proc-stat.txt");
  CHECK(found->text.substr(0, 13) == "cpu  55600 0 ");
  CHECK(found->text.find("[cozybracket capture") == std::string::npos);
  CHECK(found->cut_bytes == 0);
  CHECK_FALSE(found->title.empty());
  CHECK_FALSE(found->layer.empty());
  CHECK_FALSE(found->source.empty());
  REQUIRE(found->legend.size() > 2);
  CHECK(found->legend.front().front() != '[');
  CHECK(found->legend.back().find("this is sample 2, the other is sample-1/") != std::string::npos);
}

TEST_CASE("capture texts: of one snapshot alone where it is asked for", "[render][page]") {
  const auto report = open_report((std::filesystem::path(COZY_FIXTURES) / "reports" / "two-snapshots").string());
  REQUIRE(report.ok());
  const auto one = capture_texts(*report, "kubernetes-a");
  CHECK_FALSE(one.empty());
  for (const CaptureText& text : one) CHECK(text.snapshot == "kubernetes-a");
  CHECK(capture_texts(*report, "").size() > one.size());
}

TEST_CASE("capture texts: where there is too much, the longest are cut behind a line, and say so", "[render][page]") {
  const auto texts = capture_texts(report_of({lines(2), lines(100), lines(90)}), "", 1000);
  CHECK(texts[0].cut_bytes == 0);
  CHECK(texts[0].text == lines(2));
  std::size_t written = 0;
  for (const CaptureText& text : texts) {
    char before = '\0';
    for (const char c : text.text) written += written_size(std::exchange(before, c), c);
    CHECK((text.text.empty() || text.text.back() == '\n'));
  }
  CHECK(written <= 1000);
  CHECK(written > 900);
  CHECK(texts[1].text.size() == texts[2].text.size());
  CHECK(texts[1].text.size() + texts[1].cut_bytes == 1600);
  CHECK(texts[2].text.size() + texts[2].cut_bytes == 1440);
  CHECK(capture_texts(report_of({lines(2)}), "", lines(2).size() + 2).front().cut_bytes == 0);  // a line end takes two
  CHECK(capture_texts(report_of({lines(2)}), "", lines(2).size() + 1).front().cut_bytes == 16);
}

TEST_CASE("capture texts: what grows when it is written is cut by what it grows to", "[render][page]") {
  const std::vector<std::string> grows{
      "<",  "\x01", "\xff", "#",    "##[", "::", "\xe2\x80\xa8", "\xc3\xa9", "\xf0\x9f\x98\x80", "\"",
      "\\", "\t",   "\n",   "\x7f", "a:b", ""};
  std::size_t most = 5000;
  for (const std::string& piece : grows) {
    std::string text = lines(2000, piece);
    text.push_back('\0');
    PageReport report;
    report.analysis.texts = capture_texts(report_of({text, text}), "", most);
    CHECK((piece.empty() || report.analysis.texts.front().cut_bytes > 0));
    PageReport without = report;
    for (CaptureText& one : without.analysis.texts) one.text.clear();
    const auto size = [](const PageReport& of) { return page_data("p", {of}, nullptr, {}).dump_line().size(); };
    INFO(escape(piece));
    CHECK(size(report) - size(without) <= most);
    ++most;
  }
}

TEST_CASE("capture texts: a first line that is too long is cut inside", "[render][page]") {
  const auto texts = capture_texts(report_of({std::string(5000, 'x')}), "", 1000);
  CHECK(texts.front().text == std::string(1000, 'x'));
  CHECK(texts.front().cut_bytes == 4000);
  CHECK(capture_texts(report_of({"abc\n"}), "", 0).front().cut_bytes == 4);
  CHECK(capture_texts(Report(), "").empty());
}

}  // namespace cozy
