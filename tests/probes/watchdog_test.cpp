#include "probes/watchdog.hpp"

#include <pthread.h>

#include <cerrno>
#include <thread>

#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

using State = Watchdog::State;
using What = Watchdog::What;

std::vector<Watchdog::Request> requests(const TemporaryTree& tree, std::initializer_list<const char*> names) {
  std::vector<Watchdog::Request> list;
  for (const char* name : names) list.push_back({tree.path(name)});
  return list;
}

TemporaryTree& write_abc(TemporaryTree& tree) {
  for (const char* name : {"a", "b", "c"}) tree.write(name, std::string("text of ") + name + "\n");
  return tree;
}

}  // namespace

TEST_CASE("answers come in the order of the requests, each with what was asked for", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  tree.write("d/x", "");
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());

  const auto answers = watchdog.read({{tree.path("b")},
                                      {tree.path("missing")},
                                      {tree.path("d"), What::listing, 10},
                                      {tree.path("d"), What::listing_with_modes, 10},
                                      {tree.path("a"), What::stream, 4},
                                      {tree.path("a"), What::symlink}});
  REQUIRE(answers.size() == 6);
  CHECK(answers[0].ok());
  CHECK(answers[0].file.text == "text of b\n");
  CHECK(answers[1].state == State::failed);
  CHECK(answers[1].error.code == ENOENT);
  CHECK(answers[1].vanished());
  REQUIRE(answers[2].entries.size() == 1);
  CHECK(answers[2].entries[0].name == "x");
  CHECK(answers[3].entries[0].mode != 0U);
  CHECK(answers[4].file.text == "text");
  CHECK(answers[4].file.cut);
  CHECK(answers[5].error.code == EINVAL);
  CHECK_FALSE(answers[5].vanished());
  CHECK(watchdog.abandoned() == 0);
}

TEST_CASE("no request, no answer, no thread", "[watchdog]") {
  FakeCalls calls("/nowhere");
  Watchdog watchdog(calls, patient());
  CHECK(watchdog.read(std::vector<Watchdog::Request>{}).empty());
  CHECK(calls.opened().empty());
}

TEST_CASE("one watchdog reads many batches, however large", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());
  for (int round = 0; round < 20; ++round) {
    const auto answers = watchdog.read(std::vector<Watchdog::Request>(50, {tree.path("a")}));
    REQUIRE(answers.size() == 50);
    REQUIRE(std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a.file.text == "text of a\n"; }));
  }
  CHECK(calls.opens_of("a") == 1000);
}

TEST_CASE("a stuck file costs one file: it is named, and those behind it are read", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  calls.hold("b");
  Watchdog watchdog(calls, impatient());

  const auto answers = watchdog.read(requests(tree, {"a", "b", "c"}));
  CHECK(answers[0].file.text == "text of a\n");
  CHECK(answers[1].state == State::stalled);
  CHECK(answers[1].error.subject == tree.path("b"));
  CHECK(answers[1].reason().starts_with("no answer within "));
  CHECK_FALSE(answers[1].vanished());
  CHECK(answers[2].file.text == "text of c\n");
  CHECK(watchdog.abandoned() == 1);
  CHECK(watchdog.read({tree.path("c")}).ok());
}

TEST_CASE("several stuck files cost one file each, the last one included", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  calls.hold("a");
  calls.hold("d");
  Watchdog watchdog(calls, impatient());

  const auto answers = watchdog.read({{tree.path("a")}, {tree.path("b")}, {tree.path("d"), What::listing}});
  CHECK(answers[0].state == State::stalled);
  CHECK(answers[1].ok());
  CHECK(answers[2].state == State::stalled);
  CHECK(watchdog.abandoned() == 2);
  CHECK(watchdog.read({tree.path("c")}).file.text == "text of c\n");
}

TEST_CASE("when the walk's bound is used up, the rest is not reached", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  calls.hold("a");
  Watchdog watchdog(calls, {60 * k_ns_per_second, 300 * k_ns_per_ms});

  const auto answers = watchdog.read(requests(tree, {"a", "b", "c"}));
  CHECK_FALSE(answers[0].ok());
  for (const std::size_t i : {1UL, 2UL}) {
    CHECK(answers[i].state == State::not_reached);
    CHECK(answers[i].reason().starts_with("not reached: "));
  }
  CHECK(calls.opens_of("b") == 0);

  const auto later = watchdog.read({tree.path("c")});
  CHECK(later.state == State::not_reached);
  CHECK(calls.opens_of("c") == 0);
}

TEST_CASE("a late answer touches nothing", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  calls.hold("a");
  Watchdog watchdog(calls, impatient());

  SECTION("not the batch that it was asked for in") {
    const auto answers = watchdog.read(requests(tree, {"a", "b"}));
    calls.let_go("a");
    calls.wait_until_idle();
    CHECK(calls.opens_of("a") == 1);  // it was read in the end
    CHECK(answers[0].state == State::stalled);
    CHECK(answers[0].file.text.empty());
    CHECK(answers[1].file.text == "text of b\n");
    CHECK(watchdog.read({tree.path("c")}).file.text == "text of c\n");
  }
  SECTION("not the next batch, while that is under way") {
    CHECK(watchdog.read({tree.path("a")}).state == State::stalled);
    calls.hold("b");
    std::thread helper([&] {
      calls.wait_until_held("b");
      calls.let_go("a");
      calls.let_go("b");
    });
    const auto answers = watchdog.read(requests(tree, {"b", "c"}));
    helper.join();
    // On a machine that stands still "b" may be late too, but it is never answered with "a".
    CHECK((answers[0].state == State::stalled || answers[0].file.text == "text of b\n"));
    CHECK((answers[1].state == State::stalled || answers[1].file.text == "text of c\n"));
  }
}

TEST_CASE("a worker that is left behind outlives its watchdog", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  calls.hold("a");
  {
    Watchdog watchdog(calls, impatient());
    CHECK(watchdog.read({tree.path("a")}).state == State::stalled);
  }
  calls.let_go("a");
  calls.wait_until_idle();
  CHECK(calls.opens_of("a") == 1);
}

TEST_CASE("a machine that gives no thread is said to give none", "[watchdog]") {
  TemporaryTree tree;
  write_abc(tree);
  FakeCalls calls(tree.directory());
  Watchdog watchdog(calls, patient());

  pthread_attr_t usual;
  pthread_attr_t impossible;
  REQUIRE(::pthread_getattr_default_np(&usual) == 0);
  REQUIRE(::pthread_getattr_default_np(&impossible) == 0);
  REQUIRE(::pthread_attr_setstacksize(&impossible, std::size_t{1} << 61U) == 0);
  REQUIRE(::pthread_setattr_default_np(&impossible) == 0);
  const auto answers = watchdog.read(requests(tree, {"a", "b"}));
  REQUIRE(::pthread_setattr_default_np(&usual) == 0);
  ::pthread_attr_destroy(&usual);
  ::pthread_attr_destroy(&impossible);

  for (const auto& answer : answers) {
    CHECK(answer.state == State::failed);
    CHECK(answer.error.code == EAGAIN);
    CHECK(answer.reason().starts_with("no thread could be started"));
  }
  CHECK(watchdog.read({tree.path("b")}).ok());
}
