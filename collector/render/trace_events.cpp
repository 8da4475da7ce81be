#include "collector/render/trace_events.hpp"

#include <algorithm>

#include "collector/render/json_object.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_ns_per_us = 1000;

std::string args_text(const TraceEvents::Args& args) {
  std::string text = "{";
  for (const auto& [key, json] : args) text += (text.size() > 1 ? "," : "") + json_text(key) + ":" + json;
  return text + "}";
}

}  // namespace

std::string trace_text(std::string_view words) {
  constexpr std::size_t k_longest = 4096;
  if (words.size() <= k_longest) return json_text(words);
  std::size_t end = k_longest;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0U) == 0x80U) --end;  // a character stays whole
  return json_text(std::string(words.substr(0, end)) + " [cut]");
}

TraceEvents::Process TraceEvents::process(std::string_view name) {
  const Process process = next_++;
  add("M", process, process, "process_name", origin_ns_, "", {{"name", trace_text(name)}});
  add("M", process, process, "process_sort_index", origin_ns_, "", {{"sort_index", std::to_string(process)}});
  return process;
}

TraceEvents::Thread TraceEvents::thread(Process process, std::string_view name) {
  const Thread thread = next_++;
  add("M", process, thread, "thread_name", origin_ns_, "", {{"name", trace_text(name)}});
  return thread;
}

void TraceEvents::slice(Process process, Thread thread, std::string_view name, std::int64_t from_ns, std::int64_t to_ns,
                        const Args& args) {
  const std::string length = microseconds(origin_ns_ + std::max<std::int64_t>(to_ns - from_ns, 0));
  add("X", process, thread, name, from_ns, R"(,"dur":)" + length, args);
}

void TraceEvents::instant(std::optional<Process> process, std::string_view name, std::int64_t at_ns, const Args& args) {
  const Process of = process.value_or(1);
  add("i", of, of, name, at_ns, process ? R"(,"s":"p")" : R"(,"s":"g")", args);
}

void TraceEvents::counters(Process process, std::string_view name, std::int64_t at_ns, const Args& args) {
  add("C", process, process, name, at_ns, "", args);
}

std::string TraceEvents::text(const Args& other_data) const {
  return R"({"displayTimeUnit":"ms","otherData":)" + args_text(other_data) + ",\n\"traceEvents\":[\n" + events_ +
         "\n]}\n";
}

void TraceEvents::add(std::string_view phase, Process process, Thread thread, std::string_view name, std::int64_t at_ns,
                      std::string_view more, const Args& args) {
  if (!events_.empty()) events_ += ",\n";
  events_ += R"({"ph":")" + std::string(phase) + R"(","pid":)" + std::to_string(process) + R"(,"tid":)" +
             std::to_string(thread) + R"(,"ts":)" + microseconds(at_ns) + R"(,"name":)" + trace_text(name);
  events_ += more;
  events_ += R"(,"args":)" + args_text(args) + "}";
}

std::string TraceEvents::microseconds(std::int64_t ns) const {
  const std::int64_t after = std::max<std::int64_t>(ns - origin_ns_, 0);
  std::string text = std::to_string(after / k_ns_per_us);
  const std::int64_t rest = after % k_ns_per_us;
  if (rest == 0) return text;
  const std::string digits = std::to_string(rest);
  return text + "." + std::string(3 - digits.size(), '0') + digits;
}

}  // namespace cozy
