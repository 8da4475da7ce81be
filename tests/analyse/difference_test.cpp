#include "collector/analyse/difference.hpp"

#include <limits>
#include <string>
#include <utility>

#include "tests/catch.hpp"

namespace cozy {

namespace {

constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();

ReadSpan at_second(std::int64_t second) {
  return {Stamp{second * k_ns_per_second, 0}, Stamp{second * k_ns_per_second, 0}};
}

Reading one_row(Value value, Kind kind = Kind::cumulative) {
  Reading reading;
  reading.add("vm 2231-14", "exits", std::move(value), kind);
  return reading;
}

/// The row of two readings that have one row each.
RowChange change_of(const Reading& before, const Reading& after, const PairRules& rules = {}) {
  return difference({before, at_second(100), true}, {after, at_second(110), true}, rules).rows().at(0);
}

}  // namespace

TEST_CASE("difference: a counter that grew or stayed has a rate") {
  const Reading zero = one_row(std::uint64_t{0});
  const Reading many = one_row(k_most);
  const RowChange row = change_of(zero, many);
  CHECK(row.change == Change::rate);
  CHECK(row.delta == k_most);
  CHECK(change_of(many, many).delta == 0U);
  const Reading hundred = one_row(std::uint64_t{100});
  CHECK(change_of(zero, hundred).per_second() == 10.0);
}

TEST_CASE("difference: a smaller number is never a wrap") {
  const Reading high = one_row(k_most - 4);
  const Reading low = one_row(std::uint64_t{3});
  const RowChange row = change_of(high, low);
  CHECK(row.change == Change::went_back);
  CHECK_FALSE(row.delta);
  CHECK_FALSE(row.per_second());
  CHECK(value_text(row.before->value) == "18446744073709551611");
  CHECK(value_text(row.after->value) == "3");
}

TEST_CASE("difference: a counter that somebody can have cleared is reset when it is smaller") {
  PairRules rules;
  rules.clearable = true;
  const Reading high = one_row(std::uint64_t{100});
  const Reading low = one_row(std::uint64_t{3});
  CHECK(change_of(high, low, rules).change == Change::reset);
  CHECK(change_of(low, high, rules).change == Change::rate);
}

TEST_CASE("difference: gauges, peaks, histograms, words and negative numbers are never subtracted") {
  for (const Kind kind : {Kind::instant, Kind::peak, Kind::histogram, Kind::unknown}) {
    const Reading before = one_row(std::uint64_t{1}, kind);
    const Reading after = one_row(std::uint64_t{5}, kind);
    const RowChange row = change_of(before, after);
    CHECK(row.change == Change::not_a_rate);
    CHECK_FALSE(row.delta);
    CHECK(row.kind == kind);
  }
  const Reading word = one_row(std::string("R"));
  CHECK(change_of(word, word).change == Change::not_a_rate);
  const Reading negative = one_row(std::int64_t{-5});
  const Reading positive = one_row(std::uint64_t{5});
  CHECK(change_of(negative, positive).change == Change::not_a_rate);
  CHECK(change_of(positive, negative).change == Change::not_a_rate);
}

TEST_CASE("difference: readings that disagree about the kind are not subtracted") {
  const Reading counter = one_row(std::uint64_t{1});
  const Reading gauge = one_row(std::uint64_t{5}, Kind::instant);
  CHECK(change_of(counter, gauge).change == Change::not_a_rate);
  CHECK(change_of(gauge, counter).change == Change::not_a_rate);
}

TEST_CASE("difference: another subject under the same name is reset, row by row, even where it grew") {
  Reading before;
  before.add("thread 1/2", "utime", std::uint64_t{100}, Kind::cumulative);
  before.add("thread 1/2", "stime", std::uint64_t{1}, Kind::cumulative);
  before.add("thread 1/2", "flags", std::uint64_t{64}, Kind::instant);
  Reading after = before;
  after.rows[1].value = std::uint64_t{50};
  before.subjects.push_back({"thread 1/2", "start 5", std::nullopt, std::nullopt});
  after.subjects.push_back({"thread 1/2", "start 6", std::nullopt, std::nullopt});

  SECTION("by its identity") {
    const Difference rows = difference({before, at_second(1), true}, {after, at_second(2), true}, {});
    CHECK(rows.find("thread 1/2", "utime")->change == Change::reset);
    CHECK(rows.find("thread 1/2", "stime")->change == Change::reset);
    CHECK_FALSE(rows.delta("thread 1/2", "stime"));
    CHECK(rows.find("thread 1/2", "flags")->change == Change::not_a_rate);
  }
  SECTION("an identity that one side does not know says nothing") {
    after.subjects[0].identity.clear();
    const Difference rows = difference({before, at_second(1), true}, {after, at_second(2), true}, {});
    CHECK(rows.delta("thread 1/2", "stime") == 49U);
  }
  SECTION("by what is known beside the rows") {
    after.subjects[0].identity = "start 5";
    PairRules rules;
    rules.replaced.insert("thread 1/2");
    const Difference rows = difference({before, at_second(1), true}, {after, at_second(2), true}, rules);
    CHECK(rows.find("thread 1/2", "stime")->change == Change::reset);
  }
}

TEST_CASE("difference: the divisor is the subject's own interval where both sides have stamps") {
  Reading before;
  before.add("thread 1/2", "utime", std::uint64_t{0}, Kind::cumulative);
  Reading after;
  after.add("thread 1/2", "utime", std::uint64_t{100}, Kind::cumulative);
  const auto stamp = [](std::int64_t second) { return Stamp{second * k_ns_per_second, 0}; };
  before.subjects.push_back({"thread 1/2", "start 5", stamp(100), stamp(100)});

  SECTION("one side alone: the capture's") {
    after.subjects.push_back({"thread 1/2", "start 5", std::nullopt, std::nullopt});
    CHECK(difference({before, at_second(90), true}, {after, at_second(110), true}, {}).rows()[0].per_second() == 5.0);
  }
  SECTION("both: its own, with its own error") {
    after.subjects.push_back({"thread 1/2", "start 5", stamp(110), stamp(112)});
    const Difference rows = difference({before, at_second(90), true}, {after, at_second(110), true}, {});
    REQUIRE(rows.rows()[0].interval);
    CHECK(rows.rows()[0].interval->seconds() == 11.0);
    CHECK(rows.rows()[0].interval->error_seconds() == 1.0);
  }
  SECTION("no stamp anywhere: a delta and no rate per second") {
    before.subjects.clear();
    const Difference rows = difference({before, {}, true}, {after, {}, true}, {});
    CHECK(rows.rows()[0].delta == 100U);
    CHECK_FALSE(rows.rows()[0].per_second());
  }
}

TEST_CASE("difference: gone and appeared are told from not read") {
  Reading both;
  both.add("vm 1-1", "exits", std::uint64_t{1}, Kind::cumulative);
  Reading more = both;
  more.add("vm 1-1", "halts", std::uint64_t{1}, Kind::cumulative);
  more.add("vm 2-2", "exits", std::uint64_t{1}, Kind::cumulative);

  SECTION("a scope that a whole reading lacks") {
    CHECK(difference({more, {}, true}, {both, {}, true}, {}).find("vm 2-2", "exits")->change == Change::gone);
    CHECK(difference({both, {}, true}, {more, {}, true}, {}).find("vm 2-2", "exits")->change == Change::appeared);
  }
  SECTION("a field that a scope lacks") {
    both.refused.emplace_back("vm 1-1 halts: could not be read: EIO (Input/output error)");
    const Difference rows = difference({more, {}, true}, {both, {}, true}, {});
    CHECK(rows.find("vm 1-1", "halts")->change == Change::absent);
    CHECK(rows.find("vm 1-1", "halts")->reason.find("EIO") != std::string_view::npos);
  }
  SECTION("a scope that a cut reading lacks") {
    CHECK(difference({more, {}, true}, {both, {}, false}, {}).find("vm 2-2", "exits")->change == Change::absent);
  }
  SECTION("a scope that was refused") {
    both.refused.emplace_back("vm 2-2: EACCES (Permission denied)");
    CHECK(difference({more, {}, true}, {both, {}, true}, {}).find("vm 2-2", "exits")->change == Change::absent);
  }
  SECTION("another scope that was refused and begins alike") {
    both.refused.emplace_back("vm 2-22: EACCES (Permission denied)");
    CHECK(difference({more, {}, true}, {both, {}, true}, {}).find("vm 2-2", "exits")->change == Change::gone);
  }
  SECTION("neither reading has it") {
    CHECK(difference({more, {}, true}, {both, {}, true}, {}).find("vm 3-3", "exits") == nullptr);
  }
}

TEST_CASE("difference: a row that stands there twice counts once, the first") {
  Reading before = one_row(std::uint64_t{1});
  before.add("vm 2231-14", "exits", std::uint64_t{7}, Kind::cumulative);
  Reading after = one_row(std::uint64_t{3});
  after.add("vm 2231-14", "exits", std::uint64_t{9}, Kind::cumulative);
  const Difference rows = difference({before, at_second(1), true}, {after, at_second(2), true}, {});
  REQUIRE(rows.rows().size() == 1);
  CHECK(rows.rows()[0].delta == 2U);
}

TEST_CASE("difference: a great many rows") {
  Reading before;
  Reading after;
  constexpr int k_many = 200'000;
  for (int i = 0; i < k_many; ++i) {
    before.add("thread 1/" + std::to_string(i), "utime", std::uint64_t{5}, Kind::cumulative);
    after.add("thread 1/" + std::to_string(k_many - i), "utime", std::uint64_t{9}, Kind::cumulative);
    before.subjects.push_back({"thread 1/" + std::to_string(i), "start 1", std::nullopt, std::nullopt});
    after.refused.push_back("thread 2/" + std::to_string(i) + " stat: EIO");
  }
  const Difference rows = difference({before, at_second(1), true}, {after, at_second(2), true}, {});
  CHECK(rows.rows().size() == k_many + 1);
  CHECK(rows.find("thread 1/0", "utime")->change == Change::gone);
  CHECK(rows.delta("thread 1/777", "utime") == 4U);
}

TEST_CASE("interval: by the boot-time clock, else by the epoch clock") {
  const auto span = [](std::int64_t boot_begin, std::int64_t boot_end, std::int64_t epoch_begin,
                       std::int64_t epoch_end) {
    return ReadSpan{Stamp{boot_begin, epoch_begin}, Stamp{boot_end, epoch_end}};
  };
  const auto boot = interval_between(span(1'000, 3'000, 9, 9), span(11'000, 15'000, 1, 1));
  REQUIRE(boot);
  CHECK(boot->length_ns == 11'000);
  CHECK(boot->error_ns == 3'000);
  CHECK_FALSE(boot->wall_clock);

  // Whole seconds: read 1 ended before second B + 1 did.
  constexpr std::int64_t k_second = k_ns_per_second;
  const auto epoch =
      interval_between(span(0, 0, 100 * k_second, 100 * k_second), span(0, 0, 112 * k_second, 112 * k_second));
  REQUIRE(epoch);
  CHECK(epoch->seconds() == 12.0);
  CHECK(epoch->error_seconds() == 1.0);
  CHECK(epoch->wall_clock);

  CHECK_FALSE(interval_between({}, span(1, 1, 1, 1)));
  CHECK_FALSE(interval_between(span(5, 5, 5, 5), span(4, 4, 4, 4)));
  CHECK_FALSE(interval_between(span(5, 3, 0, 0), span(9, 9, 0, 0)));
  CHECK_FALSE(interval_between(span(-5, -3, 0, 0), span(9, 9, 0, 0)));
  constexpr std::int64_t k_last = std::numeric_limits<std::int64_t>::max();
  CHECK_FALSE(interval_between(span(1, 1, 1, 1), span(k_last, k_last, k_last, k_last)));
}

}  // namespace cozy
