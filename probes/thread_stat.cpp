#include "thread_stat.hpp"

#include <algorithm>
#include <vector>

#include "text.hpp"

namespace cozy {

namespace {

// include/linux/sched.h
constexpr std::uint64_t k_pf_io_worker = 0x10;
constexpr std::uint64_t k_pf_user_worker = 0x4000;
constexpr std::uint64_t k_pf_kthread = 0x200000;

/// Where the name begins and ends; none when the text has no such frame.
struct NameFrame {
  std::size_t open;
  std::size_t close;
};

std::optional<NameFrame> find_name(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  return NameFrame{open, close};
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// The text without a last word that may be cut short: neither a newline nor a blank stands behind it.
std::string_view whole_words(std::string_view text) {
  const std::size_t newline = text.find('\n');
  return newline != std::string_view::npos ? text.substr(0, newline) : text.substr(0, text.find_last_of(" \t") + 1);
}

/// The fields behind the name, counted as proc_pid_stat(5) counts.
class Fields {
 public:
  explicit Fields(std::string_view behind_name) : text_(whole_words(behind_name)), words_(split_words(text_)) {}

  [[nodiscard]] std::string_view word(std::size_t field) const {
    return field - 3 < words_.size() ? words_[field - 3] : std::string_view();
  }
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t field) const { return parse_u64(word(field)); }

  /// A letter and then integers, blanks between them, and nothing else: a line that was cut has the next words glued to
  /// it.
  [[nodiscard]] bool well_formed() const {
    if (text_.find('\t') != std::string_view::npos || words_.empty()) return false;
    if (words_[0].size() != 1 || !is_letter(words_[0][0])) return false;
    return std::all_of(words_.begin() + 1, words_.end(),
                       [](std::string_view word) { return parse_u64(word) || parse_i64(word); });
  }

 private:
  std::string_view text_;
  std::vector<std::string_view> words_;
};

}  // namespace

bool ThreadStat::kernel_made() const { return (flags & (k_pf_io_worker | k_pf_user_worker)) != 0; }
bool ThreadStat::kernel_thread() const { return (flags & k_pf_kthread) != 0; }

Result<ThreadStat> parse_thread_stat(std::string_view text) {
  const auto frame = find_name(text);
  if (!frame) return Error{"stat", "no name in parentheses in \"" + escape(text.substr(0, 64)) + "\"", 0};
  const std::string_view before_name = text.substr(0, frame->open);
  const auto tid = before_name.ends_with(' ') ? parse_u64(before_name.substr(0, frame->open - 1)) : std::nullopt;
  const Fields fields(text.substr(frame->close + 1));
  const auto utime = fields.number(14);
  const auto stime = fields.number(15);
  const auto start = fields.number(22);
  const auto flags = fields.number(9);
  if (!tid || !fields.well_formed() || !flags || !utime || !stime || !start) {
    return Error{"stat", "not a whole line: \"" + escape(text.substr(0, 64)) + "\"", 0};
  }

  ThreadStat stat;
  stat.tid = *tid;
  stat.comm = std::string(text.substr(frame->open + 1, frame->close - frame->open - 1));
  stat.state = fields.word(3).front();
  stat.ppid = fields.number(4).value_or(0);
  stat.flags = *flags;
  stat.utime_ticks = *utime;
  stat.stime_ticks = *stime;
  stat.start_ticks = *start;
  stat.last_cpu = parse_i64(fields.word(39));
  stat.guest_time_ticks = fields.number(43);
  return stat;
}

std::string thread_stat_line(std::string_view text) {
  const auto frame = find_name(text);
  if (!frame) return escape(text.substr(0, text.find('\n')));
  // As a line of its own, the last number of a text that was cut would pass for a whole one.
  return escape(text.substr(0, frame->open)) + "(" +
         escape(text.substr(frame->open + 1, frame->close - frame->open - 1)) + ")" +
         escape(whole_words(text.substr(frame->close + 1)));
}

std::optional<std::uint64_t> vcpu_of_name(std::string_view comm) {
  const auto rest = after_prefix(comm, "CPU ");
  if (!rest || !rest->ends_with("/KVM")) return std::nullopt;
  const std::string_view digits = rest->substr(0, rest->size() - 4);
  const auto number = parse_u64(digits);
  // One spelling per number: "CPU 03/KVM" is not a name that QEMU gives.
  return number && std::to_string(*number) == digits ? number : std::nullopt;
}

}  // namespace cozy
