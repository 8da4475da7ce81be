#include "collector/analyse/process_threads.hpp"

#include <algorithm>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

void mark(const RowChange& row, ProcessScope& process) {
  process.before = process.before || row.before != nullptr;
  process.after = process.after || row.after != nullptr;
}

/// The value of a row in the later reading that has one; null where neither has.
const Value* latest(const Difference& threads, std::string_view scope, std::string_view field) {
  const RowChange* row = threads.find(scope, field);
  if (row == nullptr) return nullptr;
  return row->after != nullptr ? &row->after->value : &row->before->value;
}

}  // namespace

std::map<std::uint64_t, ProcessScope> processes_of(const Difference& threads) {
  std::map<std::uint64_t, ProcessScope> processes;
  for (const RowChange& row : threads.rows()) {
    const std::string& scope = row.scope();
    if (const auto digits = after_prefix(scope, "process ")) {
      const auto pid = parse_u64(*digits);
      if (!pid) continue;
      mark(row, processes[*pid]);
      processes[*pid].scope = scope;
    } else if (const auto ids = after_prefix(scope, "thread ")) {
      const std::size_t slash = ids->find('/');
      const auto pid = parse_u64(ids->substr(0, slash));
      const auto tid = slash == std::string_view::npos ? std::nullopt : parse_u64(ids->substr(slash + 1));
      if (!pid || !tid) continue;
      ProcessScope& process = processes[*pid];
      mark(row, process);
      if (process.threads.empty() || process.threads.back().scope != scope) process.threads.push_back({*tid, scope});
    }
  }
  for (auto& [pid, process] : processes) {
    if (process.scope.empty()) process.scope = "process " + std::to_string(pid);
    auto& list = process.threads;
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.tid != b.tid ? a.tid < b.tid : a.scope < b.scope; });
    const auto same = [](const auto& a, const auto& b) { return a.scope == b.scope; };
    list.erase(std::unique(list.begin(), list.end(), same), list.end());
  }
  return processes;
}

std::string comm_of(const Difference& threads, const std::string& scope) {
  const Value* comm = latest(threads, scope, "comm");
  return comm == nullptr ? std::string() : value_text(*comm);
}

ThreadKind kind_of_thread(const Difference& threads, std::uint64_t pid, const ThreadScope& thread) {
  const Value* flags = latest(threads, thread.scope, "flags");
  const auto bits = flags == nullptr ? std::nullopt : counter_value(*flags);
  return thread_kind(pid, thread.tid, comm_of(threads, thread.scope), bits.value_or(0));
}

bool same_process(const Difference& threads, std::uint64_t pid, const ProcessScope& process) {
  const std::string leader = "thread " + std::to_string(pid) + "/" + std::to_string(pid);
  for (const std::string& scope : {process.scope, leader}) {
    const RowChange* start = threads.find(scope, "start");
    if (start == nullptr || start->before == nullptr || start->after == nullptr) continue;
    return start->before->value == start->after->value;
  }
  return true;
}

}  // namespace cozy
