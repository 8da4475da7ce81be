#include "collector/render/openmetrics.hpp"

#include <set>
#include <string>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/render/rendered.hpp"

using namespace cozy;

namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

/// srv1 in a cgroup under a quota, alone or with another node.
Analysis with_cgroup(std::size_t nodes) {
  NodeBudget node = hand_made::node("srv1", {0.5, 0.2});
  node.cgroup.emplace();
  node.cgroup->path = "/vm a\"b\\";
  node.cgroup->limited = true;
  node.cgroup->nodes = nodes;
  Analysis analysis = hand_made::analysis_of({node});
  const Stamp first{1, 1764581800'900000000};
  const Stamp second{2, 1764581861'100000000};
  analysis.captures.push_back({"sandbox-vm-cgroup-cpu", 1, Outcome::complete, "", first, first, {}, ""});
  analysis.captures.push_back({"sandbox-vm-cgroup-cpu", 2, Outcome::complete, "", second, second, {}, ""});
  const std::string scope = "cgroup /vm a\"b\\";
  const auto row = [&](const char* field, std::uint64_t before, std::uint64_t after) {
    return ComparedRow{scope, field, Kind::cumulative, Change::rate, before, after, 1.0};
  };
  analysis.pairs.push_back({"sandbox-vm-cgroup-cpu", hand_made::window(), false,
                            ComparedRows({row("usage_usec", 1'016'506, 2'000'000), row("nr_periods", 10, 40),
                                          row("nr_throttled", 5, 25), row("throttled_usec", 1, 1'000'001)})});
  return analysis;
}

}  // namespace

TEST_CASE("openmetrics: cAdvisor's names for a node's cgroup, exact and escaped", "[render][openmetrics]") {
  const std::string text = to_openmetrics(rendered::report_of(with_cgroup(1)));
  const std::string labels = R"({snapshot="kubernetes",id="/vm a\"b\\x5c",name="srv1"})";
  CHECK(has_line(text, "container_cpu_usage_seconds_total" + labels + " 1.016506 1764581800"));
  CHECK(text.find(" 1.016506 1764581800\n") != std::string::npos);
  CHECK(text.find(" 2 1764581861\n") != std::string::npos);
  CHECK(text.find("container_cpu_cfs_throttled_seconds_total") != std::string::npos);
  CHECK(text.find(" 1.000001 1764581861\n") != std::string::npos);
  CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("openmetrics: both samples stand there, also those of one second", "[render][openmetrics]") {
  Analysis analysis = with_cgroup(1);
  for (CaptureState& state : analysis.captures) {
    if (state.sample == 2) state.end->epoch_ns = 1764581800'950000000;
  }
  const std::string text = to_openmetrics(rendered::report_of(analysis));
  CHECK(text.find(" 1.016506 1764581800\n") != std::string::npos);
  CHECK(text.find(" 2 1764581801\n") != std::string::npos);
}

TEST_CASE("openmetrics: a shared cgroup is no node's own, and no quota makes no periods", "[render][openmetrics]") {
  CHECK(to_openmetrics(rendered::report_of(with_cgroup(3))).find("name=\"srv1\"") == std::string::npos);
  Analysis free = with_cgroup(1);
  free.nodes[0].cgroup->limited = false;
  const std::string text = to_openmetrics(rendered::report_of(free));
  CHECK(text.find("container_cpu_usage_seconds_total{") != std::string::npos);
  CHECK(text.find("cfs") == std::string::npos);
}

TEST_CASE("openmetrics: usage of version 1 is of the cgroup that keeps it", "[render][openmetrics]") {
  const auto text_of = [](const std::string& path, const std::string& usage_path, std::size_t usage_nodes) {
    Analysis analysis = with_cgroup(1);
    NodeCgroup& cgroup = *analysis.nodes[0].cgroup;
    cgroup.version = 1;
    cgroup.path = path;
    cgroup.usage_path = usage_path;
    cgroup.usage_nodes = usage_nodes;
    const std::string scope = "cpuacct " + (usage_path.empty() ? path : usage_path);
    analysis.pairs.back().rows = ComparedRows({ComparedRow{scope, "cpuacct.usage", Kind::cumulative, Change::rate,
                                                           std::uint64_t{1'000'000'001}, std::uint64_t{2}, 1.0}});
    return to_openmetrics(rendered::report_of(analysis));
  };
  const std::string usage = "container_cpu_usage_seconds_total";
  CHECK(
      has_line(text_of("/a", "", 1), usage + R"({snapshot="kubernetes",id="/a",name="srv1"} 1.000000001 1764581800)"));
  CHECK(has_line(text_of("/a", "/b", 1),
                 usage + R"({snapshot="kubernetes",id="/b",name="srv1"} 1.000000001 1764581800)"));
  CHECK(has_line(text_of("/a", "/b", 2), usage + R"({snapshot="kubernetes",id="/b"} 1.000000001 1764581800)"));
  CHECK(has_line(text_of("/a", "/", 1), usage + R"({snapshot="kubernetes",id="/"} 1.000000001 1764581800)"));
}

TEST_CASE("openmetrics: every line is a comment or a sample, whatever the names hold", "[render][openmetrics]") {
  const std::string text = to_openmetrics(rendered::with_names(rendered::hostile_names()));
  CHECK(rendered::is_valid_utf8(text));
  for (const std::string_view line : split_lines(text)) {
    const bool comment = line.starts_with("# ");
    const bool sample = line.starts_with("container_") || line.starts_with("cozybracket_");
    CHECK((comment || sample));
    CHECK(line.find('\x1b') == std::string_view::npos);
  }
}

TEST_CASE("openmetrics: a metric's lines stand together and no series has a second twice", "[render][openmetrics]") {
  ReportAnalysis report = rendered::fixture("two-snapshots");
  report.snapshots.push_back(report.snapshots.front());
  const std::string text = to_openmetrics(report);
  std::set<std::string> finished;
  std::set<std::string> samples;
  std::string current;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("#")) continue;
    const std::string name(line.substr(0, line.find('{')));
    if (name != current) {
      CHECK_FALSE(finished.contains(name));
      finished.insert(current);
      current = name;
    }
    const std::size_t close = line.rfind('}');
    const auto words = split_words(line.substr(close + 1));
    REQUIRE(!words.empty());
    const std::string second = words.size() > 1 ? std::string(words[1]) : "";
    CHECK(samples.insert(std::string(line.substr(0, close)) + second).second);
  }
}
