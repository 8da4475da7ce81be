#include "collector/policy/node_cgroups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "probes/sandbox_processes.hpp"
#include "probes/text.hpp"
#include "probes/thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_others = 16;

using What = Watchdog::What;

/// The lines that the search for processes wrote for a capture, as words.
std::vector<std::string> words_of(std::string_view text) {
  Reading reading;
  for (const std::string_view line : split_lines(text)) parse_common_line(line, reading);
  std::vector<std::string> words = reading.notes;
  for (const auto* list : {&reading.refused, &reading.stalled}) {
    for (const std::string& entry : *list) words.push_back("not read: " + entry);
  }
  return words;
}

/// The processes of a cgroup but for the node's own and those of the kernel: which they are, as far as they can
/// be seen.
std::vector<std::string> others_in(const ProbeContext& context, const std::string& directory, std::uint64_t own) {
  const auto list = context.watchdog.read({context.root.path((directory + "/cgroup.procs").substr(1)), What::stream});
  std::vector<Watchdog::Request> requests;
  for (const std::string_view line : split_lines(list.file.text)) {
    const auto pid = parse_u64(trim(line));
    if (pid && *pid != own && *pid != 0 && requests.size() < k_most_others)
      requests.push_back({proc_path(context, *pid, "stat")});
  }
  std::vector<std::string> others;
  for (const auto& answer : context.watchdog.read(std::move(requests))) {
    const auto stat = parse_thread_stat(answer.file.text);
    if (stat && !stat->kernel_thread()) others.push_back(std::to_string(stat->tid) + " (" + escape(stat->comm) + ")");
  }
  return others;
}

std::string why_no_cgroup(const CgroupPlace& place) {
  return "its cgroup of the cpu controller is " + std::string(place_state_name(place.state)) +
         (place.path.empty() ? "" : ": " + escape(place.path));
}

/// A pid can come to name another process while its cgroup is read.
bool is_still_there(const ProbeContext& context, const ProcessFacts& process) {
  const auto answer = context.watchdog.read({proc_path(context, process.pid, "stat")});
  const auto stat = parse_thread_stat(answer.file.text);
  return stat && stat->start_ticks == process.start_ticks;
}

void read_cgroup_of(const ProbeContext& context, const CgroupMounts& mounts, const ProcessFacts& process,
                    NodeKnobs& node) {
  const auto place = find_cgroup(context.root, context.watchdog, mounts, process.pid);
  if (!place || place->state != PlaceState::found) {
    node.unread = place ? why_no_cgroup(*place) : place.error().text();
    if (!mounts.unread.empty()) node.unread += "; " + mounts.unread;
    return;
  }
  node.levels = read_cpu_knobs(context.root, context.watchdog, *place, node.problems);
  if (place->below.empty()) {
    node.shared_with = "everything in the topmost cgroup that is seen here";
  } else {
    node.others = others_in(context, place->directory, process.pid);
  }
  if (!is_still_there(context, process)) {
    node.levels.clear();
    node.unread = "the process ended while its cgroup was read";
  }
}

/// The nodes that the caller named or the sandbox has a directory of; empty where nothing says which there are.
std::vector<std::string> expected_nodes(const ProbeContext& context) {
  constexpr std::size_t k_most_names = 65536;
  std::vector<std::string> names;
  for (const NodeSpec& spec : context.nodes) names.push_back(spec.name);
  if (!names.empty()) return names;
  for (const DirectoryEntry& entry : context.watchdog.read({context.sandbox, What::listing, k_most_names}).entries) {
    const auto number = after_prefix(entry.name, "srv");
    if (number && parse_u64(*number)) names.push_back(entry.name);
  }
  return names;
}

/// A guest of the same name can be of another sandbox; where pid files say which nodes there are, it is left out.
bool is_foreign(const NodeEvidence& evidence, const std::vector<std::string>& expected) {
  return !expected.empty() && std::find(expected.begin(), expected.end(), evidence.node) == expected.end();
}

/// A directory that an earlier node has left: neither a pid file nor a process.
bool is_leftover(const ProbeContext& context, const NodeEvidence& evidence) {
  if (evidence.pid || !context.nodes.empty()) return false;
  return context.watchdog.read({context.sandbox + "/" + evidence.node + "/qemu.pid", What::stream}).vanished();
}

/// A cgroup that holds a second node, or us, is no scope of one node.
void mark_shared(const ProbeContext& context, const CgroupMounts& mounts, std::vector<NodeKnobs>& nodes) {
  std::map<std::pair<int, std::string>, std::vector<std::string>> members;
  for (const NodeKnobs& node : nodes) {
    if (!node.levels.empty()) members[{node.levels.front().version, node.levels.front().path}].push_back(node.node);
  }
  const auto answer = context.watchdog.read({context.root.path("proc/self/cgroup"), What::stream});
  const CgroupPlace ours = locate_cgroup(parse_cgroup_lines(answer.file.text), mounts.mounts, "cpu");
  for (NodeKnobs& node : nodes) {
    if (node.levels.empty() || !node.shared_with.empty()) continue;
    const CpuKnobs& own = node.levels.front();
    std::vector<std::string> names = members[{own.version, own.path}];
    std::erase(names, node.node);
    if (ours.state == PlaceState::found && ours.version == own.version && ours.path == own.path)
      names.emplace_back("the process that looks at it");
    node.shared_with = join(names, ", ");
  }
}

}  // namespace

SandboxKnobs read_node_cgroups(const ProbeContext& context) {
  StringSink sink;
  const SandboxProcesses sandbox = find_sandbox_processes(context, sink);
  sink.flush();
  SandboxKnobs found{{}, words_of(sink.content)};
  const CgroupMounts mounts = read_cgroup_mounts(context.root, context.watchdog);
  const std::vector<std::string> expected = expected_nodes(context);
  for (const NodeEvidence& evidence : sandbox.nodes) {
    if (is_foreign(evidence, expected)) {
      const std::string process = evidence.pid ? "process " + std::to_string(*evidence.pid) : "processes";
      found.notes.push_back("left out: " + process + ", by its guest name " + evidence.node +
                            ": no pid file of that node is known here");
      continue;
    }
    if (is_leftover(context, evidence)) {
      found.notes.push_back("left out: " + evidence.node + ", which has neither a pid file nor a process");
      continue;
    }
    NodeKnobs node{evidence.node, evidence.pid, "", {}, "", {}, {}, evidence.notes};
    const auto process = std::find_if(sandbox.processes.begin(), sandbox.processes.end(),
                                      [&](const ProcessFacts& facts) { return facts.pid == evidence.pid; });
    if (evidence.pid && process != sandbox.processes.end())
      read_cgroup_of(context, mounts, *process, node);
    else
      node.unread = "no live process was found for it";
    found.nodes.push_back(std::move(node));
  }
  mark_shared(context, mounts, found.nodes);
  return found;
}

}  // namespace cozy
