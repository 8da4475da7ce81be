#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cozy {

/// Events of the trace event format, as JSON, an event a line: what ui.perfetto.dev and chrome://tracing open. Their
/// times are microseconds from one origin, to the nanosecond.
class TraceEvents {
 public:
  /// A key of ours, and JSON: a number, or what trace_text() made.
  using Args = std::vector<std::pair<std::string_view, std::string>>;
  using Process = std::uint64_t;  ///< a number that the format wants; none of a machine
  using Thread = std::uint64_t;

  explicit TraceEvents(std::int64_t origin_ns) : origin_ns_(origin_ns) {}

  /// Shown in the order in which they are made. Names are escaped words.
  Process process(std::string_view name);
  Thread thread(Process process, std::string_view name);
  /// Slices of one thread lie in each other or apart.
  void slice(Process process, Thread thread, std::string_view name, std::int64_t from_ns, std::int64_t to_ns,
             const Args& args);
  /// Without a process it is of the whole trace.
  void instant(std::optional<Process> process, std::string_view name, std::int64_t at_ns, const Args& args);
  /// Each of the args is a track of its own, "NAME KEY", and holds its value until the next.
  void counters(Process process, std::string_view name, std::int64_t at_ns, const Args& args);

  [[nodiscard]] std::size_t size() const { return events_.size(); }
  /// The whole trace; the args stand beside its events.
  [[nodiscard]] std::string text(const Args& other_data) const;

 private:
  void add(std::string_view phase, Process process, Thread thread, std::string_view name, std::int64_t at_ns,
           std::string_view more, const Args& args);
  [[nodiscard]] std::string microseconds(std::int64_t ns) const;

  std::int64_t origin_ns_;
  std::uint64_t next_ = 1;  ///< 0 is the kernel's idle task to perfetto; a thread's number is of no other process
  std::string events_;
};

/// Escaped words as a string of JSON; those that are too long to be read are cut, and say so.
std::string trace_text(std::string_view words);

}  // namespace cozy
