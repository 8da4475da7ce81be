#include "collector/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string_view>

#include "collector/render/words.hpp"
#include "collector/report/legend.hpp"
#include "collector/run/bounded.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

using Captures = std::set<std::string, std::less<>>;

/// The captures that a pair is made of, of those asked for.
Captures paired_captures(const std::vector<std::string>& only) {
  Captures captures;
  for (const Legend& legend : legends()) {
    const bool asked = only.empty() || std::find(only.begin(), only.end(), legend.capture) != only.end();
    if (asked && legend.samples.size() == 2) captures.insert(legend.capture);
  }
  return captures;
}

bool holds(const Snapshot& snapshot, const Captures& captures, int sample) {
  return std::any_of(captures.begin(), captures.end(),
                     [&](const auto& name) { return snapshot.find(name, sample) != nullptr; });
}

/// " of HH:MM:SS UTC", when the first of them was read; empty where none says.
std::string when(const Snapshot& snapshot, const Captures& captures, int sample) {
  std::optional<Stamp> first;
  for (const std::string& name : captures) {
    const SampleCapture* file = snapshot.find(name, sample);
    const auto stamp = file == nullptr ? std::nullopt : file->capture.begin_stamp;
    if (stamp && (!first || stamp->epoch_ns < first->epoch_ns)) first = stamp;
  }
  return first ? " of " + time_of_day(*first) : "";
}

/// True when the second was read after the first, by the clock that is never stepped.
bool is_behind(const SampleCapture& before, const SampleCapture& after) {
  const auto& end = before.capture.end_stamp;
  const auto& begin = after.capture.begin_stamp;
  return end && begin && end->boottime_ns <= begin->boottime_ns;
}

/// How many captures that have a sample 1 have a sample 2 behind it, and how many have another one or none.
struct Pairs {
  std::size_t whole = 0;
  std::size_t reversed = 0;
  std::size_t open = 0;
};

Pairs pairs_of(const Snapshot& snapshot, const Captures& captures) {
  Pairs pairs;
  for (const std::string& name : captures) {
    const SampleCapture* before = snapshot.find(name, 1);
    const SampleCapture* after = snapshot.find(name, 2);
    if (before == nullptr) continue;
    if (after == nullptr)
      ++pairs.open;
    else if (is_behind(*before, *after))
      ++pairs.whole;
    else
      ++pairs.reversed;
  }
  return pairs;
}

std::string place(const Snapshot& snapshot) { return "snapshot " + escape(snapshot.name) + " "; }

void place_first(const Snapshot& snapshot, const Captures& captures, Placement& placement) {
  if (!holds(snapshot, captures, 1)) {
    if (holds(snapshot, captures, 2))
      placement.notes.push_back(place(snapshot) + "holds a sample 2" + when(snapshot, captures, 2) +
                                " already: it is no partner of this sample 1");
    return;
  }
  std::string words =
      place(snapshot) + "holds a sample 1" + when(snapshot, captures, 1) + " already: this one takes its place";
  if (holds(snapshot, captures, 2))
    words += ", and the sample 2" + when(snapshot, captures, 2) + " is no partner of this one";
  placement.notes.push_back(words);
}

/// The snapshots that wait for a sample 2: a name that changed between the two calls shows there.
std::vector<std::string> waiting(const Report& report, const std::string& but, const Captures& captures) {
  std::vector<std::string> names;
  for (const Snapshot& snapshot : report.snapshots) {
    if (snapshot.name != but && holds(snapshot, captures, 1) && !holds(snapshot, captures, 2))
      names.push_back(escape(snapshot.name));
  }
  return names;
}

void place_second(const Report& report, const Snapshot* snapshot, const PlacementAsked& asked, const Captures& captures,
                  Placement& placement) {
  if (snapshot == nullptr || !holds(*snapshot, captures, 1)) {
    std::string words = "snapshot " + escape(asked.snapshot) + " holds no sample 1: this sample 2 has no partner";
    const auto others = waiting(report, asked.snapshot, captures);
    if (!others.empty())
      words += "; a sample 1 without a sample 2 is in snapshot " + join(others, ", ") +
               ", and samples of two snapshots make no pair";
    placement.notes.push_back(words);
  }
  if (snapshot == nullptr || !holds(*snapshot, captures, 2)) return;
  const Pairs pairs = pairs_of(*snapshot, captures);
  placement.kept = asked.once && pairs.whole > 0 && pairs.reversed + pairs.open == 0;
  placement.notes.push_back(place(*snapshot) + "holds a sample 2" + when(*snapshot, captures, 2) +
                            (pairs.reversed > 0 ? " from before its sample 1" : " already") +
                            (placement.kept ? ": it is kept" : ": this one takes its place"));
}

/// Runs work that opens a report in a process of its own; one line for each of its words.
template <class Work>
std::vector<std::string> bounded_lines(const std::string& report_dir, std::int64_t bound_ns, const Work& work) {
  const auto words = run_bounded(bound_ns, [&] {
    const auto report = open_report_directory(report_dir);
    if (report) return join(work(*report), "\n");
    return report.error().code == ENOENT ? join(work(Report()), "\n") : std::string();  // nothing is there yet
  });
  std::vector<std::string> lines;
  if (!words) return lines;
  for (const std::string_view line : split_lines(*words)) lines.emplace_back(line);
  return lines;
}

}  // namespace

Placement placement_of(const Report& report, const PlacementAsked& asked) {
  Placement placement;
  const Captures captures = paired_captures(asked.only);
  if (captures.empty()) return placement;
  const auto found = std::find_if(report.snapshots.begin(), report.snapshots.end(),
                                  [&](const Snapshot& snapshot) { return snapshot.name == asked.snapshot; });
  const Snapshot* snapshot = found == report.snapshots.end() ? nullptr : &*found;
  if (asked.sample == 2)
    place_second(report, snapshot, asked, captures, placement);
  else if (snapshot != nullptr)
    place_first(*snapshot, captures, placement);
  return placement;
}

std::vector<std::string> open_brackets(const Report& report) {
  std::vector<std::string> notes;
  const Captures captures = paired_captures({});
  for (const Snapshot& snapshot : report.snapshots) {
    const bool first = holds(snapshot, captures, 1);
    const bool second = holds(snapshot, captures, 2);
    if (first && !second)
      notes.push_back(place(snapshot) + "holds a sample 1" + when(snapshot, captures, 1) +
                      " and no sample 2: the bracket was never closed, and there is no rate for its wait");
    else if (second && !first)
      notes.push_back(place(snapshot) + "holds a sample 2" + when(snapshot, captures, 2) +
                      " and no sample 1: there is no rate for its wait");
    else if (pairs_of(snapshot, captures).reversed > 0)
      notes.push_back(place(snapshot) + "holds a sample 2" + when(snapshot, captures, 2) +
                      " that was not read after its sample 1" + when(snapshot, captures, 1) +
                      ": they are of two brackets and make no pair");
  }
  return notes;
}

Placement look_at_placement(const std::string& report_dir, const PlacementAsked& asked, std::int64_t bound_ns) {
  const std::string kept = "kept";
  Placement placement;
  placement.notes = bounded_lines(report_dir, bound_ns, [&](const Report& report) {
    Placement found = placement_of(report, asked);
    if (found.kept) found.notes.insert(found.notes.begin(), kept);
    return found.notes;
  });
  placement.kept = !placement.notes.empty() && placement.notes.front() == kept;
  if (placement.kept) placement.notes.erase(placement.notes.begin());
  return placement;
}

std::vector<std::string> look_at_brackets(const std::string& report_dir, std::int64_t bound_ns) {
  return bounded_lines(report_dir, bound_ns, open_brackets);
}

}  // namespace cozy
