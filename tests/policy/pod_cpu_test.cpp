// Requests and limits as quota, period and weight: the published vectors, the shares table, the bounds.
#include "collector/policy/pod_cpu.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/policy/quantity.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

using Number = std::optional<std::uint64_t>;
constexpr std::nullopt_t k_none = std::nullopt;

struct Vector {
  std::string request;  ///< "" for none
  std::string limit;
  Number vcpus;
  Number quota_usec;
  std::uint64_t shares;
  std::uint64_t linear;
  std::uint64_t quadratic;
};

PodCpu pod_of(const std::string& request, const std::string& limit) {
  PodCpu pod;
  if (!request.empty()) pod.request_milli = parse_cpu_quantity(request).value();
  if (!limit.empty()) pod.limit_milli = parse_cpu_quantity(limit).value();
  return pod;
}

PodKnobs knobs_of(const std::string& request, const std::string& limit, WeightFormula formula = WeightFormula::linear) {
  const auto knobs = pod_knobs(pod_of(request, limit), formula);
  REQUIRE(knobs);
  return *knobs;
}

bool mentions(const PodKnobs& knobs, const std::string& words) {
  for (const std::string& note : knobs.notes) {
    if (note.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("requests and limits as knobs", "[pod_cpu]") {
  const std::vector<Vector> vectors{{"500m", "2", 2, 200000, 512, 20, 59},
                                    {"", "", k_none, k_none, 2, 1, 1},
                                    {"", "500m", 1, 50000, 512, 20, 59},
                                    {"0", "500m", 1, 50000, 512, 20, 59},
                                    {"500m", "", 1, k_none, 512, 20, 59},
                                    {"", "1m", 1, 1000, 2, 1, 1},
                                    {"", "5m", 1, 1000, 5, 1, 2},
                                    {"", "9m", 1, 1000, 9, 1, 3},
                                    {"", "10m", 1, 1000, 10, 1, 4},
                                    {"", "11m", 1, 1100, 11, 1, 4},
                                    {"100m", "100m", 1, 10000, 102, 4, 17},
                                    {"250m", "250m", 1, 25000, 256, 10, 35},
                                    {"1", "1500m", 2, 150000, 1024, 39, 100},
                                    {"", "1", 1, 100000, 1024, 39, 100},
                                    {"2", "", 2, k_none, 2048, 79, 174},
                                    {"2", "2", 2, 200000, 2048, 79, 174},
                                    {"500m", "4", 4, 400000, 512, 20, 59},
                                    {"4", "4", 4, 400000, 4096, 157, 303},
                                    {"8", "8", 8, 800000, 8192, 313, 532},
                                    {"16", "16", 16, 1600000, 16384, 625, 942},
                                    {"64", "64", 64, 6400000, 65536, 2500, 3023},
                                    {"256", "256", 256, 25600000, 262144, 10000, 10000},
                                    {"300", "300", 300, 30000000, 262144, 10000, 10000},
                                    {"1", "500m", 1, 50000, 1024, 39, 100}};
  for (const Vector& vector : vectors) {
    INFO("request '" << vector.request << "', limit '" << vector.limit << "'");
    const PodKnobs linear = knobs_of(vector.request, vector.limit);
    CHECK(linear.vcpus == vector.vcpus);
    CHECK(linear.quota_usec == vector.quota_usec);
    CHECK(linear.period_usec == (vector.quota_usec ? Number(100000) : k_none));
    CHECK(linear.shares == vector.shares);
    CHECK(linear.weight == vector.linear);
    CHECK(linear.formula == WeightFormula::linear);
    const PodKnobs quadratic = knobs_of(vector.request, vector.limit, WeightFormula::quadratic);
    CHECK(quadratic.weight == vector.quadratic);
    CHECK(quadratic.quota_usec == vector.quota_usec);
    CHECK(quadratic.shares == vector.shares);
  }
}

TEST_CASE("shares as weights by both formulas", "[pod_cpu]") {
  struct Shares {
    std::uint64_t shares, linear, quadratic;
  };
  for (const auto& [shares, linear, quadratic] : std::vector<Shares>{{0, 1, 0},
                                                                     {1, 1, 1},
                                                                     {2, 1, 1},
                                                                     {3, 1, 2},
                                                                     {10, 1, 4},
                                                                     {28, 1, 7},
                                                                     {29, 2, 7},
                                                                     {55, 3, 11},
                                                                     {102, 4, 17},
                                                                     {256, 10, 35},
                                                                     {1000, 39, 99},
                                                                     {1024, 39, 100},
                                                                     {2000, 77, 170},
                                                                     {10240, 391, 639},
                                                                     {131072, 5000, 5478},
                                                                     {262143, 9999, 10000},
                                                                     {262144, 10000, 10000}}) {
    INFO(shares << " shares");
    CHECK(linear_weight(shares) == linear);
    CHECK(quadratic_weight(shares) == quadratic);
  }
  CHECK(linear_weight(~std::uint64_t{0}) == 10000);
  CHECK(quadratic_weight(~std::uint64_t{0}) == 10000);
}

TEST_CASE("1024 shares are a quadratic weight of exactly 100", "[pod_cpu]") { CHECK(quadratic_weight(1024) == 100); }

TEST_CASE("the quadratic weight is the formula's for every number of shares", "[pod_cpu]") {
  std::uint64_t before = 1;
  std::uint64_t differing = 0;
  for (std::uint64_t shares = 3; shares < k_most_shares; ++shares) {
    const long double octaves = std::log2(static_cast<long double>(shares));
    const long double exact = std::pow(10.0L, (octaves * octaves + 125 * octaves) / 612 - 7.0L / 34);
    const std::uint64_t weight = quadratic_weight(shares);
    if (weight != static_cast<std::uint64_t>(std::ceil(exact - 1e-9L)) || weight < before) ++differing;
    before = weight;
  }
  CHECK(differing == 0);
}

TEST_CASE("a linear weight stands for a range of milli-CPU, so none is inferred from it", "[pod_cpu]") {
  struct Plateau {
    std::uint64_t first, last, weight;
  };
  for (const auto& [first, last, weight] :
       std::vector<Plateau>{{0, 28, 1}, {29, 53, 2}, {54, 79, 3}, {80, 104, 4}, {105, 105, 5}}) {
    for (std::uint64_t milli = first; milli <= last; ++milli) {
      INFO(milli << "m");
      CHECK(pod_knobs(PodCpu{milli, std::nullopt}, WeightFormula::linear).value().weight == weight);
    }
  }
  // The published inverse gives back other shares than the weight was made of.
  const auto inverse = [](std::uint64_t weight) { return (weight - 1) * 262142 / 9999 + 2; };
  CHECK(inverse(linear_weight(1024)) == 998);
}

TEST_CASE("a zero counts as absent, of both at once as best effort", "[pod_cpu]") {
  const PodKnobs knobs = knobs_of("0", "0");
  CHECK(knobs.vcpus == k_none);
  CHECK(knobs.quota_usec == k_none);
  CHECK(knobs.weight == 1);
  CHECK(pod_of("0", "0").is_best_effort());
  CHECK(knobs_of("500m", "0").quota_usec == k_none);
}

TEST_CASE("what a bound made another number of is said", "[pod_cpu]") {
  CHECK(mentions(knobs_of("", "1m"), "comes to 100 us"));
  CHECK(mentions(knobs_of("", "1m"), "below what shares can say; it counts as 2"));
  CHECK(mentions(knobs_of("300", "300"), "above what shares can say; it counts as 262144"));
  CHECK(mentions(knobs_of("1", "500m"), "the request is above the limit"));
  CHECK(mentions(knobs_of("0", "500m"), "newer kubelets give it 2 shares"));
  CHECK(mentions(knobs_of("", "1G"), "accepts no quota above 17592186044415 us"));
  CHECK(knobs_of("500m", "2").notes.empty());
  CHECK(knobs_of("", "").notes.empty());
  CHECK(knobs_of("", "10m").notes.empty());
}

TEST_CASE("a quota that cannot be counted is refused, a request as large weighs the most", "[pod_cpu]") {
  const auto refused = pod_knobs(pod_of("", "1P"), WeightFormula::linear);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "\"1000000000000000\": is too large: its quota is more than 2^63 us");
  const PodKnobs knobs = knobs_of("9223372036854775807m", "");
  CHECK(knobs.vcpus == Number(9223372036854776));
  CHECK(knobs.shares == 262144);
  CHECK(knobs.weight == 10000);
}

TEST_CASE("a pod is burstable where it may use more than it requested", "[pod_cpu]") {
  CHECK(pod_of("500m", "").is_burstable());
  CHECK(pod_of("500m", "2").is_burstable());
  CHECK_FALSE(pod_of("2", "2").is_burstable());
  CHECK_FALSE(pod_of("", "2").is_burstable());
  CHECK_FALSE(pod_of("", "").is_burstable());
}

TEST_CASE("formulas go by their names", "[pod_cpu]") {
  CHECK(formula_of_name("linear") == WeightFormula::linear);
  CHECK(formula_of_name("quadratic") == WeightFormula::quadratic);
  CHECK_FALSE(formula_of_name("Linear"));
  CHECK_FALSE(formula_of_name(""));
}
