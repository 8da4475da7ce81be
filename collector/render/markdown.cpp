#include "collector/render/markdown.hpp"

#include <algorithm>
#include <array>

#include "collector/analyse/rules.hpp"
#include "collector/analyse/thresholds.hpp"
#include "collector/render/cgroup_sentences.hpp"
#include "collector/render/markdown_text.hpp"
#include "collector/render/node_kvm_text.hpp"
#include "collector/render/node_table.hpp"
#include "collector/render/sentences.hpp"
#include "collector/render/sparkline.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

// More of each is counted; all of them stand in the JSON.
constexpr std::size_t k_most_nodes = 512;
constexpr std::size_t k_most_findings = 128;
constexpr std::size_t k_most_evidence = 8;
constexpr std::size_t k_most_notes = 16;

constexpr std::array k_shown_columns{CpuColumn::user,   CpuColumn::guest,   CpuColumn::nice,
                                     CpuColumn::system, CpuColumn::idle,    CpuColumn::iowait,
                                     CpuColumn::irq,    CpuColumn::softirq, CpuColumn::steal};

/// A sentence of ours, whose outside bytes are neutral, as markdown.
std::string sentence(const std::string& neutral_words) { return markdown_text(neutral_words); }

class Page {
 public:
  void line(const std::string& text) { text_ += text + "\n"; }
  void paragraph(const std::string& text) { text_ += "\n" + text + "\n"; }
  void more(std::size_t all, std::size_t shown, const std::string& what) {
    if (all > shown) line("- " + std::to_string(all - shown) + " more " + what);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_runner(const Analysis& analysis, Page& page) {
  const bool shares = analysis.runner && analysis.runner->container_view.empty() && analysis.runner->runner &&
                      analysis.runner->runner->total_ticks.value_or(0) > 0;
  if (!shares) {
    page.paragraph(sentence(runner_sentence(analysis)));
  } else {
    const CpuTime& time = *analysis.runner;
    std::vector<std::string> names{"runner"};
    std::vector<std::string> rule{"---"};
    std::vector<std::string> cells{std::to_string(time.cpus.size()) + " CPUs"};
    for (const CpuColumn column : k_shown_columns) {
      names.emplace_back(column == CpuColumn::guest ? "of it guest" : column_name(column));
      rule.emplace_back("---:");
      cells.push_back(column_cell(*time.runner, column));
    }
    cells.back() += " (" + std::string(verdict_name(time.steal)) + ")";
    page.paragraph(markdown_row(names));
    page.line(markdown_row(rule));
    page.line(markdown_row(cells));
    const std::string sets = cpu_sets_text(time);
    if (!sets.empty()) page.paragraph(sentence("CPUs" + sets));
  }
  if (analysis.pressure)
    page.paragraph(sentence(pressure_sentence(*analysis.pressure) + pressure_averages(*analysis.pressure)));
}

void add_nodes(const Analysis& analysis, Page& page) {
  if (analysis.pair(k_capture_threads) == nullptr) {
    page.paragraph(sentence("nodes absent (" + why_no_pair(analysis, k_capture_threads) + ")"));
    return;
  }
  if (analysis.nodes.empty()) page.paragraph("nodes absent (no QEMU process is known in either sample)");
  const NodeTable table = node_table(analysis, k_most_nodes);
  page.line("");
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(sentence(cell));
    page.line(markdown_row(cells));
    if (&row != &table.rows.front()) continue;
    std::vector<std::string> rule(row.size(), "---:");
    rule.front() = "---";
    page.line(markdown_row(rule));
  }
  if (!table.rows.empty() && !table.remarks.empty()) page.line("");
  for (const std::string& remark : table.remarks) page.line("- " + sentence(remark));
  page.more(table.left_out, 0, "nodes are in the JSON");
}

void add_timeline(const Analysis& analysis, Page& page) {
  const TimelineChart chart = timeline_chart(analysis, k_most_nodes);
  if (chart.lines.empty()) return;
  page.paragraph(sentence("timeline: " + chart.heading) + "\n");
  page.line("```text");
  for (const std::string& line : chart.lines) page.line(line);
  page.line("```");
}

/// What KVM's statistics show of each node beside its time.
void add_kvm(const Analysis& analysis, Page& page) {
  const std::size_t shown = std::min(analysis.nodes.size(), k_most_nodes);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string values = vm_values_text(analysis.nodes[i]);
    if (!values.empty()) page.paragraph("Values of KVM that are no rate, " + sentence(values));
  }
  for (const std::string& values : other_vm_values(analysis))
    page.paragraph("Values of KVM that are no rate, " + sentence(values));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto chart = halt_chart(analysis.nodes[i]);
    if (!chart) continue;
    page.paragraph(sentence(chart->heading) + "\n");
    page.line("```text");
    for (const std::string& line : chart->lines) page.line(line);
    page.line("```");
  }
}

void add_evidence(const Finding& finding, Page& page) {
  const std::size_t shown = std::min(finding.evidence.size(), k_most_evidence);
  for (std::size_t i = 0; i < shown; ++i) {
    page.line("  - evidence: " + sentence(evidence_text(finding.evidence[i])));
  }
  if (finding.evidence.size() > shown) {
    page.line("  - evidence: " + std::to_string(finding.evidence.size() - shown) + " more in the JSON");
  }
}

void add_findings(const Analysis& analysis, Page& page) {
  if (analysis.findings.empty()) return;
  page.paragraph("### Findings");
  page.line("");
  const std::size_t shown = std::min(analysis.findings.size(), k_most_findings);
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = analysis.findings[i];
    page.line("- **" + std::string(level_name(finding.level)) + "** " + sentence(finding_sentence(finding)));
    add_evidence(finding, page);
    const bool said = i + 1 < shown && analysis.findings[i + 1].id == finding.id;  // once for several of a kind
    if (!said && !finding.does_not_prove.empty()) page.line("  - " + sentence(finding.does_not_prove));
  }
  page.more(analysis.findings.size(), shown, "findings are in the JSON");
}

void add_open(const Analysis& analysis, Page& page) {
  page.paragraph("### Open");
  page.line("");
  for (const Shortfall& shortfall : analysis.shortfalls) page.line("- " + sentence(open_sentence(shortfall)));
  if (analysis.shortfalls.empty()) page.line("Every capture that was asked for is complete.");
}

void add_list(const std::string& heading, const std::vector<std::string>& words, Page& page) {
  if (words.empty()) return;
  page.paragraph("### " + heading);
  page.line("");
  const std::size_t shown = std::min(words.size(), k_most_notes);
  for (std::size_t i = 0; i < shown; ++i) page.line("- " + sentence(words[i]));
  page.more(words.size(), shown, "are in the JSON");
}

void add_explanation(Page& page) {
  page.paragraph("### Thresholds");
  page.paragraph("| threshold | value | means |");
  page.line("| --- | ---: | --- |");
  for (const ThresholdEntry& entry : thresholds()) {
    page.line(markdown_row({markdown_text(entry.name), threshold_value_text(entry), markdown_text(entry.means)}));
  }
  page.paragraph("### Rules");
  page.paragraph("| finding | when | does not prove |");
  page.line("| --- | --- | --- |");
  for (const Rule& rule : rules()) {
    page.line(markdown_row({markdown_text(rule.id), markdown_text(rule.when), markdown_text(rule.does_not_prove)}));
  }
}

void add_snapshot(const ReportAnalysis& report, const Analysis& analysis, Page& page) {
  const std::string verdict = analysis.verdict.empty() ? "no verdict" : analysis.verdict;
  page.line("## cozybracket: " + markdown_text(verdict));
  page.paragraph("Snapshot " + markdown_bytes(analysis.snapshot) + ", window " + sentence(window_text(analysis)) + ".");
  const std::vector<std::string>& markers = report.markers_of(analysis);
  if (!markers.empty()) page.paragraph(sentence("marker " + some_names(markers)));
  add_runner(analysis, page);
  add_nodes(analysis, page);
  add_timeline(analysis, page);
  add_list("Cgroups", cgroup_sentences(analysis), page);
  page.paragraph(sentence(kvm_sentence(analysis)));
  add_kvm(analysis, page);
  for (const std::string& canary : canary_sentences(report.canaries_of(analysis))) page.paragraph(sentence(canary));
  add_findings(analysis, page);
  add_open(analysis, page);
}

}  // namespace

std::string to_markdown(const ReportAnalysis& report, const RenderOptions& options) {
  Page page;
  for (const Analysis& analysis : report.snapshots) {
    if (&analysis != &report.snapshots.front()) page.line("");
    add_snapshot(report, analysis, page);
  }
  if (report.truncated) page.paragraph(sentence(truncated_sentence(report)));
  add_list("Not read", report.notes, page);
  add_list("Left alone", report.refused, page);
  if (options.explain) add_explanation(page);
  return page.take();
}

}  // namespace cozy
