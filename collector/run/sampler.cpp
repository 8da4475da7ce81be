#include "collector/run/sampler.hpp"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/report/files.hpp"
#include "collector/run/bounded.hpp"
#include "collector/run/child.hpp"
#include "collector/run/probe_text.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

// Captures are written within what is left of the sample's time, and within this much of it.
constexpr std::int64_t k_least_write_ns = 500 * k_ns_per_ms;
constexpr std::int64_t k_most_write_ns = 5 * k_ns_per_second;
constexpr std::int64_t k_beyond_grace_ns = 700 * k_ns_per_ms;  // a second is promised

std::vector<std::string> probe_command(const SampleOptions& options, const Probe& probe) {
  std::vector<std::string> command{options.program,
                                   "probe",
                                   std::string(probe.name),
                                   "--root=" + options.root,
                                   "--sandbox=" + options.sandbox,
                                   "--read-timeout=" + fixed(static_cast<double>(options.read_timeout_ns) / 1e9, 9)};
  for (const NodeSpec& node : options.nodes) command.push_back("--node=" + node.name + "=" + node.pid_file);
  return command;
}

ReadCapture make_capture(const SampleOptions& options, const Probe& probe, int sample, ChildOutput output) {
  ProbeText parts = take_apart(output.text);
  ReadCapture read;
  Capture& capture = read.capture;
  capture.name = probe.name;
  capture.sample = sample;
  capture.snapshot = options.snapshot;
  capture.end = read_end(output, parts, options.read_timeout_ns, options.read_grace_ns);
  capture.begin_stamp = parts.begin.value_or(output.begin);
  capture.end_stamp = parts.end.value_or(output.finish);
  capture.bound_ns = options.read_timeout_ns;
  capture.grace_ns = options.read_grace_ns;
  capture.text = std::move(parts.text);
  read.reading = probe.parse(capture.text);
  capture.judgement = judge(read.reading, capture.end, *find_legend(probe.name));
  read.messages = std::move(output.messages);
  return read;
}

/// What stands beside the capture: the reader's own words, and the mark of a failed collection.
std::vector<Sidecar> sidecars_of(const Capture& capture, const std::string& messages) {
  std::vector<Sidecar> sidecars;
  const bool failed = !capture.end.shortfall.empty();
  const Outcome outcome = capture.judgement.outcome;
  if (outcome == Outcome::unavailable) {
    std::string text = capture.judgement.reason + "\n";
    if (!messages.empty()) text += "\n" + messages;
    sidecars.push_back({"COLLECTION-FAILED.txt", std::move(text)});
  } else if (!messages.empty()) {
    sidecars.push_back({failed ? "read-error.log" : "READ-WARNINGS.txt", messages});
  }
  return sidecars;
}

/// What is written of a capture, and where.
struct CaptureFiles {
  std::string directory;
  std::string text;
  std::vector<Sidecar> sidecars;
};

/// Returns why it could not be written; "" when it was.
std::string write_out(const SampleOptions& options, const CaptureFiles& files, const Legend& legend) {
  const auto written = write_capture_files(files.directory, legend.file, files.text, files.sidecars);
  if (!written) return written.error().text();
  const auto copied = write_file(options.report_dir + "/legends", legend.capture + ".json", legend.json);
  return copied ? std::string() : copied.error().text();
}

/// Waits for all of the writes together: until that moment, and after an interrupt one more second.
void finish_writes(std::vector<std::optional<BoundedWork>>& writes, std::int64_t until_ns, const SampleOptions& options,
                   std::vector<CaptureOutcome>& outcomes) {
  int interrupt_fd = options.interrupt_fd;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto written = writes[i]->finish(until_ns, interrupt_fd);
    outcomes[i].write_error = written ? *written : options.report_dir + ": " + written.error().text();
    pollfd asked{interrupt_fd, POLLIN, 0};
    if (::poll(&asked, 1, 0) != 1) continue;
    until_ns = std::min(until_ns, boottime_ns());  // the others have had that second, too
    interrupt_fd = -1;
  }
  BoundedWork::end_all(writes);
}

/// Begins to write a capture and what stands beside it. The other sources are read on meanwhile.
BoundedWork begin_to_write(const SampleOptions& options, ReadCapture read, CaptureOutcome& outcome) {
  Capture& capture = read.capture;
  const Legend& legend = *find_legend(capture.name);
  CaptureFiles files;
  files.sidecars = sidecars_of(capture, read.messages);
  if (!files.sidecars.empty()) capture.sidecar = files.sidecars.front().name;
  const std::string folder =
      "snapshots/" + capture.snapshot + "/" + capture.name + "/sample-" + std::to_string(capture.sample);
  files.directory = options.report_dir + "/" + folder;
  files.text = format_capture(capture, legend);

  outcome.name = capture.name;
  outcome.judgement = capture.judgement;
  outcome.at = capture.begin_stamp;
  outcome.file = folder + "/" + legend.file;
  outcome.notes = std::move(read.reading.notes);
  return BoundedWork([&] { return write_out(options, files, legend); });
}

}  // namespace

bool SampleOutcome::nothing_written() const {
  return !captures.empty() &&
         std::all_of(captures.begin(), captures.end(), [](const auto& c) { return !c.write_error.empty(); });
}

bool SampleOutcome::all_hold_data() const {
  return std::all_of(captures.begin(), captures.end(),
                     [](const auto& c) { return holds_data(c.judgement.outcome) && c.write_error.empty(); });
}

Watchdog::Bounds probe_bounds(std::int64_t read_timeout_ns) {
  // The walk ends before the outer fence would cut it, so that it can still say what it did not reach.
  constexpr std::int64_t k_longest_file_ns = k_ns_per_second;
  return {std::min(read_timeout_ns / 8, k_longest_file_ns), read_timeout_ns / 10 * 8};
}

std::vector<const Probe*> chosen_probes(const SampleOptions& options, int sample) {
  std::vector<const Probe*> chosen;
  const auto has = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (const Probe& probe : probes()) {
    const Legend* legend = find_legend(probe.name);
    const bool named = options.only.empty() || has(options.only, probe.name);
    if (legend != nullptr && named && has(legend->samples, sample)) chosen.push_back(&probe);
  }
  return chosen;
}

void read_sources(const SampleOptions& options, int sample, const std::function<void(std::size_t, ReadCapture)>& done) {
  const std::vector<const Probe*> chosen = chosen_probes(options, sample);
  std::vector<std::vector<std::string>> commands;
  for (const Probe* probe : chosen) commands.push_back(probe_command(options, *probe));
  ChildBound bound;
  bound.timeout_ns = options.read_timeout_ns;
  bound.grace_ns = options.read_grace_ns;
  bound.interrupt_fd = options.interrupt_fd;
  run_children(commands, bound, [&](std::size_t i, ChildOutput output) {
    done(i, make_capture(options, *chosen[i], sample, std::move(output)));
  });
}

SampleOutcome take_sample(const SampleOptions& options, int sample) {
  SampleOutcome outcome;
  outcome.sample = sample;
  const std::int64_t begin_ns = boottime_ns();
  const std::size_t count = chosen_probes(options, sample).size();
  outcome.captures.resize(count);
  std::vector<std::optional<BoundedWork>> writes(count);
  read_sources(options, sample, [&](std::size_t i, ReadCapture read) {
    writes[i].emplace(begin_to_write(options, std::move(read), outcome.captures[i]));
  });
  const std::int64_t all_over_ns =
      begin_ns - options.spent_ns + options.read_timeout_ns + options.read_grace_ns + k_beyond_grace_ns;
  const std::int64_t time_ns = boottime_ns();
  const std::int64_t until_ns = std::clamp(all_over_ns, time_ns + k_least_write_ns, time_ns + k_most_write_ns);
  finish_writes(writes, until_ns, options, outcome.captures);
  outcome.took_ns = boottime_ns() - begin_ns;
  return outcome;
}

}  // namespace cozy
