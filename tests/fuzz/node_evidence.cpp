#include "probes/node_evidence.hpp"

#include <algorithm>
#include <set>

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

namespace {

std::uint64_t number_at(const std::vector<std::string_view>& words, std::size_t at) {
  return at < words.size() ? parse_u64(words[at]).value_or(words[at].size()) : 0;
}

std::string word_at(const std::vector<std::string_view>& words, std::size_t at) {
  return at < words.size() ? std::string(words[at]) : std::string();
}

PidFile pid_file_of(const std::vector<std::string_view>& words) {
  PidFile file;
  file.node = word_at(words, 0);
  const auto pid = parse_pid_text(word_at(words, 1));
  if (pid)
    file.pid = *pid;
  else
    file.unusable = pid.error().reason;
  file.written_epoch_ns = static_cast<std::int64_t>(number_at(words, 2) % 4'000'000'000) * k_ns_per_second;
  return file;
}

ProcessFacts process_of(const std::vector<std::string_view>& words) {
  ProcessFacts process;
  process.pid = number_at(words, 0) % 4096 + 1;
  process.comm = word_at(words, 1);
  const std::string facts = word_at(words, 2);
  const auto has = [&](char c) { return facts.find(c) != std::string::npos; };
  process.qemu = !has('n');
  process.kernel_thread = has('k');
  process.zombie = has('z');
  if (words.size() > 3 && !process.kernel_thread) process.guest = word_at(words, 3);
  if (words.size() > 4)
    process.start_epoch_ns = static_cast<std::int64_t>(number_at(words, 4) % 4'000'000'000) * k_ns_per_second;
  return process;
}

void require_sound_node(const NodeEvidence& node, const std::vector<ProcessFacts>& processes) {
  require(node.pid.has_value() == !node.evidence.empty(), "a process is a node by evidence, and by nothing else");
  for (const std::string& note : node.notes) require_harmless_line(note);
  if (!node.pid) return;
  const auto process =
      std::find_if(processes.begin(), processes.end(), [&](const ProcessFacts& p) { return p.pid == *node.pid; });
  require(process != processes.end(), "a node's process is one of those that were found");
  require(process->qemu && !process->zombie && !process->kernel_thread, "a node's process is a live QEMU");
  require(!process->guest || *process->guest == node.node, "a node's process does not say that it is another");
}

/// Lines "NODE PID WRITTEN" up to an empty one, then "PID COMM FACTS GUEST START".
void resolve(std::string_view bytes) {
  std::vector<PidFile> files;
  std::vector<ProcessFacts> processes;
  std::set<std::uint64_t> pids;
  bool behind = false;
  for (const std::string_view line : split_lines(bytes)) {
    const auto words = split_words(line);
    if (words.empty()) {
      behind = true;
    } else if (!behind) {
      if (is_node_name(words.front())) files.push_back(pid_file_of(words));
    } else {
      ProcessFacts process = process_of(words);
      if (pids.insert(process.pid).second) processes.push_back(std::move(process));
    }
    if (files.size() + processes.size() > 200) break;
  }
  std::set<std::uint64_t> taken;
  std::set<std::string> names;
  for (const NodeEvidence& node : resolve_nodes(files, processes)) {
    require(is_node_name(node.node) && names.insert(node.node).second, "a node stands there once");
    require_sound_node(node, processes);
    require(!node.pid || taken.insert(*node.pid).second, "a process is one node");
  }
}

}  // namespace

void node_evidence(std::string_view bytes) {
  const auto pid = parse_pid_text(bytes);
  if (pid)
    require(*pid > 0 && *pid <= (1U << 22U), "a pid is one that the kernel gives");
  else
    require_harmless_line(pid.error().text());
  if (const auto guest = guest_name(bytes)) {
    if (is_node_name(*guest)) require_harmless_line(*guest);
  }
  resolve(bytes);
}

}  // namespace cozy::fuzz
