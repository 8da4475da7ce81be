#include "collector/render/sparkline.hpp"

#include "tests/catch.hpp"

namespace cozy {

namespace {

Analysis analysis_of(std::vector<double> steps, std::vector<std::optional<double>> ran, const std::string& name) {
  Analysis analysis;
  analysis.timeline.emplace();
  double seconds = 0;
  for (const double step : steps) seconds += step;
  analysis.timeline->end_ns = static_cast<std::int64_t>(seconds * 1e9);
  analysis.timeline->steps = std::move(steps);
  analysis.timeline->nodes.push_back({name, 1, std::move(ran)});
  return analysis;
}

}  // namespace

TEST_CASE("sparkline: a mark for each step, and a gap for what was not read") {
  const TimelineChart chart = timeline_chart(analysis_of({1, 1, 1, 1}, {0.0, 1.0, std::nullopt, 0.5}, "srv1"), 10);
  REQUIRE(chart.lines.size() == 1);
  CHECK(chart.lines.front() == "▁█.▅ srv1");
  CHECK(chart.heading.find("1.0 s a mark") != std::string::npos);
}

TEST_CASE("sparkline: a step whose ticks are missing leaves gaps") {
  const TimelineChart chart = timeline_chart(analysis_of({1, 6, 1, 1}, {1.0, 1.0, 1.0, 1.0}, "srv1"), 10);
  REQUIRE(chart.lines.size() == 1);
  CHECK(chart.lines.front() == "██.█ srv1");
}

TEST_CASE("sparkline: nothing without a timeline, and no more nodes than asked for") {
  CHECK(timeline_chart(Analysis(), 10).lines.empty());
  const TimelineChart chart = timeline_chart(analysis_of({1, 1}, {1.0, 1.0}, "srv1"), 0);
  CHECK(chart.lines.empty());
}

}  // namespace cozy
