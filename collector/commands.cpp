#include "collector/commands.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "collector/analyze_command.hpp"
#include "collector/doctor.hpp"
#include "collector/live_line.hpp"
#include "collector/log.hpp"
#include "collector/placement.hpp"
#include "collector/policy_command.hpp"
#include "collector/report/archive.hpp"
#include "collector/run/bounded.hpp"
#include "collector/run/bracket.hpp"
#include "collector/run/sampler.hpp"
#include "collector/run/timeline_work.hpp"
#include "collector/summary.hpp"
#include "collector/tenant_log.hpp"
#include "collector/watch_command.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_no_data = 1;
constexpr int k_nothing_written = 3;
constexpr std::int64_t k_pack_bound_ns = 120 * k_ns_per_second;
constexpr std::int64_t k_silent_pack_ns = 10 * k_ns_per_second;  // where the file system has not answered before

// Of a sample whose bracket was told to end; what follows it gets the time that is left.
constexpr std::int64_t k_hurried_timeout_ns = 600 * k_ns_per_ms;
constexpr std::int64_t k_hurried_grace_ns = 200 * k_ns_per_ms;
constexpr std::int64_t k_hurried_rest_ns = 2 * k_ns_per_second;
constexpr std::int64_t k_least_pack_ns = 300 * k_ns_per_ms;
constexpr std::int64_t k_summary_bound_ns = 5 * k_ns_per_second;
constexpr std::int64_t k_placement_bound_ns = k_ns_per_second;

bool& left_behind() {
  static bool left = false;
  return left;
}

SampleOptions with_program(const SampleOptions& options) {
  SampleOptions own = options;
  own.program = "/proc/self/exe";
  return own;
}

/// What a pack has to tell, carried as text out of the process that does it: "files bytes" and a line per
/// note, or the reason why there is none.
std::string pack_in_words(const std::string& directory, const std::string& output) {
  const auto packed = pack(directory, output);
  if (!packed) return packed.error().text();
  std::string words = std::to_string(packed->files) + " " + std::to_string(packed->bytes);
  for (const std::string& note : packed->notes) words += "\n" + note;
  return words;
}

/// Packs within a bound. What an earlier pack has left stays whole when this one does not end.
bool pack_report(const Invocation& invocation, std::int64_t bound_ns, int interrupt_fd = -1) {
  const std::string output = invocation.archive();
  const std::string& directory = invocation.options.report_dir;
  const auto words = run_bounded(
      bound_ns, [&] { return pack_in_words(directory, output); }, interrupt_fd);
  if (!words) {
    log_line("shortfall pack: " + output + ": " + words.error().text() +
             "; what an earlier pack has left there is whole");
    return false;
  }
  const auto lines = split_lines(*words);
  const auto numbers = split_words(lines.empty() ? std::string_view() : lines.front());
  const auto files = numbers.size() == 2 ? parse_u64(numbers[0]) : std::nullopt;
  const auto bytes = numbers.size() == 2 ? parse_u64(numbers[1]) : std::nullopt;
  if (!files || !bytes) {
    log_line("shortfall pack: " + *words + "; the report directory is as it was");
    return false;
  }
  for (std::size_t i = 1; i < lines.size(); ++i) log_line("shortfall pack: " + std::string(lines[i]));
  log_line("wrote " + output + ", " + std::to_string(*files) + " files, " + size_text(*bytes));
  return true;
}

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

/// Sample 2, summary and pack; where the bracket was told to end, all within the time that it has left.
void close_bracket(const Invocation& invocation, const CommandState& command, int interrupt_fd) {
  SampleOptions options = with_program(invocation.options);
  std::optional<std::int64_t> until_ns = command.until_ns;
  bool answers = true;
  if (command.begun) {
    if (until_ns) {
      options.read_timeout_ns = std::min(options.read_timeout_ns, k_hurried_timeout_ns);
      options.read_grace_ns = std::min(options.read_grace_ns, k_hurried_grace_ns);
    }
    options.interrupt_fd = interrupt_fd;
    log_sample(options, take_sample(options, 2), command.passed);
    if (!until_ns && is_readable(interrupt_fd)) until_ns = boottime_ns() + k_hurried_rest_ns;
    const std::int64_t bound_ns = until_ns ? (*until_ns - boottime_ns()) / 3 : k_summary_bound_ns;
    answers = log_summary(options, {{1, 2}, command.passed}, std::min(bound_ns, k_summary_bound_ns));
  }
  std::int64_t bound_ns = answers ? k_pack_bound_ns : k_silent_pack_ns;
  if (until_ns) bound_ns = std::min(bound_ns, std::max(*until_ns - boottime_ns(), k_least_pack_ns));
  pack_report(invocation, bound_ns, until_ns ? -1 : interrupt_fd);
}

/// Where one is asked for; a captured tree does not move.
void begin_timeline(const Invocation& invocation, std::optional<TimelineWork>& timeline, LiveBoard* board) {
  if (invocation.interval_ns == 0 || !Root(invocation.options.root).is_machine()) return;
  timeline.emplace(invocation.options, invocation.interval_ns, board);
}

void end_timeline(std::optional<TimelineWork>& timeline) {
  if (!timeline) return;
  const std::string why = timeline->end();
  if (!why.empty()) log_line("shortfall timeline: " + why);
  timeline.reset();
}

int run_command(const Invocation& invocation) {
  LiveBoard board;
  LiveLine live;
  std::int64_t begin_ns = 0;
  std::optional<TimelineWork> timeline;
  BracketSteps steps;
  steps.say = [&](const std::string& words) {
    live.clear();
    log_line(words);
  };
  steps.before = [&](int interrupt_fd) {
    SampleOptions options = with_program(invocation.options);
    options.interrupt_fd = interrupt_fd;
    log_sample(options, take_sample(options, 1), std::nullopt);
    if (!is_readable(interrupt_fd)) begin_timeline(invocation, timeline, live.has_terminal() ? &board : nullptr);
    begin_ns = boottime_ns();
  };
  steps.after = [&](const CommandState& command, int interrupt_fd) {
    live.clear();
    end_timeline(timeline);
    close_bracket(invocation, command, interrupt_fd);
  };
  if (live.has_terminal()) {
    steps.meanwhile_fd = live.written_fd();
    steps.meanwhile = [&](bool written) {
      if (written) return live.clear();
      const std::size_t width = live.width();
      const std::int64_t time_ns = boottime_ns();
      if (width > 0) live.show(live_text(time_ns - begin_ns, time_ns, board.read(), width));
    };
  }
  return run_bracket(invocation.command, steps);
}

/// The status of a sample by what it has come to.
template <class Outcome>
int sample_status(const Outcome& outcome) {
  if (outcome.nothing_written()) return k_nothing_written;
  return outcome.all_hold_data() ? 0 : k_no_data;
}

/// The tenant workers alone: they have no part in the bracket's placement and in its summary.
int sample_tenants(const Invocation& invocation) {
  const SampleOptions options = with_program(invocation.options);
  const TenantOutcome outcome = take_tenant_sample(options, invocation.tenants, invocation.sample);
  log_tenants(options, outcome, invocation.sample);
  return sample_status(outcome);
}

int sample_command(const Invocation& invocation) {
  SampleOptions options = with_program(invocation.options);
  const std::vector<std::string> tenants_alone{std::string(k_tenant_capture)};
  if (options.only == tenants_alone) return sample_tenants(invocation);
  const std::int64_t begin_ns = boottime_ns();
  const PlacementAsked asked{options.snapshot, options.only, invocation.sample, invocation.once};
  const Placement placement = look_at_placement(options.report_dir, asked, k_placement_bound_ns);
  for (const std::string& note : placement.notes) log_line("placement: " + note);
  if (placement.kept) return 0;
  options.spent_ns = boottime_ns() - begin_ns;
  const SampleOutcome outcome = take_sample(options, invocation.sample);
  log_sample(options, outcome, std::nullopt);
  const int tenants = invocation.tenants.any() ? sample_tenants(invocation) : 0;
  if (invocation.sample == 2 && invocation.summary) log_summary(options, {{2}, std::nullopt}, k_summary_bound_ns);
  const int status = sample_status(outcome);
  return status == 0 && tenants != 0 ? k_no_data : status;
}

int pack_command(const Invocation& invocation) {
  const std::string& directory = invocation.options.report_dir;
  for (const std::string& note : look_at_brackets(directory, k_placement_bound_ns)) log_line("placement: " + note);
  return pack_report(invocation, k_pack_bound_ns) ? 0 : k_nothing_written;
}

int probe_command(const Invocation& invocation) {
  Watchdog watchdog(FileCalls::system(), probe_bounds(invocation.options.read_timeout_ns));
  const ProbeContext context{Root(invocation.options.root), invocation.options.sandbox, invocation.options.nodes,
                             FileCalls::system(), watchdog};
  DescriptorSink sink(STDOUT_FILENO);
  const bool delivered = run_probe(*find_probe(invocation.probe), context, sink);
  if (!delivered)
    std::fprintf(stderr, "cozybracket: probe %s: its text could not be written: stdout is closed or full\n",
                 invocation.probe.c_str());
  if (watchdog.abandoned() > 0) {
    // A worker that is stuck in the kernel may keep this process from ending: whoever reads our output
    // shall see that it is over all the same.
    left_behind() = true;
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
  }
  return delivered ? 0 : 1;
}

}  // namespace

bool threads_left_behind() { return left_behind(); }

int perform(const Invocation& invocation) {
  std::signal(SIGPIPE, SIG_IGN);
  for (const std::string& warning : invocation.warnings) log_line(warning);
  switch (invocation.what) {
    case Invocation::What::run:
      return run_command(invocation);
    case Invocation::What::sample:
      return sample_command(invocation);
    case Invocation::What::watch_start:
      return watch_start_command(invocation);
    case Invocation::What::watch_stop:
      return watch_stop_command(invocation);
    case Invocation::What::pack:
      return pack_command(invocation);
    case Invocation::What::analyze:
      return analyze_command(invocation);
    case Invocation::What::compare:
      return compare_command(invocation);
    case Invocation::What::policy:
      return policy_command(invocation);
    case Invocation::What::doctor:
      return examine(with_program(invocation.options));
    case Invocation::What::probe:
      return probe_command(invocation);
  }
  return 0;
}

}  // namespace cozy
