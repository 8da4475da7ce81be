#include "collector/report/legend.hpp"

#include <set>
#include <string>

#include "probes/probe.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

const Legend& legend_of(std::string_view capture) {
  const Legend* legend = find_legend(capture);
  REQUIRE(legend != nullptr);
  return *legend;
}

Reading parse(std::string_view capture, std::string_view text) {
  const Probe* probe = find_probe(capture);
  REQUIRE(probe != nullptr);
  return probe->parse(text);
}

bool is_one_line(const std::string& line) { return make_line(line) == line; }

bool is_command(std::string_view line) {
  return trim(line).starts_with("::") || line.find("##[") != std::string_view::npos;
}

/// A legend as small as one can be, with one piece of its text replaced.
std::string small_legend(const std::string& from = "", const std::string& to = "") {
  std::string json = R"({"capture": "a-b", "file": "a.txt", "title": "t", "layer": "l", "source": "s",)"
                     R"( "samples": [1, 2], "sentences": ["One.", "Two."],)"
                     R"( "pairing": "p", "empty_means": "e", "unavailable_is_not": "u",)"
                     R"( "partial_means": "q", "needs_counter": true, "default_kind": "cumulative",)"
                     R"( "fields": {"x": {"kind": "peak", "unit": "", "means": "m"}}})";
  if (!from.empty()) json.replace(json.find(from), from.size(), to);
  return json;
}

/// What every value that is filled in has to survive.
std::vector<std::string> hostile_values() {
  return {"a\nb",
          "a\r\nb",
          "\n::error::x",
          "::error file=a::x",
          " ::warning::x",
          "##[error]x",
          "#[x]##[group]",
          "]\n[x]",
          "\xe2\x80\xa8::error::x",
          "\xc2\x85x",
          "\xff\xfe",
          std::string("\0x", 2),
          "{sample}{snapshot}",
          ":",
          "a:::b",
          "\x1b[31m",
          std::string(10000, ':'),
          std::string(10000, '\n'),
          std::string(10000, 'a'),
          ""};
}

}  // namespace

TEST_CASE("the built-in legends are those of the table of probes, in its order") {
  REQUIRE(legends().size() == probes().size());
  for (std::size_t i = 0; i < probes().size(); ++i) CHECK(legends()[i].capture == probes()[i].name);
  CHECK(find_legend("no-such-capture") == nullptr);
  CHECK(legend_of("runner-kernel-cpu-time").file == "proc-stat.txt");
  CHECK(legend_of("sandbox-qemu-thread-cpu").file == "qemu-threads.txt");
  CHECK(legend_of("sandbox-kvm-exits").file == "kvm-stats.txt");
  CHECK(legend_of("sandbox-vm-cgroup-cpu").file == "cpu-stat.txt");
  CHECK(legend_of("runner-shape").file == "shape.txt");
  CHECK(legend_of("runner-shape").samples == std::vector<int>{1});
  CHECK_FALSE(legend_of("runner-shape").needs_counter);
}

TEST_CASE("a built-in legend survives being written and read back") {
  for (const Legend& legend : legends()) {
    const auto again = parse_legend(legend.json);
    REQUIRE(again.ok());
    CHECK(again->sentences == legend.sentences);
    CHECK(again->fields.size() == legend.fields.size());
  }
}

TEST_CASE("sentences are single lines that no reader takes for data") {
  const std::vector<std::string> reserved{
      "global",          "vm ",      "skipped", "counters",   "process ", "thread ", "node ",
      "ended ",          "note",     "stalled", "not read",   "walk cut", "read ",   "capture",
      "cozybracket",     "lockdown", "view",    "debugfs",    "outcome",  "bound",   "end",
      "kernel lockdown", "cpu",      "NO-",     "clock ticks"};
  for (const Legend& legend : legends()) {
    std::set<std::string> seen;
    std::vector<std::string> all = legend.sentences;
    all.push_back(legend.pairing);
    for (const std::string& sentence : all) {
      INFO(legend.capture << ": " << sentence);
      CHECK(seen.insert(sentence).second);
      CHECK(is_one_line(sentence));
      CHECK(sentence.size() <= 220);
      CHECK(sentence.back() == '.');
      CHECK(sentence.find('[') == std::string::npos);
      CHECK((sentence.front() >= 'A' && sentence.front() <= 'Z'));
      for (const std::string& word : reserved) CHECK_FALSE(sentence.starts_with(word));
      const std::string filled = fill(sentence, {1, "s"});
      CHECK(filled.find('{') == std::string::npos);
    }
  }
}

TEST_CASE("the lines of a legend add nothing to what its parser reads") {
  for (const Legend& legend : legends()) {
    for (const std::string& value : hostile_values()) {
      std::string text;
      for (const std::string& line : legend_lines(legend, {2, value})) text += line + "\n";
      text += "[" + fill(legend.pairing, {2, value}) + "]\n";
      const Reading reading = parse(legend.capture, text);
      const Reading nothing = parse(legend.capture, "");
      CHECK(reading.rows.empty());
      CHECK(reading.nodes.empty());
      CHECK(reading.subjects.empty());
      CHECK(reading.notes.empty());
      CHECK(reading.refused.empty());
      CHECK(reading.stalled.empty());
      CHECK(reading.partial.empty());
      CHECK(reading.finding.empty());
      CHECK_FALSE(reading.counters_refused);
      CHECK(reading.unavailable == nothing.unavailable);
    }
  }
}

TEST_CASE("statements and fields are well formed") {
  for (const Legend& legend : legends()) {
    INFO(legend.capture);
    for (const std::string& words : {legend.empty_means, legend.unavailable_is_not, legend.partial_means}) {
      CHECK(is_one_line(words));
      CHECK(words.back() == '.');
      CHECK((words.front() >= 'A' && words.front() <= 'Z'));
    }
    CHECK(legend.unavailable_is_not.starts_with("This does not mean"));
    CHECK_FALSE(legend.fields.empty());
    for (const auto& [name, field] : legend.fields) {
      INFO(name);
      CHECK(field.kind != Kind::unknown);
      CHECK_FALSE(field.means.empty());
      CHECK((!name.ends_with("_hist") || field.kind == Kind::histogram));
      CHECK((!name.ends_with("_ns") || field.unit == "ns"));
    }
  }
}

TEST_CASE("the kernel's own kind comes before the legend's, and that before the default") {
  const auto legend = parse_legend(small_legend());
  REQUIRE(legend.ok());
  CHECK(legend->kind_of({"s", "x", Value(std::uint64_t{1}), Kind::instant}) == Kind::instant);
  CHECK(legend->kind_of({"s", "x", Value(std::uint64_t{1}), Kind::unknown}) == Kind::peak);
  CHECK(legend->kind_of({"s", "y", Value(std::uint64_t{1}), Kind::unknown}) == Kind::cumulative);
}

TEST_CASE("values are filled in once and stay on one line") {
  CHECK(fill("{sample} of {snapshot}, not {other}", {1, "kubernetes-latest"}) == "1 of kubernetes-latest, not 2");
  CHECK(fill("{sample}{other}", {2, ""}) == "21");
  CHECK(fill("{snapshot}", {1, "{sample}"}) == "{sample}");
  CHECK(fill("{nothing} {", {1, "s"}) == "{nothing} {");
  CHECK(fill("a\nb ##[c]", {1, ""}) == "a\\x0ab \\x23#[c]");
  for (const std::string& value : hostile_values()) {
    for (const char* sentence : {"{snapshot}", ":{snapshot}:", "##{snapshot}", "Of {snapshot}{snapshot}."}) {
      const std::string line = fill(sentence, {1, value});
      CHECK(is_one_line(line));
      CHECK_FALSE(is_command(line));
      CHECK(line.find(']') == std::string::npos);
    }
    const std::string bare = fill("{snapshot}", {1, value});
    CHECK(unescape(bare) == value);
  }
  const auto legend = parse_legend(small_legend("One.", "Of {snapshot}."));
  REQUIRE(legend.ok());
  CHECK(legend_lines(*legend, {1, "a\n[b]"}) == std::vector<std::string>{"[Of a\\x0a\\x5bb\\x5d.]", "[Two.]"});
}

TEST_CASE("parse_legend names the key that is missing or wrong") {
  CHECK(parse_legend(small_legend()).ok());
  CHECK(parse_legend(small_legend("\"title\"", "\"more\": 1, \"title\"")).ok());  // of a newer version
  struct Wrong {
    const char* from;
    const char* to;
    const char* key;
  };
  const Wrong wrongs[] = {
      {"\"title\"", "\"titel\"", "\"title\" is missing"},
      {"\"fields\"", "\"field\"", "\"fields\" is missing"},
      {"\"a-b\"", "7", "\"capture\" is no string"},
      {"\"a-b\"", "\"../b\"", "\"capture\" is no plain name"},
      {"\"a.txt\"", "\"/etc/a\"", "\"file\" is no plain name"},
      {"\"t\"", "\"\"", "\"title\" is empty"},
      {"\"l\"", R"("a\nb")", "\"layer\" is not one line"},
      {"\"l\"", R"("a\u2028b")", "\"layer\" is not one line"},
      {"[1, 2]", "[]", "\"samples\""},
      {"[1, 2]", "[0]", "\"samples\""},
      {"[1, 2]", "[2, 1]", "\"samples\""},
      {"[1, 2]", "[1, 2, 2]", "\"samples\""},
      {"[1, 2]", "[1.5]", "\"samples\""},
      {"[1, 2]", "1", "\"samples\""},
      {R"(["One.", "Two."])", "[]", "\"sentences\""},
      {R"(["One.", "Two."])", "\"One.\"", "\"sentences\""},
      {"\"Two.\"", "null", "\"sentences\""},
      {"\"Two.\"", R"("a\u0000b")", "\"sentences\""},
      {"true", "1", "\"needs_counter\""},
      {"\"cumulative\"", "\"gauge\"", "\"default_kind\""},
      {"\"cumulative\"", "\"unknown\"", "\"default_kind\""},
      {R"({"x": {)", R"({"x": 3, "y": {)", "\"fields.x\" is no object"},
      {"\"peak\"", "\"top\"", "\"fields.x.kind\""},
      {"\"unit\": \"\", ", "", "\"fields.x.unit\" is missing"},
      {"\"m\"", "[]", "\"fields.x.means\" is no string"},
  };
  for (const Wrong& wrong : wrongs) {
    const auto legend = parse_legend(small_legend(wrong.from, wrong.to));
    INFO(wrong.from << " -> " << wrong.to);
    REQUIRE_FALSE(legend.ok());
    CHECK(legend.error().text().find(wrong.key) != std::string::npos);
    CHECK(is_one_line(legend.error().text()));
  }
}

TEST_CASE("parse_legend refuses what is no legend and survives any bytes") {
  const std::vector<std::string> texts{"",
                                       "{",
                                       "[]",
                                       "null",
                                       "1e999",
                                       "\"",
                                       "{\"capture\"",
                                       small_legend() + "x",
                                       small_legend("\"t\"", "\"\xff\""),
                                       small_legend("\"t\"", "\"\\ud800\""),
                                       std::string(300UL * 1024, ' '),
                                       std::string(100000, '['),
                                       std::string(100000, '[') + std::string(100000, ']')};
  for (const std::string& text : texts) CHECK_FALSE(parse_legend(text).ok());

  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "{\"a\":[";
  nested += "1";
  for (int i = 0; i < 20000; ++i) nested += "]}";
  CHECK_FALSE(parse_legend(small_legend("\"t\"", nested)).ok());
  CHECK(parse_legend(small_legend("\"title\"", "\"more\": " + nested + ", \"title\"")).ok());

  const std::string good = small_legend();
  for (std::size_t i = 0; i < good.size(); ++i) {
    CHECK_FALSE(parse_legend(std::string_view(good).substr(0, i)).ok());
    for (const char byte : {'\0', '"', '\\', '{', ']', '\n', '\x80', '\xff'}) {
      std::string mutated = good;
      mutated[i] = byte;
      const auto legend = parse_legend(mutated);
      if (!legend.ok()) CHECK(is_one_line(legend.error().text()));
    }
  }
}
