#include "collector/report/canary.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collector/report/shell_frame.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_arms = 8;
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 2> k_floors{{{"compute", 3'000'000}, {"memory", 500}}};

constexpr std::array<std::pair<CanaryResult, std::string_view>, 6> k_results{{
    {CanaryResult::rated, "rated"},
    {CanaryResult::under_one, "under one per second"},
    {CanaryResult::too_fast, "too fast to rate"},
    {CanaryResult::not_finished, "not finished"},
    {CanaryResult::no_reading, "no reading"},
    {CanaryResult::cut, "cut"},
}};

std::optional<std::uint64_t> floor_of(std::string_view arm) {
  for (const auto& [name, floor] : k_floors) {
    if (name == arm) return floor;
  }
  return std::nullopt;
}

/// "=== arm: compute, LABEL ==="
std::optional<CanaryArm> arm_of(std::string_view line) {
  auto words = after_prefix(line, "=== arm: ");
  if (!words) return std::nullopt;
  if (words->ends_with(" ===")) words->remove_suffix(4);
  const std::size_t comma = words->find(',');
  CanaryArm arm;
  arm.name = make_line(trim(words->substr(0, comma)));
  if (comma != std::string_view::npos) arm.label = make_line(trim(words->substr(comma + 1)));
  arm.floor_per_second = floor_of(arm.name);
  return arm;
}

/// Takes the lines of one arm. Between `work:` and `elapsed:` stands whatever the work wrote.
class ArmLines {
 public:
  explicit ArmLines(CanaryArm& arm) : arm_(arm) {}

  void take(std::string_view line) {
    if (line.find("this arm produced no reading") != std::string_view::npos) return end(CanaryResult::no_reading);
    if (arm_.result != CanaryResult::cut) return;
    if (const auto work = after_prefix(line, "work: "); work && arm_.work.empty()) arm_.work = make_line(*work);
    if (const auto elapsed = after_prefix(line, "elapsed: ")) return take_elapsed(*elapsed);
    if (!arm_.elapsed_ms) return;
    if (const auto rate = after_prefix(line, "rate: ")) take_rate(*rate);
    if (line.starts_with("no rate:")) end(CanaryResult::too_fast);
    if (line.find("this arm did not finish") != std::string_view::npos) end(CanaryResult::not_finished);
  }

 private:
  void end(CanaryResult result) { arm_.result = result; }

  void take_elapsed(std::string_view words) {
    const auto list = split_words(words);
    if (list.size() == 2 && list[1] == "ms") arm_.elapsed_ms = parse_u64(list[0]);
  }

  /// "23809523 iterations per second", "under one MiB per second"
  void take_rate(std::string_view words) {
    const auto list = split_words(words);
    const std::size_t n = list.size();
    if (n < 4 || list[n - 2] != "per" || list[n - 1] != "second") return;
    const bool under_one = n == 5 && list[0] == "under" && list[1] == "one";
    const auto rate = n == 4 ? parse_u64(list[0]) : std::nullopt;
    if (!under_one && !rate) return;
    arm_.unit = make_line(list[n - 3]);
    arm_.rate_per_second = rate;
    arm_.below_floor = arm_.floor_per_second && (under_one || *rate < *arm_.floor_per_second);
    end(under_one ? CanaryResult::under_one : CanaryResult::rated);
  }

  CanaryArm& arm_;
};

}  // namespace

std::string_view canary_result_name(CanaryResult result) {
  for (const auto& [known, name] : k_results) {
    if (known == result) return name;
  }
  return "cut";
}

Outcome Canary::outcome() const {
  const auto readings = std::count_if(arms.begin(), arms.end(), [](const CanaryArm& arm) { return arm.is_reading(); });
  if (readings == 0) return Outcome::unavailable;
  return readings >= 2 && end_stamp ? Outcome::complete : Outcome::partial;
}

Canary parse_canary(std::string_view text) {
  Canary canary;
  const auto stamps = find_shell_stamps(text);
  if (stamps) canary.begin_stamp = stamps->begin;
  if (stamps) canary.end_stamp = stamps->end;
  text = text.substr(
      0, text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);  // a cut line is no reading
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("[bounds] ")) canary.unbounded = true;
    if (auto arm = arm_of(line)) {
      if (canary.arms.size() == k_most_arms) break;
      canary.arms.push_back(std::move(*arm));
    } else if (!canary.arms.empty() && !line.starts_with('[')) {
      ArmLines(canary.arms.back()).take(line);
    }
  }
  return canary;
}

}  // namespace cozy
