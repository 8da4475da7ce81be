#include "collector/render/markdown.hpp"

#include <algorithm>

#include "collector/render/markdown_text.hpp"
#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

/// How many characters of a line are this one and have no backslash in front of them.
std::size_t count_bare(std::string_view line, char wanted) {
  std::size_t count = 0;
  bool escaped = false;
  for (const char c : line) {
    if (c == wanted && !escaped) ++count;
    escaped = c == '\\' && !escaped;
  }
  return count;
}

/// The lines of a table whose heading begins so.
std::vector<std::string> table(const std::string& text, const std::string& heading) {
  std::vector<std::string> rows;
  for (const std::string_view line : split_lines(text)) {
    if (rows.empty() ? line.starts_with(heading) : line.starts_with("|"))
      rows.emplace_back(line);
    else if (!rows.empty())
      break;
  }
  return rows;
}

}  // namespace

TEST_CASE("markdown: every character with a meaning is taken its meaning", "[render][markdown]") {
  CHECK(markdown_text("a|b`c*d_e[f](g)#h!i~j$k^l{m}") == "a\\|b\\`c\\*d\\_e\\[f\\](g)\\#h\\!i\\~j\\$k\\^l\\{m\\}");
  CHECK(markdown_text("<b>&amp;@x") == "&lt;b&gt;&amp;amp;&commat;x");
  CHECK(markdown_text("http://x www.y.z a::b") == "http&colon;//x www&period;y.z a&colon;:b");
  CHECK(markdown_text("::error::") == "&colon;:error&colon;:");
  CHECK(markdown_text(":::") == "&colon;&colon;:");
  CHECK(markdown_text("caf\\xc3 a\\b") == "caf\\\\xc3 a\\\\b");
  CHECK(markdown_bytes("a\nb\xff") == "a\\\\x0ab\\\\xff");
  CHECK(markdown_text("srv1 ran 12.5% (+- 0.1)") == "srv1 ran 12.5% (+- 0.1)");
  CHECK(markdown_row({"a", "", "b"}) == "| a |  | b |");
}

TEST_CASE("markdown: the verdict, two tables, findings and what is open", "[render][markdown]") {
  const std::string text = to_markdown(rendered::fixture("waited"));
  CHECK(text.starts_with("## cozybracket: the sandbox nodes waited for CPU: srv1..srv3 were runnable"));
  CHECK(text.find("\nSnapshot kubernetes, window 60.000 s (+- 0.003 s).\n") != std::string::npos);
  const auto runner = table(text, "| runner |");
  REQUIRE(runner.size() == 3);
  CHECK(runner[2].starts_with("| 4 CPUs | 69.4% | 60.5% |"));
  CHECK(runner[2].ends_with("| 5.3% (proved) |"));
  const auto nodes = table(text, "| node |");
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[0] == "| node | vcpus | ran | guest | waited | throttled | halted-or-other | exits |");
  CHECK(nodes[2] == "| srv1 | 2 | 55.0% | 49.5% | 33.0% | 0.0% | 12.0% | 28.3k/s |");
  CHECK(text.find("\n### Findings\n\n- **warning** nodes-waited: ") != std::string::npos);
  CHECK(
      text.find(
          "\n  - evidence: sandbox-qemu-thread-cpu, thread 902/904, run\\_delay\\_ns: 500000000 -&gt; 20300000000\n") !=
      std::string::npos);
  CHECK(text.find("\n### Open\n\nEvery capture that was asked for is complete.\n") != std::string::npos);
}

TEST_CASE("markdown: columns that no node has are left out, a part that one lacks is absent", "[render][markdown]") {
  NodeBudget one = hand_made::node("srv1", {0.5, 0.2, 0.2});
  one.cgroup = hand_made::throttled_at("/a", 1.0, 20.0);
  const NodeBudget two = hand_made::node("srv2", {0.5, std::nullopt});
  const auto rows = table(to_markdown(rendered::report_of(hand_made::analysis_of({one, two}))), "| node |");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == "| node | vcpus | ran | waited | throttled | halted | other | exits |");
  CHECK(rows[2] == "| srv1 | 2 | 50.0% | 20.0% | 10.0% | 20.0% | 10.0% | absent |");
  CHECK(rows[3] == "| srv2 | 2 | 50.0% | absent | absent | absent | 50.0% (waited-or-halted-or-other) | absent |");
}

TEST_CASE("markdown: what is no table is said", "[render][markdown]") {
  Analysis analysis;
  analysis.snapshot = "kubernetes";
  const std::string text = to_markdown(rendered::report_of(analysis));
  CHECK(text.starts_with("## cozybracket: no verdict\n"));
  CHECK(text.find("runner absent (runner-kernel-cpu-time was not asked for)") != std::string::npos);
  CHECK(text.find("nodes absent (sandbox-qemu-thread-cpu was not asked for)") != std::string::npos);
  const std::string two = to_markdown(rendered::fixture("two-snapshots"));
  CHECK(two.find("Snapshot kubernetes-b") < two.find("Snapshot kubernetes-a"));  // the worst first
  CHECK(two.find("\n- srv2, stopped (state T) in sample 2\n") != std::string::npos);
  CHECK(two.find("\n- runner-kernel-cpu-time sample 2: the report has no such file (") != std::string::npos);
  const std::string shell = to_markdown(rendered::fixture("shell"));
  CHECK(
      shell.find("canary sample 2: compute 2380952 iterations/s (30000000 iterations in 12600 ms), below its floor") !=
      std::string::npos);
}

TEST_CASE("markdown: bytes from outside stay in their cell and mean nothing", "[render][markdown]") {
  const auto names = rendered::hostile_names();
  const std::string text = to_markdown(rendered::with_names(names));
  CHECK(rendered::is_valid_utf8(text));
  CHECK_FALSE(rendered::has_control_bytes(text));
  CHECK(rendered::commands_in(text).empty());
  for (const char* never : {"<", "@", "::", "http://", "www.", "`"}) {
    INFO(never);
    const std::string_view bare(never);
    CHECK((bare == "`" ? count_bare(text, '`') == 0 : text.find(never) == std::string::npos));
  }
  const auto nodes = table(text, "| node |");
  REQUIRE(nodes.size() == names.size() + 2);
  for (const std::string& row : nodes) CHECK(count_bare(row, '|') == count_bare(nodes.front(), '|'));
  for (const std::string_view line : split_lines(text)) {
    INFO(line);
    const bool heading = line.starts_with("## ") || line.starts_with("### ");
    CHECK(count_bare(line, '#') == (heading ? line.find(' ') : 0));
    CHECK(count_bare(line, '[') == 0);
    CHECK((line.starts_with("- **") || count_bare(line, '*') == 0));
    CHECK(count_bare(line, '_') == 0);
  }
}

TEST_CASE("markdown: long lists have an end that is said", "[render][markdown]") {
  std::vector<NodeBudget> nodes(2000, hand_made::node("srv1", {0.5, 0.2}));
  Analysis analysis = hand_made::analysis_of(std::move(nodes));
  analysis.findings.assign(500, {"node-waited", Level::warning, "srv1", "waited", {}, "nothing", 0.5});
  analysis.findings.front().evidence.assign(100, {"c", "s", "f", std::nullopt, Value(std::uint64_t{1})});
  const std::string text = to_markdown(rendered::report_of(analysis));
  CHECK(text.find("- 1488 more nodes are in the JSON\n") != std::string::npos);
  CHECK(text.find("- 372 more findings are in the JSON\n") != std::string::npos);
  CHECK(text.find("  - evidence: c, s, f: absent -&gt; 1\n") != std::string::npos);
  CHECK(text.find("  - evidence: 92 more in the JSON\n") != std::string::npos);
}

TEST_CASE("markdown: the thresholds and the rules", "[render][markdown]") {
  RenderOptions options;
  options.explain = true;
  const std::string text = to_markdown({}, options);
  CHECK(table(text, "| threshold |").size() > 10);
  CHECK(table(text, "| finding |").size() > 10);
}

}  // namespace cozy
