#include "collector/render/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "collector/render/neutral.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_marks = 60;
constexpr std::array<std::string_view, 8> k_marks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view k_gap = ".";

struct Mark {
  double sum = 0;
  double seconds = 0;
};

std::string mark_text(const Mark& mark) {
  if (mark.seconds <= 0) return std::string(k_gap);
  const double share = std::clamp(mark.sum / mark.seconds, 0.0, 1.0);
  const auto level = static_cast<std::size_t>(share * static_cast<double>(k_marks.size()));
  return std::string(k_marks[std::min(level, k_marks.size() - 1)]);
}

/// Each step counts where its middle lies: a long one, whose ticks are missing, leaves a gap beside it.
std::string line_of(const TimelineFacts& facts, const NodeSteps& node, std::size_t count) {
  std::vector<Mark> marks(count);
  double begin = 0;
  for (std::size_t i = 0; i < facts.steps.size(); ++i) {
    const double middle = begin + facts.steps[i] / 2;
    begin += facts.steps[i];
    if (i >= node.ran.size() || !node.ran[i]) continue;
    const auto place = static_cast<std::size_t>(middle / facts.seconds() * static_cast<double>(count));
    Mark& mark = marks[std::min(place, count - 1)];
    mark.sum += *node.ran[i] * facts.steps[i];
    mark.seconds += facts.steps[i];
  }
  std::string line;
  for (const Mark& mark : marks) line += mark_text(mark);
  return line + " " + neutral_escaped(node.node);
}

}  // namespace

TimelineChart timeline_chart(const Analysis& analysis, std::size_t most) {
  TimelineChart chart;
  if (!analysis.timeline || analysis.timeline->nodes.empty()) return chart;
  const TimelineFacts& facts = *analysis.timeline;
  const std::size_t count = std::min(facts.steps.size(), k_most_marks);
  for (const NodeSteps& node : facts.nodes) {
    if (chart.lines.size() < most) chart.lines.push_back(line_of(facts, node, count));
  }
  chart.heading = "ran, from none (" + std::string(k_marks.front()) + ") to all (" + std::string(k_marks.back()) +
                  ") of the vCPUs' time, over " + fixed(facts.seconds(), 1) + " s of the timeline, " +
                  fixed(facts.seconds() / static_cast<double>(count), 1) + " s a mark (" + std::string(k_gap) +
                  " was not read)";
  if (facts.slowed) chart.heading += "; read less often towards its end, for the sake of its size";
  const std::size_t left_out = facts.nodes.size() - chart.lines.size();
  if (left_out > 0) chart.heading += "; " + std::to_string(left_out) + " more nodes";
  return chart;
}

}  // namespace cozy
