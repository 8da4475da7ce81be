#include "collector/render/job_log.hpp"

#include <algorithm>

#include "collector/render/neutral.hpp"
#include "collector/render/sentences.hpp"
#include "collector/render/words.hpp"

namespace cozy {

namespace {

/// More nodes or findings than this are counted in one line.
constexpr std::size_t k_most_nodes = 64;
constexpr std::size_t k_most_findings = 64;

void add_node_lines(const Analysis& analysis, std::vector<std::string>& lines) {
  const ComparedPair* pair = analysis.pair(k_capture_threads);
  if (pair == nullptr) {
    lines.push_back("nodes absent (" + why_no_pair(analysis, k_capture_threads) + ")");
    return;
  }
  if (analysis.nodes.empty()) lines.emplace_back("nodes absent (no QEMU process is known in either sample)");
  const std::size_t shown = std::min(analysis.nodes.size(), k_most_nodes);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(node_sentence(analysis.nodes[i], pair->partial));
  if (shown < analysis.nodes.size()) {
    lines.push_back("nodes: " + std::to_string(analysis.nodes.size() - shown) + " more are in the report");
  }
}

void add_finding_lines(const Analysis& analysis, std::vector<std::string>& lines) {
  const std::size_t shown = std::min(analysis.findings.size(), k_most_findings);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back("finding " + finding_sentence(analysis.findings[i]));
  if (shown < analysis.findings.size()) {
    lines.push_back("finding: " + std::to_string(analysis.findings.size() - shown) + " more are in the report");
  }
}

}  // namespace

std::string job_log_line(const Shortfall& shortfall) {
  return std::string(k_job_log_prefix) + shortfall_sentence(shortfall);
}

std::vector<std::string> job_log(const Analysis& analysis) {
  std::vector<std::string> lines;
  if (analysis.last_sample >= 2) {
    if (!analysis.verdict.empty()) lines.push_back("verdict: " + neutral_escaped(analysis.verdict));
    lines.push_back("window " + window_text(analysis) + ", snapshot " + neutral(analysis.snapshot));
    lines.push_back(runner_sentence(analysis));
    if (analysis.pressure) lines.push_back(pressure_sentence(*analysis.pressure));
    add_node_lines(analysis, lines);
    lines.push_back(kvm_sentence(analysis));
    add_finding_lines(analysis, lines);
  }
  for (const Shortfall& shortfall : analysis.shortfalls) lines.push_back(shortfall_sentence(shortfall));
  for (std::string& line : lines) line.insert(0, k_job_log_prefix);
  return lines;
}

}  // namespace cozy
