// What the live line says. That it is drawn, and where not, is in tests/live.bats.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "collector/live_line.hpp"
#include "collector/run/live_board.hpp"
#include "probes/clock.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

LiveNumbers numbers_of(std::size_t nodes) {
  LiveNumbers numbers;
  numbers.at_ns = 1;
  numbers.busy = 0.934;
  numbers.steal = 0.021;
  numbers.nodes = nodes;
  for (std::size_t i = 0; i < nodes && i < numbers.node.size(); ++i) {
    numbers.node.at(i).set_name("srv" + std::to_string(i + 1));
    numbers.node.at(i).ran = 0.5;
    numbers.node.at(i).waited = 0.25;
  }
  return numbers;
}

}  // namespace

TEST_CASE("live line: elapsed, runner, nodes") {
  CHECK(live_text(12 * k_ns_per_second, 2, numbers_of(2), 200) ==
        "cozybracket 12 s | runner busy 93% steal 2% | srv1 ran 50% waited 25% | srv2 ran 50% waited 25%");
  CHECK(live_text(0, 0, std::nullopt, 80) == "cozybracket 0 s");
}

TEST_CASE("live line: what is not known is left out, and an old reading is none") {
  LiveNumbers numbers = numbers_of(0);
  numbers.steal = 0;  // proves nothing
  CHECK(live_text(0, 2, numbers, 80) == "cozybracket 0 s | runner busy 93%");
  numbers.steal = -1;
  CHECK(live_text(0, 2, numbers, 80) == "cozybracket 0 s | runner busy 93%");
  numbers.busy = -1;
  CHECK(live_text(0, 2, numbers, 80) == "cozybracket 0 s");
  CHECK(live_text(0, 1 + 7 * k_ns_per_second, numbers_of(3), 80) == "cozybracket 0 s | no reading for 7 s");
}

TEST_CASE("live line: never wider than asked, and whoever has no room is counted") {
  for (const std::size_t nodes : {0U, 1U, 3U, 16U, 200U}) {
    for (std::size_t width = 0; width < 500; ++width) {
      const std::string text = live_text(5 * k_ns_per_second, 2, numbers_of(nodes), width);
      REQUIRE(text.size() <= width);
    }
  }
  CHECK(live_text(0, 2, numbers_of(3), 70) == "cozybracket 0 s | runner busy 93% steal 2% | +3");
  CHECK(live_text(0, 2, numbers_of(200), 1000).ends_with(" | +184"));
}

TEST_CASE("live line: names are printable, and cut") {
  LiveNode node;
  node.set_name("a\x1b[2J\r\n\xc3\xa4 b");
  CHECK(std::string(node.name.data()) == "a?[2J???? b");
  node.set_name(std::string(100, 'x'));
  CHECK(std::string(node.name.data()) == std::string(23, 'x'));
}

TEST_CASE("live board: nothing before the first tick, then what another process has told") {
  LiveBoard board;
  CHECK_FALSE(board.read());
  const pid_t child = ::fork();
  if (child == 0) {
    board.write(numbers_of(2));
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  const auto numbers = board.read();
  REQUIRE(numbers);
  CHECK(numbers->nodes == 2);
  CHECK(std::string(numbers->node.at(1).name.data()) == "srv2");
}
