#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cgroup_knobs.hpp"
#include "node_evidence.hpp"
#include "reading.hpp"
#include "text.hpp"
#include "thread_stat.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_scopes = 65536;

using Words = std::vector<std::string_view>;

/// The keys of cpu.stat that only grow. Any other key is a value of its own, never subtracted.
constexpr std::array<std::string_view, 12> k_counters{
    "usage_usec", "user_usec",     "system_usec",    "nice_usec", "core_sched.force_idle_usec",
    "nr_periods", "nr_throttled",  "throttled_usec", "nr_bursts", "burst_usec",
    "burst_time", "throttled_time"};

Kind kind_of_key(std::string_view key) {
  const bool counter = std::find(k_counters.begin(), k_counters.end(), key) != k_counters.end();
  return counter ? Kind::cumulative : Kind::instant;
}

/// "cgroup v1 /a b" of a heading or of a removed one.
struct Heading {
  std::string scope;  ///< "cgroup /a b", raw bytes
  std::uint64_t version = 0;
};

std::optional<Heading> parse_heading(std::string_view line) {
  for (const std::string_view what : {"cgroup v", "cpuacct v"}) {
    const auto rest = after_prefix(line, what);
    const std::size_t blank = rest ? rest->find(' ') : std::string_view::npos;
    if (blank == std::string_view::npos) continue;
    const auto version = parse_u64(rest->substr(0, blank));
    const std::string_view path = rest->substr(blank + 1);
    if (!version || *version < 1 || *version > 2 || !path.starts_with('/')) return std::nullopt;
    return Heading{std::string(what.substr(0, what.size() - 1)) + unescape(path), *version};
  }
  return std::nullopt;
}

class CgroupLines {
 public:
  explicit CgroupLines(Reading& reading) : reading_(reading) {}

  void take(std::string_view line) {
    if (line.empty() || parse_common_line(line, reading_)) return;
    if (line.starts_with('[')) {
      if (line.ends_with(']')) bracketed(line.substr(1, line.size() - 2));
      return;
    }
    if (const auto heading = parse_heading(line)) return begin(*heading);
    if (const auto ticks = after_prefix(line, "clock ticks per second: ")) {
      if (const auto number = parse_u64(trim(*ticks))) add("kernel", "clock_ticks_per_second", *number, Kind::instant);
    } else if (line.starts_with("NO-PROC-READ: ")) {
      reading_.unavailable = line;
    } else if (line.starts_with("NO-QEMU-PROCESS: ")) {
      reading_.finding = line;
    } else if (!scope_.empty()) {
      const std::size_t blank = line.find(' ');
      if (blank != std::string_view::npos) file_line(line.substr(0, blank), line.substr(blank + 1));
    }
  }

  void finish() {
    for (const std::string& refused : reading_.refused) add_words(reading_.partial, refused);
    const auto counts = [](const Row& row) {
      return row.kind == Kind::cumulative && !row.scope.starts_with("process ");
    };
    if (std::any_of(reading_.rows.begin(), reading_.rows.end(), counts)) return;
    // What the processes used is no reading of a cgroup.
    std::erase_if(reading_.rows, [](const Row& row) { return row.kind == Kind::cumulative; });
    if (!reading_.finding.empty() || !reading_.unavailable.empty()) return;
    reading_.unavailable = "no counter of a cgroup in the text";
    if (!why_not_.empty()) reading_.unavailable = "no cgroup of a QEMU could be read: it is " + why_not_;
  }

 private:
  void add(const std::string& scope, std::string field, Value value, Kind kind) {
    if (seen_.size() == 16 * k_most_scopes || !seen_.insert(scope + "\n" + field).second) return;
    reading_.add(scope, std::move(field), std::move(value), kind);
  }

  /// False for a subject that was there before, or is one too many.
  bool add_subject(const std::string& scope, Subject subject) {
    if (subjects_.size() == k_most_scopes || !subjects_.insert(scope).second) return false;
    subject.scope = scope;
    reading_.subjects.push_back(std::move(subject));
    return true;
  }

  void begin(const Heading& heading) {
    scope_.clear();  // under a heading that cannot be used stands nobody's value
    if (!headings_.insert(heading.scope).second) {
      return add_words(reading_.partial, "the heading of " + escape(heading.scope) + " stands there twice");
    }
    if (headings_.size() > k_most_scopes)
      return add_words(reading_.partial, escape(heading.scope) + " is one too many");
    scope_ = heading.scope;
    add(scope_, "version", heading.version, Kind::instant);
  }

  /// A line of one of the cgroup's files, as the kernel wrote it.
  void file_line(std::string_view file, std::string_view text) {
    if (file == "cpu.stat") return keyed(file, "", text);
    if (file == "cpu.stat.local") return keyed(file, "local.", text);
    if (file == "cpu.pressure") return pressure(text);
    if (file == "cpuacct.usage") return usage(text);
    CpuKnobs knobs;
    const auto files = knob_files(1);
    const auto more = knob_files(2);
    const bool knob = std::find(files.begin(), files.end(), file) != files.end() ||
                      std::find(more.begin(), more.end(), file) != more.end();
    if (!knob) return;
    const auto taken = take_knob(file, text, knobs);
    if (!taken)
      return add_words(reading_.partial, escape(scope_) + " " + taken.error().subject + " " + taken.error().reason);
    const auto number = parse_u64(trim(text));
    add(scope_, std::string(file), number ? Value(*number) : Value(std::string(trim(text))), Kind::instant);
  }

  void keyed(std::string_view file, const std::string& prefix, std::string_view text) {
    const FlatKeys keys = parse_flat_keys(text);
    for (const auto& [key, value] : keys.values) add(scope_, prefix + key, value, kind_of_key(key));
    for (const std::string& key : keys.too_large) {
      add_words(reading_.partial, escape(scope_) + " " + std::string(file) + " " + escape(key) +
                                      " is no number of 64 bits, and so absent");
    }
  }

  void usage(std::string_view text) {
    if (const auto number = parse_u64(trim(text)))
      add(scope_, "cpuacct.usage", *number, Kind::cumulative);
    else
      add_words(reading_.partial, escape(scope_) + " cpuacct.usage holds \"" + escape(text.substr(0, 64)) + "\"");
  }

  /// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0": Documentation/accounting/psi.rst; total is in us.
  void pressure(std::string_view text) {
    const Words words = split_words(text);
    if (words.empty() || (words[0] != "some" && words[0] != "full")) return;
    for (const std::string_view word : words) {
      const auto total = after_prefix(word, "total=");
      const auto number = total ? parse_u64(*total) : std::nullopt;
      if (number) add(scope_, "pressure." + std::string(words[0]) + ".total", *number, Kind::cumulative);
    }
  }

  void bracketed(std::string_view line) {
    const Words words = split_words(line);
    if (words.size() < 3) return;
    if (words[0] == "inode") return inode(line, words);
    if (words[0] == "process") return process(line, words);
    if (words[0] == "ended") {
      add_words(reading_.notes, std::string(line.substr(6)) + " went away while it was being read");
    }
  }

  /// [inode 4711 read from A to B boot-time ns at DIRECTORY]
  void inode(std::string_view line, const Words& words) {
    const std::size_t directory = line.find(" at /");
    if (scope_.empty() || words.size() < 9 || directory == std::string_view::npos || !parse_u64(words[1])) return;
    Subject subject{"", "inode " + std::string(words[1]), std::nullopt, std::nullopt};
    take_span(words[4], words[6], subject);
    if (add_subject(scope_, std::move(subject)))
      add(scope_, "directory", unescape(line.substr(directory + 4)), Kind::instant);
  }

  static void take_span(std::string_view from, std::string_view to, Subject& subject) {
    const auto begin = parse_i64(from);
    const auto end = parse_i64(to);
    if (!begin || !end || *begin < 0 || *begin > *end) return;
    subject.begin = Stamp{*begin, 0};
    subject.end = Stamp{*end, 0};
  }

  void process(std::string_view line, const Words& words) {
    const auto pid = parse_u64(words[1]);
    if (!pid || words.size() < 4) return;
    const std::string scope = "process " + std::to_string(*pid);
    if (words[2] == "is" && words.size() == 4 && is_node_name(words[3])) {
      add(scope, "node", std::string(words[3]), Kind::instant);
    } else if (words[2] == "cgroup" || words[2] == "cpuacct") {
      place(scope, words[2], line);
    } else if (words[2] == "start" && words.size() >= 9 && parse_u64(words[3])) {
      Subject subject{"", "start " + std::string(words[3]), std::nullopt, std::nullopt};
      take_span(words[6], words[8], subject);
      add_subject(scope, std::move(subject));
    } else if (words[2] == "totals") {
      totals(scope, *pid, line.substr(static_cast<std::size_t>(words[3].data() - line.data())));
    }
  }

  /// [process 902 cgroup v2, found: /lane.slice/vm1.scope]
  void place(const std::string& scope, std::string_view what, std::string_view line) {
    const auto state = between(line, ", ", ": ");
    const std::size_t path = line.find(": ");
    if (!state || path == std::string_view::npos) return;
    const std::string name(what);
    add(scope, name + "_state", std::string(*state), Kind::instant);
    if (line.size() > path + 2) add(scope, name, unescape(line.substr(path + 2)), Kind::instant);
    if (name != "cgroup" || *state == place_state_name(PlaceState::found)) return;
    why_not_ = *state;
    add_words(reading_.partial, "the cgroup of " + scope + " is " + why_not_);
  }

  void totals(const std::string& scope, std::uint64_t pid, std::string_view text) {
    // The bracket stands where the line's end was.
    const auto stat = parse_thread_stat(std::string(text) + "\n");
    if (!stat || stat->tid != pid) return;
    add(scope, "start", stat->start_ticks, Kind::instant);
    add(scope, "utime", stat->utime_ticks, Kind::cumulative);
    add(scope, "stime", stat->stime_ticks, Kind::cumulative);
  }

  Reading& reading_;
  std::string scope_;    ///< of the heading above; empty where there is none
  std::string why_not_;  ///< of a process whose cgroup cannot be read
  std::unordered_set<std::string> seen_;
  std::unordered_set<std::string> subjects_;
  std::unordered_set<std::string> headings_;
};

}  // namespace

Reading parse_sandbox_vm_cgroup_cpu(std::string_view text) {
  Reading reading;
  CgroupLines lines(reading);
  for (const std::string_view line : whole_lines(text, reading)) lines.take(line);
  lines.finish();
  return reading;
}

}  // namespace cozy
