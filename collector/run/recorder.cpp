#include "collector/run/recorder.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <span>
#include <vector>

#include "collector/run/followed_nodes.hpp"
#include "collector/run/live_steps.hpp"
#include "collector/run/machine_readings.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_longest_interval_ns = 24 * 3600 * k_ns_per_second;
constexpr std::int64_t k_last_qemu_grace_ns = 10 * k_ns_per_second;  // a node is restarted in less

constexpr std::string_view k_legend =
    R"("legend":{"subject":"what the numbers of a list are of, by the first of them; a later line replaces an earlier one",)"
    R"("t":"boot-time ns: when the tick was due, begun, ended; then the epoch ns of its begin",)"
    R"("missed":"ticks that were left out before this one, since it was due too late","cpu":"first line of /proc/stat, in ticks",)"
    R"("psi":"total us of cpu some, io some, io full, memory some, memory full","mem":"MemAvailable, kB",)"
    R"("self":"CPU time of the recorder, ns",)"
    R"("v":"vcpu: subject, ran ns, waited for a CPU ns, halted ns (known when a halt ends), exits, 1 while halted, state of the thread where it did not run",)"
    R"("o":"all other threads of the QEMU since it is followed: subject, ran ns, waited ns",)"
    R"("c":"cgroup: subject, usage ns, periods, throttled periods, throttled ns","left":"a process that ended; null: not known",)"
    R"("end":"why the recorder ended; where this line is missing it was at work, or was killed"})";

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class Recorder {
 public:
  Recorder(const SampleOptions& options, const RecorderOptions& recorder)
      : options_(options),
        recorder_(recorder),
        interval_ns_(recorder.interval_ns),
        begin_ns_(boottime_ns()),
        file_(recorder.byte_budget),
        nodes_(options) {}

  RecorderResult run() {
    RecorderResult result;
    if (const auto begun = file_.begin(timeline_file(options_), result.holder); !begun) {
      result.words = begun.error().text();
      return result;
    }
    if (recorder_.starter.pid != 0) starter_ = open_process(recorder_.starter);
    raise_descriptor_limit();
    result.end = record();
    result.words = file_.words().empty() ? std::string(timeline_end_words(result.end)) : file_.words();
    file_.end(result.end, boottime_ns());
    return result;
  }

 private:
  TimelineEnd record() {
    if (!put(head())) return file_.why();
    std::int64_t due_ns = boottime_ns();
    std::uint64_t missed = 0;
    for (bool first = true;; first = false) {
      if (!put(nodes_.scan_if_due()) || !put(tick(due_ns, missed))) return file_.why();
      if (first && recorder_.begun && !recorder_.begun()) return TimelineEnd::stopped;
      due_ns += interval_ns_;
      const std::int64_t behind_ns = boottime_ns() - due_ns;
      missed = behind_ns > 0 ? static_cast<std::uint64_t>(behind_ns / interval_ns_) : 0;
      due_ns += static_cast<std::int64_t>(missed) * interval_ns_;
      if (const auto end = wait_until(due_ns)) return *end;
    }
  }

  [[nodiscard]] std::string head() const {
    const Stamp stamp = now();
    const auto self = process_now(::getpid());
    return R"({"schema":"cozybracket-timeline-1","interval_ns":)" + std::to_string(interval_ns_) +
           R"(,"ticks_per_second":)" + std::to_string(::sysconf(_SC_CLK_TCK)) + R"(,"cpus":)" +
           std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + R"(,"boottime_ns":)" + std::to_string(stamp.boottime_ns) +
           R"(,"epoch_ns":)" + std::to_string(stamp.epoch_ns) + R"(,"by":)" + json_string(recorder_.by) +
           R"(,"recorder":{"pid":)" + std::to_string(::getpid()) + R"(,"start":)" +
           std::to_string(self ? self->start_ticks : 0) + R"(,"boot":)" + json_string(boot_id()) +
           R"(},"longest_ns":)" + std::to_string(recorder_.longest_ns) + "," + std::string(k_legend) + "}\n";
  }

  /// Whole lines. Slows down as the budget is used up.
  bool put(const std::string& lines) {
    if (!file_.put(lines)) return false;
    if (!file_.take_slow_down()) return true;
    interval_ns_ = std::min(interval_ns_ * 2, k_longest_interval_ns);
    return file_.put(R"({"interval_ns":)" + std::to_string(interval_ns_) + R"(,"at":)" + std::to_string(boottime_ns()) +
                     R"(,"why":"byte budget"})" + "\n");
  }

  std::string tick(std::int64_t due_ns, std::uint64_t missed) {
    const Stamp begin = now();
    std::string vcpus = "[";
    std::string others = "[";
    std::string cgroups = "[";
    nodes_.write(vcpus, others, cgroups);
    const std::string machine = machine_.members();
    if (recorder_.board != nullptr) live_.tell(begin.boottime_ns, machine_.cpu(), nodes_.all(), *recorder_.board);
    timespec own{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    const std::int64_t end_ns = boottime_ns();
    return R"({"t":[)" + std::to_string(due_ns) + "," + std::to_string(begin.boottime_ns) + "," +
           std::to_string(end_ns) + "," + std::to_string(begin.epoch_ns) + R"(],"missed":)" + std::to_string(missed) +
           "," + machine + R"(,"self":)" + std::to_string(bounded_ns(own.tv_sec, own.tv_nsec)) + R"(,"v":)" + vcpus +
           R"(],"o":)" + others + R"(],"c":)" + cgroups + "]}\n";
  }

  /// Why it is to end, if it is to end until then. Lets go of a QEMU as soon as it ends: what is held of it keeps its
  /// VM.
  std::optional<TimelineEnd> wait_until(std::int64_t due_ns) {
    const std::int64_t longest_ns = begin_ns_ + recorder_.longest_ns;
    for (;;) {
      const std::int64_t time_ns = boottime_ns();
      if (time_ns >= longest_ns) return TimelineEnd::max_duration;
      if (last_qemu_is_gone(time_ns)) return TimelineEnd::last_qemu;
      std::vector<pollfd> watched{{recorder_.end_fd, POLLIN, 0}, {starter_.number(), POLLIN, 0}};
      const std::size_t own = watched.size();
      nodes_.add_descriptors(watched);
      const std::int64_t rest_ns = std::max<std::int64_t>(std::min(due_ns, longest_ns) - time_ns, 0);
      const timespec rest{rest_ns / k_ns_per_second, rest_ns % k_ns_per_second};
      const int ready = ::ppoll(watched.data(), watched.size(), &rest, nullptr);
      if (ready > 0 && watched[0].revents != 0) return TimelineEnd::stopped;
      if (recorder_.starter.pid != 0 && (!starter_.open() || watched[1].revents != 0)) return TimelineEnd::starter;
      if (ready > 0 && !put(nodes_.drop_ended(std::span(watched).subspan(own)))) return file_.why();
      if (boottime_ns() >= due_ns) return std::nullopt;
    }
  }

  [[nodiscard]] bool last_qemu_is_gone(std::int64_t time_ns) const {
    const std::int64_t left_ns = nodes_.last_left_ns();
    return recorder_.with_last_qemu && left_ns != 0 && time_ns - left_ns >= k_last_qemu_grace_ns;
  }

  const SampleOptions& options_;
  const RecorderOptions& recorder_;
  std::int64_t interval_ns_;
  std::int64_t begin_ns_;
  TimelineFile file_;
  Descriptor starter_;
  MachineReadings machine_;
  FollowedNodes nodes_;
  LiveSteps live_;
};

}  // namespace

std::string timeline_file(const SampleOptions& options) {
  return options.report_dir + "/snapshots/" + options.snapshot + "/timeline/timeline.jsonl";
}

RecorderResult record_timeline(const SampleOptions& options, const RecorderOptions& recorder) {
  return Recorder(options, recorder).run();
}

}  // namespace cozy
