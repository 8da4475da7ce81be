#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "node_evidence.hpp"
#include "reading.hpp"
#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_threads = 65536;  // and processes
constexpr std::size_t k_most_nodes = 1024;

using Words = std::vector<std::string_view>;

/// The line from one of its words on.
std::string_view from_word(std::string_view line, const Words& words, std::size_t i) {
  return line.substr(static_cast<std::size_t>(words[i].data() - line.data()));
}

/// The nodes by name. [node srv1 is process 902; evidence: pid file, guest name]   [node srv3 note: ...]
class NodeLines {
 public:
  explicit NodeLines(Reading& reading) : reading_(reading) {}

  void take(std::string_view line, const Words& words) {
    const std::string_view what = from_word(line, words, 2);
    if (const auto note = after_prefix(what, "note: ")) {
      if (NodeEvidence* node = named(words[1])) add_words(node->notes, std::string(*note));
    } else if (what == "has no process") {
      named(words[1]);
    } else if (const auto process = after_prefix(what, "is process ")) {
      const auto pid = parse_u64(process->substr(0, process->find(';')));
      const std::size_t evidence = process->find("; evidence: ");
      NodeEvidence* node = pid && evidence != std::string_view::npos ? named(words[1]) : nullptr;
      if (node == nullptr || node->pid) return;
      node->pid = pid;
      for (const auto part : split_at(process->substr(evidence + 12), ','))
        add_words(node->evidence, std::string(trim(part)));
    }
  }

  /// [process 412 is srv1]: all that the shell says; in our own captures it repeats the node's line.
  void shell_map(const Words& words) {
    const auto pid = parse_u64(words[1]);
    NodeEvidence* node = pid ? named(words[3]) : nullptr;
    if (node == nullptr || node->pid) return;
    node->pid = pid;
    node->evidence.emplace_back("pid file");
  }

 private:
  /// Null for what cannot be a node's name.
  NodeEvidence* named(std::string_view name) {
    const auto known = index_.find(name);
    if (known != index_.end()) return &reading_.nodes[known->second];
    if (!is_node_name(name) || reading_.nodes.size() == k_most_nodes) return nullptr;
    index_.emplace(name, reading_.nodes.size());
    reading_.nodes.push_back({std::string(name), std::nullopt, {}, {}});
    return &reading_.nodes.back();
  }

  Reading& reading_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// Reads the lines of a capture under the process heading that they belong to. The same lines stand in
/// the shell's files, which have no bracketed ones but the node map.
class ThreadLines {
 public:
  explicit ThreadLines(Reading& reading) : reading_(reading), nodes_(reading) {}

  /// A line whose newline stands behind it.
  void take(std::string_view line) {
    if (line.empty() || parse_common_line(line, reading_)) return;
    if (line.front() >= '0' && line.front() <= '9') return thread(line);
    if (line.starts_with("process ")) return heading(line);
    if (const auto ticks = after_prefix(line, "clock ticks per second: ")) {
      const auto number = parse_u64(trim(*ticks));
      if (number && !said_ticks_) reading_.add("kernel", "clock_ticks_per_second", *number, Kind::instant);
      said_ticks_ = said_ticks_ || number;
      return;
    }
    if (line.starts_with("NO-PROC-READ: ")) reading_.unavailable = line;
    if (line.starts_with("NO-QEMU-PROCESS: ") || line.starts_with("NO-THREAD-LINES: ")) reading_.finding = line;
    if (line.starts_with('[') && line.ends_with(']')) bracketed(line.substr(1, line.size() - 2));
  }

  void finish() {
    for (const std::string& refused : reading_.refused) add_words(reading_.partial, refused);
    if (accounting_off_) drop_zero_schedstat();
    if (accepted_ == 0) drop_totals();
    if (accepted_ == 0 && reading_.finding.empty() && reading_.unavailable.empty()) {
      reading_.unavailable = "no thread line in the text";
    }
  }

 private:
  void heading(std::string_view line) {
    pid_.clear();  // under a heading that cannot be read stands nobody's thread
    const auto pid = between(line, "process ", " comm ");
    const auto number = pid ? parse_u64(*pid) : std::nullopt;
    if (!number) return;
    const std::string scope = "process " + std::to_string(*number);
    if (seen_.size() == k_most_threads) return add_words(reading_.partial, scope + " is one too many");
    if (!seen_.insert(scope).second)
      return add_words(reading_.partial, "the heading of " + scope + " stands there twice");
    pid_ = std::to_string(*number);
    totals_seen_ = false;
    const std::size_t name = line.find(" comm ") + 6;
    reading_.add(scope, "comm", unescape(line.substr(name)), Kind::instant);
    reading_.subjects.push_back({scope, "", std::nullopt, std::nullopt});
    process_ = reading_.subjects.size() - 1;
  }

  void add_stat(const std::string& scope, const ThreadStat& stat) {
    reading_.add(scope, "state", std::string(1, stat.state), Kind::instant);
    reading_.add(scope, "flags", stat.flags, Kind::instant);
    reading_.add(scope, "utime", stat.utime_ticks, Kind::cumulative);
    reading_.add(scope, "stime", stat.stime_ticks, Kind::cumulative);
    reading_.add(scope, "start", stat.start_ticks, Kind::instant);
    if (stat.last_cpu) reading_.add(scope, "last_cpu", *stat.last_cpu, Kind::instant);
    if (stat.guest_time_ticks) reading_.add(scope, "guest_time", *stat.guest_time_ticks, Kind::cumulative);
  }

  void thread(std::string_view line) {
    facts_scope_.clear();
    const auto reject = [&](std::string_view why) {
      const std::string tid = escape(line.substr(0, std::min<std::size_t>(line.find(' '), 20)));
      add_words(reading_.partial, "the line of thread " + tid + " was rejected: " + std::string(why));
    };
    const auto stat = parse_thread_stat(std::string_view(line.data(), line.size() + 1));
    if (!stat) return reject("it is not whole");
    if (pid_.empty()) return reject("it stands under no process");
    const std::string scope = "thread " + pid_ + "/" + std::to_string(stat->tid);
    if (seen_.size() == k_most_threads) return reject("it is one too many");
    if (!seen_.insert(scope).second) return reject("it stands there twice");
    ++accepted_;
    used_cpu_ = stat->utime_ticks > 0 || stat->stime_ticks > 0;
    facts_scope_ = scope;
    reading_.add(scope, "comm", unescape(stat->comm), Kind::instant);
    add_stat(scope, *stat);
    const std::string identity = "start " + std::to_string(stat->start_ticks);
    Subject& process = reading_.subjects[process_];
    if (process.identity.empty() && std::to_string(stat->tid) == pid_) process.identity = identity;
    reading_.subjects.push_back({scope, identity, process.begin, process.end});
  }

  void bracketed(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() < 3) return;
    if (words[0] == "node") return nodes_.take(line, words);
    if (words[0] == "process" && words[2] == "totals") return totals(line, words);
    if (words[0] == "process" && words[2] == "start") return process_facts(words);
    if (words[0] == "process" && words[2] == "is" && words.size() == 4) return nodes_.shell_map(words);
    if (words[0] == "thread") return thread_facts(words);
    if (words[0] == "ended" && words.size() == 3) {
      add_words(reading_.notes, std::string(words[1]) + " " + std::string(words[2]) + " ended while it was being read");
    }
  }

  /// [process 412 start 88110 read from A to B boot-time ns]
  void process_facts(const Words& words) {
    if (pid_ != words[1] || words.size() < 9) return;
    Subject& subject = reading_.subjects[process_];
    if (parse_u64(words[3])) subject.identity = "start " + std::string(words[3]);
    const auto begin = parse_i64(words[6]);
    const auto end = parse_i64(words[8]);
    if (begin && end && *begin <= *end) {
      subject.begin = Stamp{*begin, 0};
      subject.end = Stamp{*end, 0};
    }
  }

  /// [process 412 totals 412 (qemu-system-x86) S ...]
  void totals(std::string_view line, const Words& words) {
    if (pid_ != words[1] || totals_seen_ || words.size() < 4) return;
    const auto stat = parse_thread_stat(from_word(line, words, 3));
    if (!stat || std::to_string(stat->tid) != pid_) return;
    totals_seen_ = true;
    add_stat("process " + pid_, *stat);
  }

  /// [thread 412/419 schedstat 123 456 7 voluntary 10 involuntary 2]: once, behind the line of its thread.
  void thread_facts(const Words& words) {
    if (facts_scope_.empty() || facts_scope_ != "thread " + std::string(words[1])) return;
    const std::string scope = std::exchange(facts_scope_, {});
    std::size_t i = 2;
    if (words[i] == "schedstat" && words.size() >= i + 4) {
      schedstat(scope, words[i + 1], words[i + 2], words[i + 3]);
      i += 4;
    }
    for (; i + 1 < words.size(); i += 2) {
      if (words[i] == "voluntary") add_number(scope, "voluntary_switches", words[i + 1]);
      if (words[i] == "involuntary") add_number(scope, "involuntary_switches", words[i + 1]);
    }
  }

  /// Three zeros on a thread that has used CPU: the kernel keeps no such accounting. Absent, not zero, for
  /// this thread and for those whose zeros alone would not show it.
  void schedstat(const std::string& scope, std::string_view on_cpu, std::string_view delay, std::string_view turns) {
    if (on_cpu == "0" && delay == "0" && turns == "0") {
      accounting_off_ = accounting_off_ || used_cpu_;
      zero_schedstat_.insert(scope);
    }
    add_number(scope, "on_cpu_ns", on_cpu);
    add_number(scope, "run_delay_ns", delay);
    add_number(scope, "timeslices", turns);
  }

  /// What a process has used is data beside its threads; alone it would pass for a reading of them.
  void drop_totals() {
    std::erase_if(reading_.rows,
                  [](const Row& row) { return row.scope.starts_with("process ") && row.field != "comm"; });
  }

  void drop_zero_schedstat() {
    reading_.notes.emplace_back("schedstat reads 0 0 0 on threads that used CPU: the kernel keeps no such accounting");
    std::erase_if(reading_.rows, [&](const Row& row) {
      const bool field = row.field == "on_cpu_ns" || row.field == "run_delay_ns" || row.field == "timeslices";
      return field && zero_schedstat_.contains(row.scope);
    });
  }

  void add_number(const std::string& scope, std::string_view field, std::string_view word) {
    if (const auto number = parse_u64(word)) reading_.add(scope, std::string(field), *number, Kind::cumulative);
  }

  Reading& reading_;
  NodeLines nodes_;
  std::string pid_;          ///< of the heading above; empty where there is none
  std::size_t process_ = 0;  ///< its subject
  bool totals_seen_ = false;
  std::string facts_scope_;  ///< the thread whose line stands directly above
  bool used_cpu_ = false;    ///< that thread
  std::size_t accepted_ = 0;
  bool said_ticks_ = false;
  bool accounting_off_ = false;
  std::unordered_set<std::string> zero_schedstat_;
  std::unordered_set<std::string> seen_;  ///< the scopes of processes and threads
};

}  // namespace

Reading parse_sandbox_qemu_thread_cpu(std::string_view text) {
  Reading reading;
  ThreadLines lines(reading);
  for (const std::string_view line : whole_lines(text, reading)) lines.take(line);
  lines.finish();
  return reading;
}

}  // namespace cozy
