#include "node_evidence.hpp"

#include <algorithm>
#include <map>

#include "clock.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::uint64_t k_pid_limit = 1U << 22U;  // PID_MAX_LIMIT of include/linux/threads.h
// A start time has a resolution of 10 ms and the wall clock may be slewed between start and file.
constexpr std::int64_t k_start_tolerance_ns = 2 * k_ns_per_second;
constexpr std::size_t k_longest_name = 64;

/// One value of a QEMU option list: up to the next single comma, with ",," read as ",".
std::string option_value(std::string_view& rest) {
  std::string value;
  while (!rest.empty()) {
    if (rest.front() == ',') {
      rest.remove_prefix(1);
      if (rest.empty() || rest.front() != ',') break;
    }
    value += rest.front();
    rest.remove_prefix(1);
  }
  return value;
}

const ProcessFacts* find_process(const std::vector<ProcessFacts>& processes, std::uint64_t pid) {
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const auto& p) { return p.pid == pid; });
  return found == processes.end() ? nullptr : &*found;
}

/// Why the process that a pid file names is not the node's; empty when it is.
std::string objection(const PidFile& file, const ProcessFacts* process) {
  const std::string names = "pid file names " + std::to_string(*file.pid);
  if (process == nullptr) return names + ", and no such process lives: stale";
  const std::string who = names + " (" + escape(process->comm) + ")";
  if (process->kernel_thread) return who + ", a kernel thread";
  if (process->zombie) return who + ", which has ended and was not waited for: stale";
  if (!process->qemu) return who + ", not a QEMU";
  if (process->guest && *process->guest != file.node) return who + ", whose guest name says " + escape(*process->guest);
  if (process->start_epoch_ns && *process->start_epoch_ns > file.written_epoch_ns + k_start_tolerance_ns) {
    return who + ", which started " +
           fixed(static_cast<double>(*process->start_epoch_ns - file.written_epoch_ns) / 1e9, 1) +
           " s after the file was written: stale, the number was used again";
  }
  return {};
}

/// Two files that name one process, whose guest name does not decide between them: it is taken for neither.
void drop_shared(const std::vector<ProcessFacts>& processes, std::vector<NodeEvidence>& nodes) {
  std::map<std::uint64_t, std::vector<NodeEvidence*>> claims;
  for (NodeEvidence& node : nodes) {
    if (node.pid) claims[*node.pid].push_back(&node);
  }
  for (const auto& [pid, claimants] : claims) {
    const ProcessFacts* process = find_process(processes, pid);
    if (claimants.size() < 2 || process == nullptr || process->guest) continue;
    std::vector<std::string> names;
    for (const NodeEvidence* node : claimants) names.push_back(node->node);
    for (NodeEvidence* node : claimants) {
      node->pid.reset();
      node->evidence.clear();
      node->notes.push_back("pid file names " + std::to_string(pid) + ", as do those of " + join(names, ", ") +
                            " together; it is taken for none of them");
    }
  }
}

void take_pid_file(const PidFile& file, const std::vector<ProcessFacts>& processes, NodeEvidence& node) {
  if (!file.pid) {
    node.notes.push_back("no usable pid file: " + file.unusable);
    return;
  }
  const ProcessFacts* process = find_process(processes, *file.pid);
  const std::string against = objection(file, process);
  if (against.empty()) {
    node.pid = file.pid;
    node.evidence.emplace_back("pid file");
  } else {
    node.notes.push_back(against);
  }
}

/// Adds the guest name to the evidence, or lets it decide where the pid file could not.
void take_guest_names(const std::vector<std::uint64_t>& carriers, NodeEvidence& node) {
  if (node.pid) {
    for (const std::uint64_t pid : carriers) {
      if (pid == *node.pid) {
        node.evidence.emplace_back("guest name");
      } else {
        node.notes.push_back("process " + std::to_string(pid) + " carries the same guest name");
      }
    }
  } else if (carriers.size() == 1) {
    node.pid = carriers.front();
    node.evidence.emplace_back("guest name");
  } else if (carriers.size() > 1) {
    std::vector<std::string> names;
    for (const std::uint64_t pid : carriers) names.push_back(std::to_string(pid));
    node.notes.push_back("its guest name is carried by the processes " + join(names, ", ") + "; none is taken");
  }
}

/// srv2 before srv10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto split = [](const std::string& name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
    return std::pair(name.substr(0, digits), parse_u64(std::string_view(name).substr(digits)).value_or(0));
  };
  const auto left = split(a);
  const auto right = split(b);
  return left != right ? left < right : a < b;
}

}  // namespace

Result<std::uint64_t> parse_pid_text(std::string_view text) {
  const auto refuse = [](std::string reason) { return Error{"", std::move(reason), 0}; };
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) return refuse("it is empty");
  if (text.find('\n') != std::string_view::npos) return refuse("more than one line");
  if (text.find_first_not_of("0123456789") != std::string_view::npos) {
    return refuse("\"" + escape(text.substr(0, 32)) + "\" is not one number");
  }
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  const auto pid = parse_u64(text);
  if (!pid || *pid == 0 || *pid > k_pid_limit)
    return refuse("\"" + escape(text.substr(0, 32)) + "\" is no process number");
  return *pid;
}

std::optional<std::string> guest_name(std::string_view command_line) {
  const auto arguments = split_at(command_line, '\0');
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != "-name" && arguments[i] != "--name") continue;
    std::string_view rest = arguments[i + 1];
    for (bool first = true; !rest.empty(); first = false) {
      const std::string option = option_value(rest);
      if (const auto value = after_prefix(option, "guest=")) return std::string(*value);
      if (first && option.find('=') == std::string::npos) return option;
    }
  }
  return std::nullopt;
}

bool is_node_name(std::string_view name) {
  if (name.empty() || name.size() > k_longest_name) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("._:@+-").find(c) != std::string_view::npos;
  });
}

std::vector<NodeEvidence> resolve_nodes(const std::vector<PidFile>& pid_files,
                                        const std::vector<ProcessFacts>& processes) {
  std::map<std::string, std::vector<std::uint64_t>> carriers;
  std::vector<NodeEvidence> nodes;
  const auto node_of = [&nodes](const std::string& name) -> NodeEvidence& {
    const auto known = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.node == name; });
    if (known != nodes.end()) return *known;
    nodes.push_back({name, std::nullopt, {}, {}});
    return nodes.back();
  };
  for (const PidFile& file : pid_files) take_pid_file(file, processes, node_of(file.node));
  drop_shared(processes, nodes);
  for (const ProcessFacts& process : processes) {
    if (!process.qemu || process.zombie || !process.guest || !is_node_name(*process.guest)) continue;
    carriers[*process.guest].push_back(process.pid);
    node_of(*process.guest);
  }
  for (NodeEvidence& node : nodes) take_guest_names(carriers[node.node], node);
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return natural_less(a.node, b.node); });
  return nodes;
}

}  // namespace cozy
