#include "collector/watch_command.hpp"

#include <string>
#include <vector>

#include "collector/log.hpp"
#include "collector/run/bounded.hpp"
#include "collector/run/watch.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_no_data = 1;
constexpr int k_not_done = 3;
constexpr std::int64_t k_start_bound_ns = 8 * k_ns_per_second;  // a first scan that gets on is at its end in less
constexpr std::int64_t k_stop_bound_ns = 6 * k_ns_per_second;

std::string seconds_text(std::int64_t ns) {
  const std::string words = fixed(static_cast<double>(ns) / static_cast<double>(k_ns_per_second), 1);
  return (words.ends_with(".0") ? words.substr(0, words.size() - 2) : words) + " s";
}

std::string process_text(pid_t pid) {
  return pid == 0 ? "a process that cannot be seen" : "process " + std::to_string(pid);
}

std::string starter_text(const ProcessIdentity& starter) {
  return starter.pid == 0 ? ""
                          : "the end of process " + std::to_string(starter.pid) + " (" + escape(starter.name) + "), ";
}

/// What an answer carries out of the process that works: the status, and the line.
std::string answer(int status, const std::string& words) { return std::to_string(status) + " " + words; }

int log_answer(const Result<std::string>& said, const std::string& file) {
  if (!said) {
    log_line("shortfall timeline: " + file + ": " + said.error().text());
    return k_not_done;
  }
  const auto status = parse_u64(std::string_view(*said).substr(0, 1));
  log_line(std::string_view(*said).substr(2));
  return status ? static_cast<int>(*status) : k_not_done;
}

std::string start_in_words(const Invocation& invocation, const RecorderOptions& recorder) {
  const std::string file = timeline_file(invocation.options);
  const WatchStart start = start_watch(invocation.options, recorder);
  if (start.at_work >= 0)
    return answer(0, "watch: " + process_text(start.at_work) + " is at work on " + file + " already, and goes on");
  if (start.recorder <= 0) return answer(k_not_done, "shortfall timeline: none is recorded: " + start.failure);
  return answer(0, "watch: process " + std::to_string(start.recorder) + " takes a reading every " +
                       seconds_text(recorder.interval_ns) + ", in " + file + ", until `watch stop`, " +
                       starter_text(recorder.starter) + "the end of the sandbox's last QEMU, " +
                       seconds_text(recorder.longest_ns) + " or " +
                       std::to_string(recorder.byte_budget / (1024UL * 1024)) + " MiB");
}

/// "1741 readings over 1740.2 s"
std::string size_text(const Timeline& timeline) {
  const std::size_t ticks = timeline.ticks.size();
  const std::int64_t length_ns = ticks == 0 ? 0 : timeline.ticks.back().begin_ns - timeline.ticks.front().begin_ns;
  return std::to_string(ticks) + (ticks == 1 ? " reading" : " readings") + " over " + seconds_text(length_ns) +
         (timeline.slowed ? ", fewer and fewer for the sake of its size" : "");
}

std::string recorder_text(const WatchStop& stop) {
  using Recorder = WatchStop::Recorder;
  const std::string process = process_text(stop.pid);
  switch (stop.state) {
    case Recorder::none:
      if (stop.timeline && stop.timeline->end)
        return "the recorder had ended before: " + std::string(timeline_end_words(*stop.timeline->end));
      return "the recorder was gone: killed, or its file could not be written";
    case Recorder::ended:
      return process + " has ended";
    case Recorder::killed:
      return process + " did not end in its time and was killed";
    case Recorder::stuck:
      return process + " does not end, not even by SIGKILL: it is let go";
    case Recorder::refused:
      return process + " goes on: " + stop.failure;
    case Recorder::of_a_run:
      return process + " goes on: it belongs to a `cozybracket run`, which ends it";
    case Recorder::unproved:
      return process + " has the file locked, which does not name it as its recorder: it is left alone";
  }
  return "";
}

std::string stop_in_words(const SampleOptions& options) {
  using Recorder = WatchStop::Recorder;
  const std::string file = timeline_file(options);
  const WatchStop stop = stop_watch(options);
  const bool none = stop.state == Recorder::none;
  if (none && !stop.failure.empty()) return answer(k_not_done, "shortfall timeline: " + stop.failure);
  if (none && !stop.timeline) return answer(k_no_data, "watch: there is no timeline in " + file + ": none was begun");
  const std::string words =
      recorder_text(stop) + "; " + (stop.timeline ? size_text(*stop.timeline) : "no reading") + " in " + file;
  const bool ended = none || stop.state == Recorder::ended || stop.state == Recorder::killed;
  if (!ended) return answer(k_not_done, "shortfall timeline: " + words);
  const bool holds_data = stop.timeline && !stop.timeline->ticks.empty();
  const bool well = holds_data && stop.state != Recorder::killed;
  return answer(holds_data ? 0 : k_no_data, (well ? "watch: " : "shortfall timeline: ") + words);
}

/// Whom it is to end with. False where the one that was named is not there.
bool find_starter_of(const Invocation& invocation, ProcessIdentity& starter) {
  if (!invocation.while_pid)
    starter = find_starter().value_or(ProcessIdentity{});
  else if (*invocation.while_pid != 0)
    starter = process_now(*invocation.while_pid).value_or(ProcessIdentity{});
  return !invocation.while_pid || *invocation.while_pid == starter.pid;
}

}  // namespace

int watch_start_command(const Invocation& invocation) {
  if (invocation.interval_ns == 0) {
    log_line("watch: the interval is 0: no timeline is recorded");
    return 0;
  }
  RecorderOptions recorder;
  recorder.interval_ns = invocation.interval_ns;
  recorder.longest_ns = invocation.longest_ns;
  recorder.with_last_qemu = true;
  if (!find_starter_of(invocation, recorder.starter)) {
    log_line("shortfall timeline: none is recorded: process " + std::to_string(*invocation.while_pid) +
             ", which it was to end with, is not there");
    return k_not_done;
  }
  const auto said = run_bounded(k_start_bound_ns, [&] { return start_in_words(invocation, recorder); });
  return log_answer(said, timeline_file(invocation.options));
}

int watch_stop_command(const Invocation& invocation) {
  const auto said = run_bounded(k_stop_bound_ns, [&] { return stop_in_words(invocation.options); });
  return log_answer(said, timeline_file(invocation.options));
}

}  // namespace cozy
