#include "collector/analyse/compare.hpp"

#include "collector/analyse/shape_warnings.hpp"
#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

namespace cozy {

using namespace hand_made;

namespace {

Shares waited(double share) { return {0.5, share, 0.4 - share}; }

Analysis with_shape(Analysis analysis, const std::string& cpus, const std::string& model, const std::string& kernel) {
  const auto fact = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) analysis.shape.push_back({"machine", name, value, Kind::instant});
  };
  fact("cpus-online", cpus);
  fact("cpu-model", model);
  fact("kernel-release", kernel);
  return judged(std::move(analysis));
}

Analysis machine(std::vector<NodeBudget> nodes) {
  return with_shape(analysis_of(std::move(nodes)), "0-1", "Model A", "6.8.0");
}

const ComparedNumber* find(const Comparison& comparison, const std::string& subject, const std::string& what) {
  for (const ComparedNumber& number : comparison.numbers) {
    if (number.subject == subject && number.what == what) return &number;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("compare: what differs by more than its error") {
  Analysis green = machine({node("srv1", waited(0.02)), node("srv2", waited(0.02))});
  Analysis red = machine({node("srv1", waited(0.02)), node("srv2", waited(0.30))});
  const Comparison comparison = compare(green, red);
  CHECK(comparison.warnings.empty());
  const ComparedNumber* same = find(comparison, "srv1", "waited");
  const ComparedNumber* other = find(comparison, "srv2", "waited");
  REQUIRE(same != nullptr);
  REQUIRE(other != nullptr);
  CHECK_FALSE(same->differs);
  CHECK(other->differs);
  CHECK(std::abs(*other->change() - 0.28) < 1e-9);
  CHECK_FALSE(find(comparison, "runner", "user")->differs);
  REQUIRE(comparison.red_only.size() == 1);
  CHECK(comparison.red_only[0].id == "node-waited");
  CHECK(comparison.red_only[0].subject == "srv2");
  CHECK(comparison.green_only.size() == 1);  // nothing-unusual
  CHECK(comparison.red_verdict == red.verdict);
}

TEST_CASE("compare: an error that is as wide as the difference hides it") {
  Analysis green = machine({node("srv1", waited(0.05), window(12, 1))});
  Analysis red = machine({node("srv1", waited(0.056), window(12, 1))});
  CHECK_FALSE(find(compare(green, red), "srv1", "waited")->differs);
  red = machine({node("srv1", waited(0.08), window(12, 1))});
  CHECK(find(compare(green, red), "srv1", "waited")->differs);
  red = machine({node("srv1", waited(0.056))});
  green = machine({node("srv1", waited(0.05))});
  CHECK(find(compare(green, red), "srv1", "waited")->differs);
}

TEST_CASE("compare: a side that was not read is absent, and differs from nothing") {
  Analysis green = machine({node("srv1", {0.5, std::nullopt, 0.4}), node("srv2", waited(0.02))});
  Analysis red = machine({node("srv1", waited(0.3)), node("srv3", waited(0.3))});
  red.runner.reset();
  const Comparison comparison = compare(green, red);
  const ComparedNumber* waited_1 = find(comparison, "srv1", "waited");
  REQUIRE(waited_1 != nullptr);
  CHECK_FALSE(waited_1->green);
  CHECK(waited_1->red);
  CHECK_FALSE(waited_1->differs);
  CHECK_FALSE(waited_1->change());
  CHECK_FALSE(find(comparison, "runner", "user")->red);
  CHECK_FALSE(find(comparison, "srv3", "ran")->green);
  // Another number under another name, since it holds the waiting as well.
  CHECK(find(comparison, "srv1", "waited or other")->green);
  CHECK_FALSE(find(comparison, "srv1", "other")->green);
  // The numbers of a subject stand together.
  std::vector<std::string> subjects;
  for (const ComparedNumber& number : comparison.numbers) {
    if (subjects.empty() || subjects.back() != number.subject) subjects.push_back(number.subject);
  }
  CHECK(subjects == std::vector<std::string>{"runner", "srv1", "srv2", "srv3"});
}

TEST_CASE("compare: a window that cannot be judged gives no number") {
  const Analysis green = machine({node("srv1", waited(0.02), window(0.2))});
  const Analysis red = machine({node("srv1", waited(0.02))});
  CHECK_FALSE(find(compare(green, red), "srv1", "waited")->green);
}

TEST_CASE("compare: machines of another shape are warned of") {
  const std::vector<NodeBudget> nodes{node("srv1", waited(0.02)), node("srv2", waited(0.02))};
  const Analysis green = machine(nodes);
  const auto warnings = [&](const Analysis& red) {
    std::string text;
    for (const std::string& warning : shape_warnings(green, red)) text += warning + "\n";
    return text;
  };
  CHECK(warnings(machine(nodes)).empty());
  const std::string other = warnings(with_shape(analysis_of(nodes), "0-3", "Model\nB", "6.8.1"));
  CHECK(contains(other, "differ in CPUs: 2 and 4\n"));
  CHECK(contains(other, "differ in CPU model: Model A and Model\\x0aB\n"));
  CHECK(contains(other, "differ in kernel: 6.8.0 and 6.8.1\n"));
  CHECK(contains(warnings(machine({node("srv1", waited(0.02))})), "differ in nodes: 2 and 1\n"));
  std::vector<NodeBudget> smaller = nodes;
  smaller[1].vcpus.pop_back();
  CHECK(contains(warnings(machine(smaller)), "differ in vCPUs of srv2: 2 and 1\n"));
  // A report without runner-shape, as the shell writes it: the CPUs are known by their rows.
  const std::string unknown = warnings(judged(analysis_of(nodes)));
  CHECK(contains(unknown, "not known of both machines, so that they may differ: CPU model, kernel\n"));
  CHECK(contains(warnings(Analysis{}), "CPUs, CPU model, kernel, nodes\n"));
}

}  // namespace cozy
