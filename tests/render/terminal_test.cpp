#include "collector/render/terminal.hpp"

#include <algorithm>

#include "collector/render/text_layout.hpp"
#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

std::string line_with(const std::string& text, const std::string& words) {
  for (const std::string_view line : split_lines(text)) {
    if (line.find(words) != std::string_view::npos) return std::string(line);
  }
  return {};
}

std::string without_colour(std::string text) {
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  return text;
}

RenderOptions wide(std::size_t width, bool colour = false) { return {false, width, colour}; }

/// The characters of a node's bar.
std::string bar_of(const NodeBudget& node) {
  const std::string text = to_terminal(rendered::report_of(hand_made::analysis_of({node})), wide(120));
  const std::string line = line_with(text, "[");
  return line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1);
}

std::string parts(std::size_t ran, std::size_t waited, std::size_t halted, std::size_t rest) {
  return std::string(ran, '#') + std::string(waited, '=') + std::string(halted, '.') + std::string(rest, '~');
}

}  // namespace

TEST_CASE("terminal: the verdict is the first line, then window, runner, nodes, findings", "[render][terminal]") {
  const std::string text = to_terminal(rendered::fixture("waited"));
  CHECK(
      text.starts_with("verdict: the sandbox nodes waited for CPU: srv1..srv3 were runnable and not running for 32 %"));
  std::size_t last = 0;
  for (const char* label : {"\nsnapshot  kubernetes\n", "\nwindow    60.000 s", "\nrunner    4 cpus: user 69.4%",
                            "\nkvm       3 vms", "\nnode ", "\nsrv1 ", "\nsrv3 ", "\nfindings\n",
                            "  warning  nodes-waited: ", "evidence: ", "It does not prove"}) {
    INFO(label);
    CHECK(text.find(label) != std::string::npos);
    CHECK(text.find(label) > last);
    last = text.find(label);
  }
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("terminal: columns are aligned, lines fit, and only a verdict or a long word is longer",
          "[render][terminal]") {
  for (const char* name : {"waited", "hostile", "two-snapshots", "shell"}) {
    for (const std::size_t width : {60UL, 80UL, 100UL, 200UL}) {
      INFO(name << " at " << width);
      const std::string text = to_terminal(rendered::fixture(name), wide(width));
      for (const std::string_view line : split_lines(text)) {
        const bool table = line.starts_with("node ") || line.starts_with("srv") || line.starts_with("process ") ||
                           line.starts_with("  #");
        if (line.starts_with("verdict: ") || (table && width < 80)) continue;
        INFO(line);
        CHECK(display_width(line) <= width);
      }
    }
  }
  const std::string text = to_terminal(rendered::fixture("waited"));
  CHECK(line_with(text, "srv1   ").find('[') == line_with(text, "srv2   ").find('['));
  CHECK(display_width(line_with(text, "srv1   ")) == display_width(line_with(text, "srv3   ")));
}

TEST_CASE("terminal: a bar's parts differ without colour", "[render][terminal]") {
  CHECK(bar_of(hand_made::node("srv1", {0.5, 0.25, 0.125})) == parts(20, 10, 5, 5));
  CHECK(bar_of(hand_made::node("srv1", {1.0, 0.0})) == parts(40, 0, 0, 0));
  CHECK(bar_of(hand_made::node("srv1", {0.0, 0.0, 1.0})) == parts(0, 0, 40, 0));
  CHECK(bar_of(hand_made::node("srv1", {0.25, std::nullopt})) == parts(10, 0, 0, 30));
  for (double ran = 0; ran <= 1; ran += 0.037) {
    CHECK(bar_of(hand_made::node("srv1", {ran, (1 - ran) / 3, (1 - ran) / 3})).size() == 40);
  }
  const std::string text = to_terminal(rendered::fixture("shell"));
  CHECK(text.find("  # ran  ~ waited-or-halted-or-other\n") != std::string::npos);
}

TEST_CASE("terminal: colour adds nothing to the characters", "[render][terminal]") {
  for (const char* name : {"waited", "two-snapshots", "shell"}) {
    const std::string coloured = to_terminal(rendered::fixture(name), wide(100, true));
    CHECK(coloured.find("\x1b[1mverdict: ") == 0);
    CHECK(without_colour(coloured) == to_terminal(rendered::fixture(name), wide(100)));
    CHECK(std::count(coloured.begin(), coloured.end(), '\x1b') % 2 == 0);
  }
}

TEST_CASE("terminal: nodes without parts, the open, the canary and a cut report", "[render][terminal]") {
  const std::string two = to_terminal(rendered::fixture("two-snapshots"));
  CHECK(two.find("\n  - srv3 left: process 942 of sample 1 is gone in sample 2\n") != std::string::npos);
  CHECK(two.find("\nopen\n  - runner-kernel-cpu-time sample 2: the report has no such file (") != std::string::npos);
  CHECK(two.find("verdict: ", 1) != std::string::npos);  // each snapshot has its own
  ReportAnalysis shell = rendered::fixture("shell");
  shell.truncated = true;
  shell.truncated_why = "the gzip stream ends early";
  shell.notes = {"a note"};
  shell.refused = {"../x: leads upwards"};
  const std::string text = to_terminal(shell);
  CHECK(text.find("\ncanary    sample 1: compute 23809523 iterations/s") != std::string::npos);
  CHECK(text.find("\nThe report is truncated (the gzip stream ends early): it was analysed as far as it goes.\n") !=
        std::string::npos);
  CHECK(text.find("\nnot read\n  - a note\n") != std::string::npos);
  CHECK(text.find("\nleft alone\n  - ../x: leads upwards\n") != std::string::npos);
  Analysis analysis;
  analysis.snapshot = "kubernetes";
  const std::string none = to_terminal(rendered::report_of(analysis));
  CHECK(none.starts_with("verdict: no verdict\n"));
  CHECK(none.find("\nnodes     absent (sandbox-qemu-thread-cpu was not asked for)\n") != std::string::npos);
}

TEST_CASE("terminal: bytes from outside neither move the cursor nor begin a command", "[render][terminal]") {
  for (const std::size_t width : {40UL, 100UL}) {
    const std::string text = to_terminal(rendered::with_names(rendered::hostile_names()), wide(width));
    CHECK(rendered::is_valid_utf8(text));
    CHECK_FALSE(rendered::has_control_bytes(text));
    CHECK(rendered::commands_in(text).empty());
  }
  // Two harmless halves of one, and a line that is broken in front of it.
  Analysis analysis = hand_made::analysis_of({});
  for (std::size_t i = 0; i < 60; ++i) {
    analysis.findings.push_back({"x",
                                 Level::info,
                                 "",
                                 std::string(i, 'y'),
                                 {{"c", "s", std::string(i, 'f'), Value("x ::error"), Value("y::z")}},
                                 "",
                                 0});
  }
  for (const std::size_t width : {40UL, 60UL, 80UL}) {
    CHECK(rendered::commands_in(to_terminal(rendered::report_of(analysis), wide(width))).empty());
  }
}

TEST_CASE("terminal: the thresholds and the rules", "[render][terminal]") {
  RenderOptions options;
  options.explain = true;
  const std::string alone = to_terminal({}, options);
  CHECK(alone.starts_with("Thresholds"));
  CHECK(alone.find("\n  node-waited: ") != std::string::npos);
  const std::string behind = to_terminal(rendered::fixture("waited"), options);
  CHECK(behind.starts_with("verdict: "));
  CHECK(behind.ends_with("\n\n" + alone));
}

TEST_CASE("layout: widths, cuts and breaks are by characters", "[render][layout]") {
  const std::string wide_text = "\xe6\x9d\xb1\xe4\xba\xac";  // two characters of two columns each
  CHECK(display_width("srv1") == 4);
  CHECK(display_width("caf\xc3\xa9") == 4);
  CHECK(display_width("cafe\xcc\x81") == 4);  // a combining accent
  CHECK(display_width(wide_text) == 4);
  CHECK(clipped("srv1", 4) == "srv1");
  CHECK(clipped("srv1-of-many", 8) == "srv1-...");
  CHECK(clipped(wide_text + wide_text, 6) == "\xe6\x9d\xb1...");
  CHECK(clipped("srv1", 2) == "..");
  CHECK(wrapped("one two  three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("a-word-that-is-long b", 5) == std::vector<std::string>{"a-word-that-is-long", "b"});
  CHECK(wrapped("", 5).empty());
  CHECK(aligned({{"a", "bb"}, {"ccc", "d", "e"}}, false) == std::vector<std::string>{"a    bb", "ccc   d  e"});
  CHECK(aligned({{"a", "bb", "c"}, {"d", "e", "ff"}}, true) == std::vector<std::string>{"a  bb  c", "d   e  ff"});
}

}  // namespace cozy
