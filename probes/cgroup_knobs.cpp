#include "cgroup_knobs.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_keys = 256;
constexpr std::size_t k_most_levels = 64;
constexpr std::size_t k_mountinfo_cap = 1UL << 20U;

using What = Watchdog::What;

Error malformed(std::string_view file, std::string_view text) {
  return {std::string(file), "holds \"" + escape(trim(text).substr(0, 64)) + "\"", 0};
}

Result<Done> take_number(std::string_view file, std::string_view text, std::optional<std::uint64_t>& place) {
  const auto number = parse_u64(trim(text));
  if (!number) return malformed(file, text);
  place = number;
  return Done{};
}

/// -1 is no quota.
Result<Done> take_cfs_quota(std::string_view file, std::string_view text, CpuKnobs& knobs) {
  const auto number = parse_i64(trim(text));
  if (!number || *number < -1 || *number == 0) return malformed(file, text);
  knobs.limited = *number > 0;
  if (*number > 0) knobs.quota_usec = static_cast<std::uint64_t>(*number);
  return Done{};
}

Result<Done> take_cpu_max(std::string_view text, CpuKnobs& knobs) {
  const auto max = parse_cpu_max(text);
  if (!max) return max.error();
  knobs.limited = max->quota_usec.has_value();
  knobs.quota_usec = max->quota_usec;
  knobs.period_usec = max->period_usec;
  return Done{};
}

}  // namespace

Result<CpuMax> parse_cpu_max(std::string_view text) {
  const auto words = split_words(trim(text));
  const auto period = words.size() == 2 ? parse_u64(words[1]) : std::nullopt;
  const auto quota = words.size() == 2 ? parse_u64(words[0]) : std::nullopt;
  if (!period || *period == 0 || (!quota && words[0] != "max")) return malformed("cpu.max", text);
  return CpuMax{quota, *period};
}

std::optional<std::uint64_t> FlatKeys::find(std::string_view key) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

FlatKeys parse_flat_keys(std::string_view text) {
  FlatKeys keys;
  std::set<std::string_view> seen;
  for (const std::string_view line : split_lines(text)) {
    const auto words = split_words(trim(line));
    if (words.size() != 2 || seen.size() == k_most_keys || !seen.insert(words[0]).second) continue;
    const bool digits = words[1].find_first_not_of("0123456789") == std::string_view::npos;
    if (const auto number = parse_u64(words[1]))
      keys.values.emplace_back(words[0], *number);
    else if (digits)
      keys.too_large.emplace_back(words[0]);
  }
  return keys;
}

std::optional<double> CpuKnobs::cpus_of_quota() const {
  if (!quota_usec || !period_usec || *period_usec == 0) return std::nullopt;
  return static_cast<double>(*quota_usec) / static_cast<double>(*period_usec);
}

Result<Done> take_knob(std::string_view file, std::string_view text, CpuKnobs& knobs) {
  if (file == "cpu.max") return take_cpu_max(text, knobs);
  if (file == "cpu.cfs_quota_us") return take_cfs_quota(file, text, knobs);
  if (file == "cpu.cfs_period_us") return take_number(file, text, knobs.period_usec);
  if (file == "cpu.max.burst" || file == "cpu.cfs_burst_us") return take_number(file, text, knobs.burst_usec);
  if (file == "cpu.weight") return take_number(file, text, knobs.weight);
  if (file == "cpu.shares") return take_number(file, text, knobs.shares);
  if (file == "cpuset.cpus.effective") knobs.cpus = std::string(trim(text));
  return Done{};
}

std::vector<std::string> knob_files(int version) {
  if (version == 2) return {"cpu.max", "cpu.max.burst", "cpu.weight", "cpuset.cpus.effective"};
  return {"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us", "cpu.shares"};
}

CgroupMounts read_cgroup_mounts(const Root& root, Watchdog& watchdog) {
  const auto answer = watchdog.read({root.path("proc/self/mountinfo"), What::stream, k_mountinfo_cap});
  if (!answer.ok()) return {{}, answer.reason()};
  return {parse_cgroup_mounts(answer.file.text), ""};
}

Result<CgroupPlace> find_cgroup(const Root& root, Watchdog& watchdog, const CgroupMounts& mounts, std::uint64_t pid,
                                std::string_view controller) {
  const std::string file = "proc/" + std::to_string(pid) + "/cgroup";
  const auto answer = watchdog.read({root.path(file), What::stream});
  if (!answer.ok()) return Error{"/" + file, answer.reason(), answer.error.code};
  return locate_cgroup(parse_cgroup_lines(answer.file.text), mounts.mounts, controller);
}

std::vector<CpuKnobs> read_cpu_knobs(const Root& root, Watchdog& watchdog, const CgroupPlace& place,
                                     std::vector<std::string>& problems) {
  std::vector<CpuKnobs> levels;
  for (CgroupPlace at = place; at.state == PlaceState::found && levels.size() < k_most_levels; at = parent_of(at)) {
    CpuKnobs knobs{at.version, at.path, std::nullopt};
    const std::vector<std::string> files = knob_files(at.version);
    std::vector<Watchdog::Request> requests;
    for (const std::string& file : files) requests.push_back({root.path((at.directory + "/" + file).substr(1))});
    const auto answers = watchdog.read(std::move(requests));
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!answers[i].ok()) {
        if (!answers[i].vanished()) problems.push_back(at.directory + "/" + files[i] + ": " + answers[i].reason());
        continue;
      }
      const auto taken = take_knob(files[i], answers[i].file.text, knobs);
      if (!taken) problems.push_back(at.directory + "/" + taken.error().text());
    }
    levels.push_back(std::move(knobs));
  }
  return levels;
}

}  // namespace cozy
