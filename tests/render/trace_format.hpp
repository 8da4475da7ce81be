#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What a reader of the trace event format asks of a trace, and what ours adds to it.
namespace trace_format {

using Json = nlohmann::json;

class Checker {
 public:
  /// A line for each fault.
  std::vector<std::string> faults(const Json& trace) {
    faults_.clear();
    require(trace.is_object() && trace.contains("traceEvents") && trace.contains("otherData"), "a trace", trace);
    if (!faults_.empty()) return faults_;
    for (const Json& event : trace["traceEvents"]) take(event);
    for (const auto& [thread, slices] : slices_) check_slices(slices);
    for (const std::uint64_t process : used_) require(named_.contains(process), "a process has a name", Json(process));
    return faults_;
  }

 private:
  void require(bool holds, const std::string& words, const Json& event) {
    if (!holds && faults_.size() < 10) faults_.push_back(words + ": " + event.dump().substr(0, 300));
  }

  void take(const Json& event) {
    for (const char* key : {"ph", "pid", "tid", "ts", "name", "args"}) require(event.contains(key), key, event);
    if (!faults_.empty()) return;
    require(event["pid"].is_number_unsigned() && event["pid"] > 0, "0 is the kernel's", event);
    require(event["tid"].is_number_unsigned() && event["tid"] > 0, "0 is the kernel's", event);
    require(event["ts"].is_number() && event["ts"] >= 0, "a time is not before the origin", event);
    require(event["name"].is_string() && !event["name"].get<std::string>().empty(), "an event has a name", event);
    require(event["args"].is_object(), "args are an object", event);
    const auto thread = event["tid"].get<std::uint64_t>();
    const auto process = event["pid"].get<std::uint64_t>();
    require(threads_.emplace(thread, process).first->second == process, "a thread is of one process", event);
    take_phase(event, process, thread);
  }

  void take_phase(const Json& event, std::uint64_t process, std::uint64_t thread) {
    const std::string phase = event["ph"];
    if (phase == "M") return take_metadata(event, process, thread);
    used_.insert(process);
    if (phase == "C") return take_counters(event, process);
    if (phase == "X") {
      require(event.contains("dur") && event["dur"].is_number() && event["dur"] >= 0, "a slice has a length", event);
      require(named_threads_.contains(thread), "a slice's thread has a name", event);
      if (faults_.empty()) slices_[thread].emplace_back(event["ts"], event["dur"]);
      return;
    }
    require(phase == "i", "a phase of ours", event);
    require(event.contains("s") && (event["s"] == "g" || event["s"] == "p"), "an instant has a scope", event);
  }

  void take_metadata(const Json& event, std::uint64_t process, std::uint64_t thread) {
    const Json& args = event["args"];
    if (event["name"] == "process_sort_index") return require(args.value("sort_index", 0) > 0, "an order", event);
    require(!args.value("name", "").empty(), "a name is no empty one", event);
    if (event["name"] == "process_name")
      require(named_.insert(process).second, "a process is named once", event);
    else
      require(event["name"] == "thread_name" && named_threads_.insert(thread).second, "so is a thread", event);
  }

  void take_counters(const Json& event, std::uint64_t process) {
    require(!event["args"].empty(), "a counter has a value", event);
    for (const auto& [key, value] : event["args"].items()) {
      require(value.is_number() && (value >= 0 || value == -1), "a value, or -1 where it was not read", event);
      const std::string track = std::to_string(process) + " " + event["name"].get<std::string>() + " " + key;
      const double time = event["ts"];
      const auto [last, first] = times_.try_emplace(track, time);
      require(first || time >= last->second, "the values of a track go on", event);
      last->second = time;
    }
  }

  void check_slices(const std::vector<std::pair<double, double>>& slices) {
    std::vector<std::pair<double, double>> sorted = slices;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const double end = sorted[i - 1].first + sorted[i - 1].second;
      require(end <= sorted[i].first + 0.0005 + end * 1e-12, "slices of a thread lie apart", Json(end));
    }
  }

  std::vector<std::string> faults_;
  std::set<std::uint64_t> named_;
  std::set<std::uint64_t> named_threads_;
  std::set<std::uint64_t> used_;
  std::map<std::uint64_t, std::uint64_t> threads_;
  std::map<std::string, double> times_;
  std::map<std::uint64_t, std::vector<std::pair<double, double>>> slices_;
};

}  // namespace trace_format
