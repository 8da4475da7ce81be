#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cgroup_knobs.hpp"
#include "cgroup_path.hpp"
#include "probe.hpp"
#include "sandbox_processes.hpp"
#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_lines = 256;  // of one file
constexpr std::size_t k_most_levels = 64;

using Answer = Watchdog::Answer;
using What = Watchdog::What;

/// A QEMU and the cgroups that count and limit its CPU time: one, or two where version 1 mounts them apart.
struct Member {
  const ProcessFacts* process = nullptr;
  CgroupPlace cpu;
  CgroupPlace accounting;  ///< version 1 alone: cpuacct, which holds the usage
};

/// The files of one cgroup, and under which heading they are written.
struct Group {
  std::string_view heading;  ///< "cgroup", "cpuacct"
  CgroupPlace place;
  std::vector<std::string> files;
};

Group cpu_group(const CgroupPlace& place) {
  std::vector<std::string> files{"cpu.stat", "cpu.stat.local"};
  for (std::string& file : knob_files(place.version)) files.push_back(std::move(file));
  if (place.version == 2) files.emplace_back("cpu.pressure");
  return {"cgroup", place, std::move(files)};
}

Group accounting_group(const CgroupPlace& place) { return {"cpuacct", place, {"cpuacct.usage"}}; }

class Walk {
 public:
  Walk(const ProbeContext& context, Sink& sink) : context_(context), sink_(sink) {}

  /// Processes of the same cgroups are read together: their usage and what the processes used belong side by side.
  void sample(const std::vector<const Member*>& members) {
    std::vector<Group> groups;
    for (const Member* member : members) add_group(cpu_group(member->cpu), groups);
    for (const Member* member : members) add_group(accounting_group(member->accounting), groups);
    std::vector<Watchdog::Request> requests;
    for (const Member* member : members) requests.push_back({proc_path(context_, member->process->pid, "stat")});
    add_requests(groups, requests);
    const Stamp begin = now();
    const std::vector<Answer> answers = context_.watchdog.read(std::move(requests));
    const std::string span = span_words(begin, now());
    for (std::size_t i = 0; i < members.size(); ++i) write_totals(*members[i]->process, answers[i], span);
    write_groups(groups, answers.data() + members.size(), span);
  }

  /// Every cgroup above one that was sampled, up to the mount, each once.
  void sample_above(const CgroupPlace& place) {
    std::size_t levels = 0;
    for (CgroupPlace at = parent_of(place); at.state == PlaceState::found; at = parent_of(at)) {
      if (seen(at)) return;
      if (++levels > k_most_levels) return sink_.note("the cgroups above " + at.path + " were left out");
      std::vector<Group> groups;
      add_group(cpu_group(at), groups);
      std::vector<Watchdog::Request> requests;
      add_requests(groups, requests);
      const Stamp begin = now();
      const std::vector<Answer> answers = context_.watchdog.read(std::move(requests));
      write_groups(groups, answers.data(), span_words(begin, now()));
    }
  }

  void finish() {
    if (pressure_off_) sink_.note("cpu.pressure: EOPNOTSUPP: this kernel keeps no pressure accounting");
  }

 private:
  static std::string span_words(const Stamp& begin, const Stamp& end) {
    return "read from " + std::to_string(begin.boottime_ns) + " to " + std::to_string(end.boottime_ns) +
           " boot-time ns";
  }

  [[nodiscard]] bool seen(const CgroupPlace& place) const { return seen_.contains("cgroup " + place.path); }

  void add_group(Group group, std::vector<Group>& groups) {
    if (group.place.state != PlaceState::found) return;
    if (seen_.insert(std::string(group.heading) + " " + group.place.path).second) groups.push_back(std::move(group));
  }

  void add_requests(const std::vector<Group>& groups, std::vector<Watchdog::Request>& requests) const {
    for (const Group& group : groups) {
      for (const std::string& file : group.files) {
        requests.push_back({context_.root.path((group.place.directory + "/" + file).substr(1))});
      }
    }
  }

  void write_totals(const ProcessFacts& process, const Answer& totals, const std::string& span) {
    const std::string name = "process " + std::to_string(process.pid);
    const auto stat = parse_thread_stat(totals.file.text);
    if (stat) {
      sink_.line("[" + name + " start " + std::to_string(stat->start_ticks) + " " + span + "]");
      sink_.line("[" + name + " totals " + thread_stat_line(totals.file.text) + "]");
    } else if (totals.vanished()) {
      sink_.line("[ended " + name + "]");
    } else {
      Answer answer = totals;
      if (answer.ok()) answer.error.reason = "not a whole line";
      sink_.not_read(name + " stat", answer);
    }
  }

  void write_groups(const std::vector<Group>& groups, const Answer* answers, const std::string& span) {
    for (const Group& group : groups) {
      write_group(group, answers, span);
      answers += group.files.size();
    }
    sink_.flush();
  }

  void write_group(const Group& group, const Answer* answers, const std::string& span) {
    const std::size_t count = group.files.size();
    const auto name = std::string(group.heading) + " v" + std::to_string(group.place.version) + " ";
    sink_.line(name + escape(group.place.path));
    if (std::all_of(answers, answers + count, [](const Answer& answer) { return answer.vanished(); })) {
      if (!is_there(group.place)) sink_.line("[ended " + name + escape(group.place.path) + "]");
      return;
    }
    if (answers[0].ok()) {
      sink_.line("[inode " + std::to_string(answers[0].file.inode) + " " + span + " at " +
                 escape(group.place.directory) + "]");
    }
    for (std::size_t i = 0; i < count; ++i) write_file(group, group.files[i], answers[i]);
    if (group.place.below.empty() && group.heading == "cgroup") say_what_is_above(group, answers);
  }

  /// A cgroup can have none of the files and be there, as the root of version 2 before Linux 5.8.
  [[nodiscard]] bool is_there(const CgroupPlace& place) const {
    return !context_.watchdog.read({context_.root.path(place.directory.substr(1)), What::listing, 1}).vanished();
  }

  /// The true root of version 2 has no limit: a limit at the top of what is mounted means that more is above it.
  void say_what_is_above(const Group& group, const Answer* answers) {
    bool limit = group.place.path != "/";
    for (std::size_t i = 0; i < group.files.size(); ++i) {
      limit = limit || (group.files[i] == "cpu.max" && answers[i].ok());
    }
    if (limit) sink_.note("cgroups above " + group.place.path + " cannot be seen from here, nor their quotas");
  }

  /// A file that is not there is absent: which ones there are depends on the kernel and on the controllers.
  void write_file(const Group& group, const std::string& file, const Answer& answer) {
    if (answer.vanished()) return;
    if (!answer.ok() && answer.error.code == EOPNOTSUPP && file == "cpu.pressure") {
      pressure_off_ = true;
      return;
    }
    const auto lines = split_lines(answer.file.text);
    if (!answer.ok() || answer.file.cut || lines.size() > k_most_lines) {
      Answer refused = answer;
      if (answer.ok()) refused.error.reason = "holds more than such a file does";
      sink_.not_read(std::string(group.heading) + " " + group.place.path + " " + file, refused);
      return;
    }
    for (const std::string_view line : lines) {
      const std::string_view words = trim(line);
      if (!words.empty()) sink_.line(file + " " + escape(words));
    }
  }

  const ProbeContext& context_;
  Sink& sink_;
  std::set<std::string> seen_;  ///< headings that were written
  bool pressure_off_ = false;
};

std::string node_words(const SandboxProcesses& sandbox, std::uint64_t pid) {
  for (const NodeEvidence& node : sandbox.nodes) {
    if (node.pid == pid) return escape(node.node);
  }
  return "no known node";
}

void write_place(std::uint64_t pid, std::string_view heading, const CgroupPlace& place, Sink& sink) {
  const bool none = place.state == PlaceState::no_hierarchy;
  sink.line("[process " + std::to_string(pid) + " " + std::string(heading) + " " +
            (none ? "none" : "v" + std::to_string(place.version)) + ", " + std::string(place_state_name(place.state)) +
            ": " + escape(place.path) + "]");
}

/// By what a process's own file says; one that is in no cgroup that can be read is said.
void add_member(const ProcessFacts& process, const Answer& answer, const CgroupMounts& mounts,
                std::vector<Member>& members, Sink& sink) {
  const std::string name = "process " + std::to_string(process.pid);
  if (answer.vanished()) return sink.line("[ended " + name + "]");
  if (!answer.ok()) return sink.not_read(name + " cgroup", answer);
  const auto lines = parse_cgroup_lines(answer.file.text);
  Member member{&process, locate_cgroup(lines, mounts.mounts, "cpu"), {}};
  write_place(process.pid, "cgroup", member.cpu, sink);
  if (member.cpu.version == 1) {
    member.accounting = locate_cgroup(lines, mounts.mounts, "cpuacct");
    write_place(process.pid, "cpuacct", member.accounting, sink);
  }
  if (member.cpu.state == PlaceState::found) members.push_back(std::move(member));
}

std::vector<Member> find_members(const ProbeContext& context, const SandboxProcesses& sandbox,
                                 const CgroupMounts& mounts, std::size_t& alive, Sink& sink) {
  std::vector<const ProcessFacts*> processes;
  std::vector<Watchdog::Request> requests;
  for (const ProcessFacts& process : sandbox.processes) {
    if (!process.qemu || process.zombie) continue;
    processes.push_back(&process);
    requests.push_back({proc_path(context, process.pid, "cgroup"), What::stream});
  }
  const std::vector<Answer> answers = context.watchdog.read(std::move(requests));
  std::vector<Member> members;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::uint64_t pid = processes[i]->pid;
    sink.line("[process " + std::to_string(pid) + " is " + node_words(sandbox, pid) + "]");
    add_member(*processes[i], answers[i], mounts, members, sink);
    if (!answers[i].vanished()) ++alive;
  }
  sink.flush();
  return members;
}

/// What it means that there is no QEMU: only what was read whole is a finding.
void write_finding(const SandboxProcesses& sandbox, std::size_t alive, Sink& sink) {
  if (alive > 0) return;
  const auto ended =
      std::count_if(sandbox.processes.begin(), sandbox.processes.end(), [](const auto& p) { return p.qemu; });
  std::string read = std::to_string(sandbox.readable) + " processes were read and none is a QEMU";
  if (ended > 0) read += " that is alive: " + std::to_string(ended) + " ended";
  if (sandbox.readable == 0) {
    sink.line("NO-PROC-READ: not one process could be read");
  } else if (sandbox.unread == 0) {
    sink.line("NO-QEMU-PROCESS: " + read);
  } else {
    sink.note(read + "; " + std::to_string(sandbox.unread) + " more could not be read");
  }
}

}  // namespace

/// The cgroup of every QEMU and all above it: usage, throttling, and the knobs that are in force.
/// Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst.
void run_sandbox_vm_cgroup_cpu(const ProbeContext& context, Sink& sink) {
  sink.line("clock ticks per second: " + std::to_string(sysconf(_SC_CLK_TCK)));
  const SandboxProcesses sandbox = find_sandbox_processes(context, sink);
  const CgroupMounts mounts = read_cgroup_mounts(context.root, context.watchdog);
  if (!mounts.unread.empty()) sink.line("[not read /proc/self/mountinfo: " + escape(mounts.unread) + "]");
  std::size_t alive = 0;
  const std::vector<Member> members = find_members(context, sandbox, mounts, alive, sink);

  std::map<std::pair<std::string, std::string>, std::size_t> known;
  std::vector<std::vector<const Member*>> together;
  for (const Member& member : members) {
    const auto [at, inserted] = known.emplace(std::pair(member.cpu.path, member.accounting.path), together.size());
    if (inserted) together.emplace_back();
    together[at->second].push_back(&member);
  }
  Walk walk(context, sink);
  for (const auto& group : together) walk.sample(group);
  for (const auto& group : together) walk.sample_above(group.front()->cpu);
  walk.finish();
  write_finding(sandbox, alive, sink);
}

}  // namespace cozy
