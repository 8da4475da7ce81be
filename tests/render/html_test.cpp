#include "collector/render/html.hpp"

#include "collector/render/page_template.hpp"
#include "collector/render/terminal.hpp"
#include "tests/render/page_case.hpp"

namespace cozy {

namespace {

using paged::data_of;
using paged::Json;
using paged::k_template;
using paged::page_of;
using paged::part;
using paged::parts_of;

/// The template's own elements are all that there are.
void check_elements(const std::string& page) {
  CHECK(static_cast<std::size_t>(std::count(page.begin(), page.end(), '<')) ==
        static_cast<std::size_t>(std::count(k_template.begin(), k_template.end(), '<')));
  CHECK(page.ends_with("</script>\n<p>end</p>\n"));
}

}  // namespace

TEST_CASE("html: title, plain text and data stand in their places", "[render][page]") {
  const ReportAnalysis report = rendered::fixture("waited");
  const std::string page = page_of(parts_of(report));
  CHECK(part(page, "<title>", "</title>").find("cozybracket: the sandbox nodes waited for CPU") == 0);
  CHECK(part(page, "<pre>\n", "</pre>") == html_text(to_terminal(report)));
  CHECK(data_of(page)["reports"][0]["analysis"]["report"]["path"] == "waited");
  check_elements(page);
}

TEST_CASE("html: names do no harm wherever they stand", "[render][page]") {
  for (const std::string& name : rendered::hostile_names()) {
    ReportAnalysis report = rendered::with_names({name});
    report.texts.push_back({name,
                            name,
                            1,
                            name,
                            Outcome::partial,
                            escape(name),
                            escape(name),
                            escape(name),
                            escape(name),
                            {escape(name)},
                            "x\n" + name + "\n",
                            0});
    const std::string page = page_of(parts_of(report));
    INFO(escape(name));
    check_elements(page);
    const std::string data = paged::data_text(page);
    CHECK(std::all_of(data.begin(), data.end(), [](char c) { return c >= ' ' && c < '\x7f'; }));
    CHECK(rendered::is_valid_utf8(page));
    CHECK_FALSE(rendered::has_control_bytes(page));
    CHECK(rendered::commands_in(page).empty());
    const Json capture = data_of(page)["reports"][0]["captures"][0];
    CHECK(capture["file"] == escape(name));
    CHECK(capture["sample"] == 1);
    CHECK(capture["outcome"] == "partial");
    CHECK(capture["cut_bytes"] == 0);
  }
}

TEST_CASE("html: a mark inside the data is text", "[render][page]") {
  for (const std::string mark : {"@COZYBRACKET_DATA@", "@COZYBRACKET_PLAIN@", "@COZYBRACKET_TITLE@"}) {
    ReportAnalysis report = rendered::with_names({mark});
    report.texts.push_back({"k", "c", 1, "f", Outcome::complete, "", "", "", "", {}, mark + "\n" + mark, 0});
    const std::string page = page_of(parts_of(report));
    CHECK(data_of(page)["reports"][0]["captures"][0]["text"] == mark + "\n" + mark);
    CHECK(part(page, "<title>", "</title>").find(mark) != std::string::npos);
  }
}

TEST_CASE("html: a template that lacks a mark, or has one twice, is none", "[render][page]") {
  const std::string whole(k_template);
  for (const std::string mark : {"@COZYBRACKET_DATA@", "@COZYBRACKET_PLAIN@", "@COZYBRACKET_TITLE@"}) {
    std::string without = whole;
    without.replace(without.find(mark), mark.size(), "");
    for (const std::string& wrong : {without, whole + mark}) {
      const auto page = to_html(wrong, parts_of(rendered::fixture("waited")));
      REQUIRE_FALSE(page.ok());
      CHECK(page.error().text() == "the page's template: does not hold " + mark + " once");
    }
  }
}

TEST_CASE("html: what would make it too large is left out, and that is said", "[render][page]") {
  ReportAnalysis report = rendered::fixture("two-snapshots");
  report.texts.push_back({"k", "c", 1, "f", Outcome::complete, "", "", "", "", {}, std::string(100'000, 'x'), 0});
  report.snapshots[0].series.emplace().starts = std::vector<double>(50'000, 1.5);
  report.snapshots[0].series->seconds = std::vector<double>(50'000, 1.5);
  const auto kept = [&](std::size_t largest) {
    const auto page = to_html(k_template, parts_of(report), largest);
    REQUIRE(page.ok());
    CHECK(page->size() <= largest);
    const Json one = data_of(*page)["reports"][0];
    const Json notes = one["analysis"]["report"].value("notes", Json::array());
    return std::vector<std::size_t>{one["captures"].size(), one["timelines"].size(),
                                    one["analysis"]["snapshots"].size(), notes.size()};
  };
  const std::size_t whole = page_of(parts_of(report)).size();
  CHECK(kept(whole) == std::vector<std::size_t>{1, 1, 2, 0});
  CHECK(kept(whole - 1) == std::vector<std::size_t>{0, 1, 2, 1});
  CHECK(kept(whole - 100'000) == std::vector<std::size_t>{0, 0, 2, 2});
  const std::size_t bare = page_of(parts_of(rendered::fixture("two-snapshots"))).size();
  CHECK(kept(bare) == std::vector<std::size_t>{0, 0, 1, 3});
  const auto none = to_html(k_template, parts_of(report), 2000);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().text() == "the page: would be larger than 2000 bytes; --format json has all of it");
  const auto noted = to_html(k_template, parts_of(report), whole - 1);
  CHECK(noted->find("the page leaves out what the captures say: it would be larger than ") != std::string::npos);
}

TEST_CASE("html: a very long text for readers without JavaScript is cut, with how much", "[render][page]") {
  ReportAnalysis report = rendered::fixture("waited");
  for (int i = 0; i < 60; ++i) {
    report.snapshots.front().findings.push_back({"x", Level::info, "s", std::string(8000, 'y'), {}, "", 0});
  }
  const std::string plain = part(page_of(parts_of(report)), "<pre>\n", "</pre>");
  CHECK(plain.size() < 300'000);
  CHECK(plain.ends_with(" more bytes of it are cut"));
}

TEST_CASE("html: with sample 1 alone, and of a comparison", "[render][page]") {
  auto opened = open_report((std::filesystem::path(COZY_FIXTURES) / "reports" / "waited").string());
  REQUIRE(opened.ok());
  Snapshot& snapshot = opened->snapshots.front();
  std::erase_if(snapshot.captures, [](const SampleCapture& read) { return read.capture.sample == 2; });
  ReportAnalysis first = describe(*opened);
  first.snapshots.push_back(analyse(snapshot));
  first.texts = capture_texts(*opened, "");
  const Json data = data_of(page_of(parts_of(first)));
  CHECK(data["reports"][0]["captures"].size() == snapshot.captures.size());
  CHECK_FALSE(data["reports"][0]["analysis"]["snapshots"][0]["open"].empty());

  const ReportComparison comparison{"g", "r", {}, {compare(first.snapshots.front(), first.snapshots.front())}};
  PageParts parts = parts_of(first);
  parts.reports.push_back({"red", first});
  parts.reports.front().label = "green";
  parts.comparison = &comparison;
  const std::string page = page_of(std::move(parts));
  CHECK(data_of(page)["reports"].size() == 2);
  CHECK(part(page, "<pre>\n", "</pre>") == html_text(render(comparison, Format::text)));
  CHECK(part(page, "<title>", "</title>").find("green and red") != std::string::npos);
}

TEST_CASE("html: the page that is built in, or why there is none", "[render][page]") {
  const auto missing = page_template({"", "there is no npm"});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().text().find("built without the page: there is no npm; build it where npm works") !=
        std::string::npos);
  CHECK_FALSE(page_template({"no gzip", ""}).ok());
  constexpr unsigned char k_packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd,
                                        0xc9, 0xc9, 0x07, 0x00, 0x86, 0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00};
  const std::string_view packed(reinterpret_cast<const char*>(k_packed), sizeof k_packed);
  REQUIRE(page_template({packed, ""}).ok());
  CHECK(*page_template({packed, ""}) == "hello");
  CHECK_FALSE(page_template({packed.substr(0, 20), ""}).ok());
  const EmbeddedPage own = embedded_page();
  if (own.packed.empty()) {
    CHECK_FALSE(own.missing.empty());
  } else {
    const auto text = page_template(own);
    REQUIRE(text.ok());
    CHECK(to_html(*text, parts_of(rendered::fixture("waited"))).ok());
  }
}

}  // namespace cozy
