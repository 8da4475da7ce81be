#include "collector/analyse/verdict.hpp"

#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

namespace cozy {

using namespace hand_made;

namespace {

Shares waited(double share) { return {0.5, share, 0.4 - share}; }

std::string verdict(Analysis analysis) { return judged(std::move(analysis)).verdict; }

}  // namespace

TEST_CASE("verdict: the layer that took the time, with the number that says so") {
  Analysis analysis = analysis_of({node("srv1", waited(0.31)), node("srv2", waited(0.31)), node("srv3", waited(0.31))});
  CHECK(verdict(analysis) ==
        "the sandbox nodes waited for CPU: srv1..srv3 were runnable and not running for 31 % of 100.0 s");
  SECTION("the heavier of two layers") {
    analysis.runner = runner(4000, 2000, StealVerdict::proved);
    CHECK(verdict(analysis).starts_with("the sandbox nodes waited for CPU"));
    analysis.runner = runner(4000, 8000, StealVerdict::proved);
    CHECK(verdict(analysis).starts_with("the machine under the runner held it back: steal took 40 %"));
  }
  SECTION("a warning before any notice, whatever the notice weighs") {
    analysis.pressure = Pressure{{0.9, {}, {}}, {}, {}};
    CHECK(verdict(analysis).starts_with("the sandbox nodes waited for CPU"));
  }
  SECTION("an open question does not hide a layer that was found") {
    analysis.shortfalls.push_back({"sandbox-kvm-exits", 2, Outcome::unavailable, "refused", "", std::nullopt});
    CHECK(verdict(analysis).starts_with("the sandbox nodes waited for CPU"));
  }
}

TEST_CASE("verdict: several subjects of the same finding") {
  const Shares idle{0.03, 0.0, 0.95};
  const std::string words = verdict(analysis_of({node("srv1", idle), node("srv2", idle), node("srv3", idle)}));
  CHECK(words.starts_with("a sandbox node waited for something that is not CPU: every vCPU of srv1 was halted"));
  CHECK(words.ends_with("; the same holds for srv2, srv3"));
}

TEST_CASE("verdict: what is open, where the report is incomplete") {
  Analysis analysis = analysis_of({node("srv1", waited(0.02))});
  analysis.runner.reset();
  analysis.shortfalls.push_back(
      {"runner-kernel-cpu-time", 2, Outcome::unavailable, "the read gave no row", "", std::nullopt});
  CHECK(verdict(analysis).starts_with(
      "what took the time is open: runner-kernel-cpu-time sample 2 is unavailable (the read gave no row): whether"));
  analysis.shortfalls.push_back({"sandbox-kvm-exits", 2, Outcome::unavailable, "refused", "", std::nullopt});
  CHECK(verdict(analysis).ends_with("; 1 more question is open"));
  SECTION("a notice does not claim to be the whole answer") {
    analysis.nodes[0] = node("srv1", {0.03, 0.0, 0.95});
    const std::string words = verdict(analysis);
    CHECK(words.starts_with("a sandbox node waited for something that is not CPU"));
    CHECK(contains(words, "; open: runner-kernel-cpu-time sample 2"));
  }
}

TEST_CASE("verdict: a steal that cannot be seen is open, and nothing else is") {
  Analysis analysis = analysis_of({node("srv1", waited(0.02))});
  analysis.runner = runner(4000, 0, StealVerdict::not_observable);
  CHECK(verdict(analysis).starts_with("nothing that was read took the time; open: steal did not climb"));
}

TEST_CASE("verdict: nothing unusual, and never without having read") {
  CHECK(verdict(analysis_of({node("srv1", waited(0.02))})).starts_with("nothing unusual: "));
  CHECK(verdict(Analysis{}).starts_with("what took the time is open: "));
  Analysis early;
  early.last_sample = 1;
  CHECK(verdict_of(early).empty());
}

TEST_CASE("verdict: the worst snapshot first") {
  const auto named = [](const std::string& name, Analysis analysis) {
    analysis.snapshot = name;
    return judged(std::move(analysis));
  };
  Analysis open = analysis_of({node("srv1", waited(0.02))});
  open.truncated = true;
  std::vector<Analysis> list{named("calm", analysis_of({node("srv1", waited(0.02))})), named("open", open),
                             named("bad", analysis_of({node("srv1", waited(0.12))})),
                             named("worse", analysis_of({node("srv1", waited(0.3))})),
                             named("halted", analysis_of({node("srv1", {0.03, 0.0, 0.95})}))};
  sort_worst_first(list);
  std::string order;
  for (const Analysis& analysis : list) order += analysis.snapshot + " ";
  CHECK(order == "worse bad halted open calm ");
}

}  // namespace cozy
