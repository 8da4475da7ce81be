#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/verdict.hpp"
#include "collector/render/report_analysis.hpp"
#include "collector/report/open.hpp"
#include "probes/text.hpp"
#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

/// What the tests of the renderings share.
namespace cozy::rendered {

/// A report of fixtures/reports, analysed as the command does it.
inline ReportAnalysis fixture(const std::string& name) {
  const auto report = open_report((std::filesystem::path(COZY_FIXTURES) / "reports" / name).string());
  REQUIRE(report.ok());
  ReportAnalysis analysed = describe(*report);
  analysed.path = name;
  for (const Snapshot& snapshot : report->snapshots) analysed.snapshots.push_back(analyse(snapshot));
  sort_worst_first(analysed.snapshots);
  return analysed;
}

inline std::filesystem::path golden_folder() { return std::filesystem::path(COZY_FIXTURES).parent_path() / "golden"; }

inline std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline ReportAnalysis report_of(Analysis analysis) {
  ReportAnalysis report;
  report.path = "cozyreport.tgz";
  report.origin = "cozybracket";
  report.snapshots.push_back(std::move(analysis));
  return report;
}

/// Names in every place where bytes from outside can stand.
inline ReportAnalysis with_names(const std::vector<std::string>& names) {
  std::vector<NodeBudget> nodes;
  for (const std::string& name : names) {
    nodes.push_back(hand_made::node(name, {0.5, 0.2}));
    nodes.back().notes = {escape(name)};
    nodes.back().others = {{ThreadKind::worker, name, 7, hand_made::window(), 1.0, 0.0}};
    nodes.push_back(hand_made::node(name, {}));
    nodes.back().state = NodeState::no_process;
    nodes.back().notes = {escape(name)};
  }
  Analysis analysis = hand_made::judged(hand_made::analysis_of(std::move(nodes)));
  for (const std::string& name : names) {
    analysis.snapshot = name;
    analysis.runner->gone.push_back(name);
    analysis.captures.push_back(
        {"runner-kernel-cpu-time", 1, Outcome::partial, escape(name), {}, {}, {escape(name)}, name});
    analysis.shortfalls.push_back({"runner-kernel-cpu-time", 1, Outcome::partial, escape(name), escape(name), {}});
    analysis.findings.push_back({"node-waited",
                                 Level::warning,
                                 escape(name),
                                 escape(name) + " waited",
                                 {{"sandbox-qemu-thread-cpu", name, name, Value(name), Value(name)}},
                                 escape(name),
                                 0.5});
    analysis.shape.push_back({"machine", name, Value(name), Kind::instant});
  }
  analysis.verdict = escape(names.front());
  ReportAnalysis report = report_of(std::move(analysis));
  report.path = names.front();
  report.notes = {escape(names.front())};
  report.refused = {escape(names.front())};
  report.truncated = true;
  report.truncated_why = escape(names.front());
  report.canaries[report.snapshots.front().snapshot] = {
      {2,
       {{escape(names.front()), escape(names.front()), escape(names.front()), CanaryResult::rated, 10, 1, "MiB", 500,
         true}},
       {},
       {},
       false,
       names.front()}};
  return report;
}

/// Those that have done harm somewhere.
inline std::vector<std::string> hostile_names() {
  return {"::error::x",
          "  ::add-mask::a",
          "\xc2\xa0::debug::q",
          "##[group]b",
          "a\n::error::c",
          "a\xe2\x80\xa8::debug::d\xe2\x80\xa9"
          "e\xc2\x85"
          "f",
          "a|b`c*_[d](http://x)",
          "<script>alert(1)</script>",
          "<!-- @everyone #1 www.x.y ~~z~~ $q$ -->",
          "caf\xc3",
          "\xff\xfe\x00z",
          "\x1b[31mred\x1b]0;title\x07",
          "caf\xc3\xa9 \xe6\x9d\xb1\xe4\xba\xac",
          "back\\slash \"quote\"",
          "x ::warning y",
          std::string(3000, 'n')};
}

inline bool is_valid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    if (length == 0) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0U) != 0x80U) return false;
    }
    const bool too_short = (first == 0xe0 && byte(i + 1) < 0xa0) || (first == 0xf0 && byte(i + 1) < 0x90);
    const bool outside = (first == 0xed && byte(i + 1) > 0x9f) || (first == 0xf4 && byte(i + 1) > 0x8f);
    if (too_short || outside) return false;
    i += length;
  }
  return true;
}

/// Lines that the runner of GitHub Actions would obey: "::NAME::" behind white space, "##[NAME]" anywhere.
inline std::vector<std::string> commands_in(std::string_view text) {
  static constexpr std::array<std::string_view, 6> k_spaces{
      " ", "\t", "\xc2\xa0", "\xe2\x80\x83", "\xe3\x80\x80", "\xef\xbb\xbf"};
  std::vector<std::string> commands;
  for (const std::string_view whole : split_lines(text)) {
    std::string_view line = whole;
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view space : k_spaces) {
        if (!line.starts_with(space)) continue;
        line.remove_prefix(space.size());
        found = true;
      }
    }
    const bool begins = line.starts_with("::") && line.find("::", 2) != std::string_view::npos;
    if (begins || line.find("##[") != std::string_view::npos) commands.emplace_back(whole);
  }
  return commands;
}

/// Control bytes but for the line end, and what some readers take for one.
inline bool has_control_bytes(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) return true;
  }
  for (const char* separator : {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xc2\x85"}) {
    if (text.find(separator) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace cozy::rendered
