#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "reading.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_cpus = 65536;

/// The columns of a cpu row, in the kernel's order (fs/proc/stat.c). guest is inside user and guest_nice
/// inside nice. Kernels before 2.6.33 have fewer: a missing column is absent.
constexpr std::array<std::string_view, 10> k_columns{"user", "nice",    "system", "idle",  "iowait",
                                                     "irq",  "softirq", "steal",  "guest", "guest_nice"};

/// "cpu", "cpu0", "cpu17": one spelling per number.
bool is_cpu_label(std::string_view word) {
  const auto digits = after_prefix(word, "cpu");
  if (!digits || digits->empty()) return digits.has_value();
  const auto number = parse_u64(*digits);
  return number && std::to_string(*number) == *digits;
}

/// The cpu rows seen so far. A row that stands there twice is nobody's: a container's view, made by a
/// file system in user space; both are dropped and said.
class CpuRows {
 public:
  explicit CpuRows(Reading& reading) : reading_(reading) {}

  void take(const std::vector<std::string_view>& words) {
    const std::string scope(words[0]);
    if (seen_.size() == k_most_cpus && !seen_.contains(scope)) {
      return add_words(reading_.partial, "more than " + std::to_string(k_most_cpus) + " cpu rows");
    }
    if (!seen_.insert(scope).second) {
      twice_.insert(scope);
      return;
    }
    for (std::size_t i = 0; i < k_columns.size() && i + 1 < words.size(); ++i) {
      if (const auto number = parse_u64(words[i + 1])) {
        reading_.add(scope, std::string(k_columns[i]), *number, Kind::cumulative);
      } else {
        add_words(reading_.refused, scope + " " + std::string(k_columns[i]) + ": \"" +
                                        escape(words[i + 1].substr(0, 64)) + "\" is no number of 64 bits");
      }
    }
  }

  void finish() {
    for (const std::string& scope : twice_) {
      add_words(reading_.notes, "view: container; the row \"" + scope + "\" stands there more than once");
    }
    if (!twice_.empty()) {
      std::erase_if(reading_.rows, [&](const Row& row) { return twice_.contains(row.scope); });
    }
    const bool any = std::any_of(reading_.rows.begin(), reading_.rows.end(),
                                 [](const Row& row) { return row.scope.starts_with("cpu"); });
    if (!any)
      reading_.unavailable = seen_.empty() ? "no cpu row in the text" : "no cpu row in the text that can be used";
  }

 private:
  Reading& reading_;
  std::set<std::string, std::less<>> seen_;
  std::set<std::string, std::less<>> twice_;
};

/// The rows of the whole kernel. Of a line that stands there twice the first counts.
class KernelRows {
 public:
  explicit KernelRows(Reading& reading) : reading_(reading) {}

  void take(const std::vector<std::string_view>& words) {
    for (std::size_t i = 0; i < k_lines.size(); ++i) {
      if (words[0] == k_lines[i].label) add(i, words[1]);
    }
  }

  void clock_ticks(std::string_view word) { add(k_lines.size() - 1, word); }

 private:
  struct Line {
    std::string_view label;
    std::string_view field;
    Kind kind;
  };
  static constexpr std::array<Line, 8> k_lines{{{"intr", "intr.total", Kind::cumulative},
                                                {"ctxt", "ctxt", Kind::cumulative},
                                                {"btime", "btime", Kind::instant},
                                                {"processes", "processes", Kind::cumulative},
                                                {"procs_running", "procs_running", Kind::instant},
                                                {"procs_blocked", "procs_blocked", Kind::instant},
                                                {"softirq", "softirq.total", Kind::cumulative},
                                                {"clock ticks per second", "clock_ticks_per_second", Kind::instant}}};

  void add(std::size_t i, std::string_view word) {
    const auto number = parse_u64(word);
    if (!number || seen_[i]) return;
    seen_[i] = true;
    reading_.add("kernel", std::string(k_lines[i].field), *number, k_lines[i].kind);
  }

  Reading& reading_;
  std::array<bool, k_lines.size()> seen_{};
};

}  // namespace

Reading parse_runner_kernel_cpu_time(std::string_view text) {
  Reading reading;
  CpuRows cpus(reading);
  KernelRows kernel(reading);
  for (const std::string_view line : whole_lines(text, reading)) {
    if (parse_common_line(line, reading)) continue;
    if (const auto view = after_prefix(line, "[view: ")) {
      add_words(reading.notes, "view: " + std::string(view->substr(0, view->rfind(']'))));
      continue;
    }
    if (const auto ticks = after_prefix(line, "clock ticks per second: ")) {
      kernel.clock_ticks(trim(*ticks));
      continue;
    }
    const auto words = split_words(line);
    if (words.size() < 2) continue;
    if (!is_cpu_label(words[0])) {
      kernel.take(words);
    } else if (line.find('[') != std::string_view::npos) {
      // A read that was cut in mid-line has the next written line on the same one: its last number may be cut short.
      add_words(reading.partial, "the row " + std::string(words[0]) + " was cut in mid-line");
    } else {
      cpus.take(words);
    }
  }
  cpus.finish();
  return reading;
}

}  // namespace cozy
