#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "collector/analyse/thread_kind.hpp"

namespace cozy {

/// A thread that one or both readings name.
struct ThreadScope {
  std::uint64_t tid = 0;
  std::string scope;  ///< "thread 812/815"
};

/// A process that one or both readings name, with its threads by tid.
struct ProcessScope {
  std::string scope;  ///< "process 812"
  bool before = false;
  bool after = false;
  std::vector<ThreadScope> threads;
};

/// The processes of a pair of readings, by pid.
std::map<std::uint64_t, ProcessScope> processes_of(const Difference& threads);

/// The raw bytes of a thread's or process's name; the later reading's where both have one.
std::string comm_of(const Difference& threads, const std::string& scope);

ThreadKind kind_of_thread(const Difference& threads, std::uint64_t pid, const ThreadScope& thread);

/// False when both readings tell the start time and it differs: another process under the same number.
bool same_process(const Difference& threads, std::uint64_t pid, const ProcessScope& process);

}  // namespace cozy
