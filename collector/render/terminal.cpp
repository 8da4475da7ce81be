#include "collector/render/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "collector/analyse/rules.hpp"
#include "collector/render/cgroup_sentences.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/node_kvm_text.hpp"
#include "collector/render/node_table.hpp"
#include "collector/render/sentences.hpp"
#include "collector/render/sparkline.hpp"
#include "collector/render/text_layout.hpp"
#include "collector/render/words.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

// More of each is counted; all of them stand in the JSON.
constexpr std::size_t k_most_nodes = 64;
constexpr std::size_t k_most_findings = 64;
constexpr std::size_t k_most_evidence = 4;
constexpr std::size_t k_most_notes = 16;

constexpr std::size_t k_least_width = 40;
constexpr std::size_t k_widest_name = 24;
constexpr std::size_t k_label = 10;  ///< columns that a label takes with its blanks

// SGR parameters, see console_codes(4).
constexpr std::string_view k_bold = "1";
constexpr std::string_view k_faint = "2";
constexpr std::string_view k_red = "31";
constexpr std::string_view k_green = "32";
constexpr std::string_view k_yellow = "33";

/// One part of a bar: a character of its own, so that colour is not needed.
struct BarPart {
  char character;
  std::string_view colour;
};

constexpr BarPart k_ran{'#', k_green};
constexpr BarPart k_waited{'=', k_red};
constexpr BarPart k_halted{'.', k_faint};
constexpr BarPart k_rest{'~', k_yellow};

std::string_view colour_of(Level level) {
  switch (level) {
    case Level::warning:
      return k_red;
    case Level::notice:
      return k_yellow;
    case Level::info:
      return k_faint;
  }
  return k_faint;
}

class Screen {
 public:
  explicit Screen(const RenderOptions& options)
      : width_(std::max(options.width, k_least_width)), colour_(options.colour) {}

  [[nodiscard]] std::size_t width() const { return width_; }

  [[nodiscard]] std::string painted(std::string_view text, std::string_view colour) const {
    if (!colour_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(colour) + "m" + std::string(text) + "\x1b[0m";
  }

  void line(const std::string& text = {}) { text_ += text + "\n"; }

  /// Wrapped behind an indent, with a label in front of the first line.
  void labelled(const std::string& label, const std::string& text, std::size_t indent, std::string_view colour = {}) {
    const std::size_t room = width_ > indent + 20 ? width_ - indent : 20;
    std::string head = label + std::string(indent > display_width(label) ? indent - display_width(label) : 0, ' ');
    if (!colour.empty()) head = painted(label, colour) + head.substr(label.size());
    for (const std::string& piece : wrapped(text, room)) {
      line(head + neutral_escaped(piece));  // its begin may be the begin of a line now
      head = std::string(indent, ' ');
    }
  }

  void more(std::size_t all, std::size_t shown, const std::string& what) {
    if (all > shown) line("  " + std::to_string(all - shown) + " more " + what);
  }

  std::string take() { return std::move(text_); }

 private:
  std::size_t width_;
  bool colour_;
  std::string text_;
};

/// The parts in their order along the bar; what a node lacks takes no room.
std::string bar(const TimeParts& parts, std::size_t columns, const Screen& screen) {
  const std::array<std::pair<BarPart, std::optional<double>>, 4> shown{{{k_ran, parts.share(parts.ran_seconds)},
                                                                        {k_waited, parts.share(parts.waited_seconds)},
                                                                        {k_halted, parts.share(parts.halted_seconds)},
                                                                        {k_rest, parts.share(parts.rest_seconds)}}};
  std::string text;
  double share = 0;
  std::size_t from = 0;
  for (const auto& [part, of_it] : shown) {
    share += of_it.value_or(0);
    const auto until = std::min(static_cast<std::size_t>(std::llround(share * static_cast<double>(columns))), columns);
    if (until > from) text += screen.painted(std::string(until - from, part.character), part.colour);
    from = std::max(from, until);
  }
  return text;
}

void add_bars(const std::vector<const NodeBudget*>& nodes, std::vector<std::string>& lines, Screen& screen) {
  constexpr std::size_t k_widest_bar = 40;
  constexpr std::size_t k_narrowest_bar = 10;
  std::size_t widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, display_width(line));
  if (widest + 2 + k_narrowest_bar + 2 > screen.width()) return;
  const std::size_t columns = std::min(screen.width() - widest - 4, k_widest_bar);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::string& line = lines[i + 1];  // below the heading
    line += std::string(widest - display_width(line), ' ') + "  [" + bar(nodes[i]->sum, columns, screen) + "]";
  }
}

/// What the characters of the bars mean; parts that no node has are left out.
void add_bar_key(const NodeTable& table, Screen& screen) {
  const auto has = [&table](std::optional<double> TimeParts::*part) {
    return std::any_of(table.nodes.begin(), table.nodes.end(),
                       [&](const NodeBudget* node) { return (node->sum.*part).has_value(); });
  };
  std::string key;
  const auto add = [&](const BarPart& part, std::string_view name) {
    key += "  " + screen.painted(std::string(1, part.character), part.colour) + " " + std::string(name);
  };
  if (has(&TimeParts::ran_seconds)) add(k_ran, "ran");
  if (has(&TimeParts::waited_seconds)) add(k_waited, "waited");
  if (has(&TimeParts::halted_seconds)) add(k_halted, "halted");
  add(k_rest, table.rest);
  screen.line(key);
}

void add_nodes(const Analysis& analysis, Screen& screen) {
  if (analysis.pair(k_capture_threads) == nullptr) {
    screen.labelled("nodes", "absent (" + why_no_pair(analysis, k_capture_threads) + ")", k_label);
    return;
  }
  if (analysis.nodes.empty()) screen.labelled("nodes", "absent (no QEMU process is known in either sample)", k_label);
  NodeTable table = node_table(analysis, k_most_nodes);
  for (auto& row : table.rows) row.front() = clipped(row.front(), k_widest_name);
  screen.line();
  if (!table.nodes.empty()) {
    std::vector<std::string> lines = aligned(table.rows, false);
    add_bars(table.nodes, lines, screen);
    for (const std::string& line : lines) screen.line(line);
    add_bar_key(table, screen);
  }
  for (const std::string& remark : table.remarks) screen.labelled("  -", remark, 4);
  screen.more(table.left_out, 0, "nodes are in the JSON");
}

/// What KVM's statistics show of each node beside its time.
void add_kvm(const Analysis& analysis, Screen& screen) {
  const std::size_t shown = std::min(analysis.nodes.size(), k_most_nodes);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < shown; ++i) values.push_back(vm_values_text(analysis.nodes[i]));
  for (std::string& other : other_vm_values(analysis)) values.push_back(std::move(other));
  std::erase(values, "");
  if (!values.empty()) {
    screen.line();
    screen.line("values of KVM that are no rate");
  }
  for (const std::string& value : values) screen.labelled("  -", value, 4);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto chart = halt_chart(analysis.nodes[i]);
    if (!chart) continue;
    screen.line();
    screen.line(chart->heading);
    for (const std::string& line : chart->lines) screen.line("  " + line);
  }
}

void add_timeline(const Analysis& analysis, Screen& screen) {
  const TimelineChart chart = timeline_chart(analysis, k_most_nodes);
  if (chart.lines.empty()) return;
  screen.line();
  screen.labelled("timeline", chart.heading, k_label);
  for (const std::string& line : chart.lines) screen.line("  " + line);
}

/// "runner 24 cpus: ..." under its label.
std::string without_first_word(const std::string& sentence) {
  const std::size_t blank = sentence.find(' ');
  return blank == std::string::npos ? sentence : sentence.substr(blank + 1);
}

void add_findings(const Analysis& analysis, Screen& screen) {
  if (analysis.findings.empty()) return;
  screen.line();
  screen.line("findings");
  const std::size_t shown = std::min(analysis.findings.size(), k_most_findings);
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = analysis.findings[i];
    constexpr std::size_t k_indent = 11;
    screen.labelled("  " + std::string(level_name(finding.level)), finding_sentence(finding), k_indent,
                    colour_of(finding.level));
    const std::size_t evidence = std::min(finding.evidence.size(), k_most_evidence);
    for (std::size_t e = 0; e < evidence; ++e) {
      screen.labelled(std::string(k_indent, ' ') + "evidence: ", evidence_text(finding.evidence[e]), k_indent + 10);
    }
    if (finding.evidence.size() > evidence) {
      screen.line(std::string(k_indent, ' ') + "evidence: " + std::to_string(finding.evidence.size() - evidence) +
                  " more in the JSON");
    }
    const bool said = i + 1 < shown && analysis.findings[i + 1].id == finding.id;  // once for several of a kind
    if (!said) screen.labelled("", neutral_escaped(finding.does_not_prove), k_indent);
  }
  screen.more(analysis.findings.size(), shown, "findings are in the JSON");
}

void add_list(const std::string& heading, const std::vector<std::string>& words, Screen& screen) {
  if (words.empty()) return;
  screen.line();
  screen.line(heading);
  const std::size_t shown = std::min(words.size(), k_most_notes);
  for (std::size_t i = 0; i < shown; ++i) screen.labelled("  -", neutral_escaped(words[i]), 4);
  screen.more(words.size(), shown, "are in the JSON");
}

void add_snapshot(const ReportAnalysis& report, const Analysis& analysis, Screen& screen) {
  const std::string verdict = analysis.verdict.empty() ? "no verdict" : neutral_escaped(analysis.verdict);
  screen.line(screen.painted("verdict: " + verdict, k_bold));
  screen.line();
  screen.labelled("snapshot", neutral(analysis.snapshot), k_label);
  const std::vector<std::string>& markers = report.markers_of(analysis);
  if (!markers.empty()) screen.labelled("marker", some_names(markers), k_label);
  screen.labelled("window", window_text(analysis), k_label);
  screen.labelled("runner", without_first_word(runner_sentence(analysis)), k_label);
  if (analysis.pressure) {
    const std::string words = pressure_sentence(*analysis.pressure) + pressure_averages(*analysis.pressure);
    screen.labelled("pressure", without_first_word(words), k_label);
  }
  screen.labelled("kvm", without_first_word(kvm_sentence(analysis)), k_label);
  for (const std::string& canary : canary_sentences(report.canaries_of(analysis))) {
    screen.labelled("canary", without_first_word(canary), k_label);
  }
  add_nodes(analysis, screen);
  add_timeline(analysis, screen);
  add_list("cgroups", cgroup_sentences(analysis), screen);
  add_kvm(analysis, screen);
  add_findings(analysis, screen);
  std::vector<std::string> open;
  for (const Shortfall& shortfall : analysis.shortfalls) open.push_back(open_sentence(shortfall));
  add_list("open", open, screen);
}

/// The lines carry their own indent; what of one goes on stands behind it.
void add_explanation(Screen& screen) {
  constexpr std::size_t k_further = 4;
  for (const std::string& line : explain()) {
    const std::string indent(std::min(line.find_first_not_of(' '), line.size()), ' ');
    std::string head = indent;
    for (const std::string& piece : wrapped(line, screen.width() - indent.size() - k_further)) {
      screen.line(head + piece);
      head = indent + std::string(k_further, ' ');
    }
  }
}

}  // namespace

std::string to_terminal(const ReportAnalysis& report, const RenderOptions& options) {
  Screen screen(options);
  for (const Analysis& analysis : report.snapshots) {
    if (&analysis != &report.snapshots.front()) screen.line();
    add_snapshot(report, analysis, screen);
  }
  if (report.truncated) {
    screen.line();
    screen.labelled("", truncated_sentence(report), 0);
  }
  add_list("not read", report.notes, screen);
  add_list("left alone", report.refused, screen);
  if (options.explain && !report.snapshots.empty()) screen.line();
  if (options.explain) add_explanation(screen);
  return screen.take();
}

}  // namespace cozy
