#include "collector/render/comparison.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

using Json = nlohmann::json;

ReportComparison compared(const std::vector<ComparedNumber>& numbers) {
  Comparison snapshot{"green-a",
                      "red-b",
                      "nothing unusual",
                      "a node waited",
                      {"the machines differ in shape: 24 and 16 CPUs"},
                      numbers,
                      {},
                      {},
                      {}};
  snapshot.red_only = {{"node-waited", "srv2"}};
  snapshot.both = {{"incomplete", "runner-pressure sample 1"}};
  return {"green.tgz", "red.tgz", {"a note"}, {snapshot}};
}

const std::vector<ComparedNumber> k_numbers{
    {"runner", "steal", Unit::share, Measured{0.001, 0.001}, Measured{0.12, 0.001}, true},
    {"srv1", "exits", Unit::per_second, Measured{28'000, 10}, Measured{500, 10}, true},
    {"srv1", "cpus used", Unit::cpus, std::nullopt, Measured{1.5, 0.02}, false},
    {"srv1", "stalled", Unit::seconds, Measured{2.5, 0.1}, Measured{2.5, 0.1}, false}};

/// A line with these words, whatever the blanks between them.
bool has_row(const std::string& text, const std::string& words) {
  const auto lines = split_lines(text);
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    const auto parts = split_words(line);
    return join({parts.begin(), parts.end()}, " ") == words;
  });
}

}  // namespace

TEST_CASE("comparison: side by side, with what differs and by how much", "[render][comparison]") {
  const std::string text = render(compared(k_numbers), Format::text);
  for (const char* line :
       {"red    red.tgz\ngreen  green.tgz\nnote: a note\n", "red    red-b: a node waited\n",
        "warning: the machines differ in shape: 24 and 16 CPUs\n", "\nfindings only in red\n  node-waited srv2\n",
        "\nfindings in both\n  incomplete runner-pressure sample 1\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(text.find("findings only in green") == std::string::npos);
  CHECK(has_row(text, "runner steal 0.1% 12.0% +11.9% 0.2% differs"));
  CHECK(has_row(text, "srv1 exits 28.0k/s 500/s -27.5k/s 20.0/s differs"));
  CHECK(has_row(text, "srv1 cpus used absent 1.50 CPUs - -"));
  CHECK(has_row(text, "srv1 stalled 2.500 s 2.500 s +0.000 s 0.200 s"));
}

TEST_CASE("comparison: markdown and JSON", "[render][comparison]") {
  const std::string markdown = render(compared(k_numbers), Format::markdown);
  CHECK(markdown.starts_with("## cozybracket: red red.tgz beside green green.tgz\n"));
  CHECK(markdown.find("| runner | steal | 0.1% | 12.0% | +11.9% | 0.2% | **differs** |\n") != std::string::npos);
  const Json json = Json::parse(render(compared(k_numbers), Format::json));
  CHECK(json["schema"] == "cozybracket.comparison/1");
  const Json& snapshot = json["snapshots"][0];
  CHECK(snapshot["red"] == Json{{"snapshot", "red-b"}, {"verdict", "a node waited"}});
  CHECK(snapshot["numbers"][0]["change"] == 0.119);
  CHECK(snapshot["numbers"][0]["differs"] == true);
  CHECK_FALSE(snapshot["numbers"][2].contains("green"));
  CHECK_FALSE(snapshot["numbers"][2].contains("change"));
  CHECK_FALSE(snapshot["numbers"][2].contains("differs"));
  CHECK(snapshot["red_only"][0]["subject"] == "srv2");
  CHECK(snapshot["green_only"] == Json::array());
}

TEST_CASE("comparison: bytes from outside", "[render][comparison]") {
  std::vector<ComparedNumber> numbers;
  const auto names = rendered::hostile_names();
  for (const std::string& name : names)
    numbers.push_back({name, "waited", Unit::share, Measured{0.1, 0}, Measured{0.2, 0}, true});
  ReportComparison comparison = compared(numbers);
  comparison.green_path = comparison.red_path = names.front();
  comparison.snapshots[0].red_snapshot = names[4];
  comparison.snapshots[0].red_verdict = comparison.snapshots[0].warnings[0] = comparison.notes[0] = escape(names[1]);
  comparison.snapshots[0].red_only = {{"x", escape(names[5])}};
  for (const Format format : {Format::text, Format::markdown, Format::json}) {
    const std::string text = render(comparison, format);
    CHECK(rendered::is_valid_utf8(text));
    CHECK_FALSE(rendered::has_control_bytes(text));
    CHECK(rendered::commands_in(text).empty());
  }
  const Json json = Json::parse(render(comparison, Format::json));
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(unescape(json["snapshots"][0]["numbers"][i].value("subject", "")) == names[i]);
  }
}

}  // namespace cozy
