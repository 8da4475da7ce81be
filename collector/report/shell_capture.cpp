#include "collector/report/shell_capture.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collector/report/shell_frame.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_kvm = "sandbox-kvm-exits";
constexpr std::string_view k_threads = "sandbox-qemu-thread-cpu";
constexpr std::size_t k_longest_shown = 64;
constexpr std::string_view k_failed = "COLLECTION-FAILED.txt";

bool starts_with_digit(std::string_view line) { return !line.empty() && line[0] >= '0' && line[0] <= '9'; }

template <std::size_t N>
bool begins_with_any(std::string_view line, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return line.starts_with(p); });
}

/// "process 412 comm qemu-system-x86": the kernel's names stop at 15 bytes, so a longer one has the next line glued to
/// it.
bool is_whole_heading(std::string_view line) {
  constexpr std::size_t k_longest_name = 15;
  const std::size_t name = line.find(" comm ");
  return line.starts_with("process ") && name != std::string_view::npos && line.size() - (name + 6) <= k_longest_name;
}

/// "[process 412 is srv1]"
bool is_map_entry(std::string_view line) {
  const auto words = split_words(line);
  return words.size() == 4 && words[0] == "[process" && words[2] == "is" && line.ends_with(']');
}

/// Whether a line is of the data, by the tokens of its capture. What else is in brackets is a sentence.
bool is_data(std::string_view capture, std::string_view line) {
  if (capture == k_kvm) {
    static constexpr std::array<std::string_view, 6> k_tokens{"[global] ",       "[vm ",         "[skipped ",
                                                              "[counters read:", "NO-KVM-DIR: ", "NO-COUNTER-FILES: "};
    return begins_with_any(line, k_tokens);
  }
  if (capture == k_threads) {
    static constexpr std::array<std::string_view, 4> k_tokens{
        "clock ticks per second:", "NO-PROC-READ: ", "NO-QEMU-PROCESS: ", "NO-THREAD-LINES: "};
    return starts_with_digit(line) || begins_with_any(line, k_tokens) || is_whole_heading(line) || is_map_entry(line);
  }
  return !line.starts_with('[') && !parse_statement(line);
}

/// A value of KVM with the next line glued to it: it was cut in mid-line, and its last number may be cut short.
bool is_glued_value(std::string_view capture, std::string_view line) {
  const bool value = line.starts_with("[global] ") || line.starts_with("[vm ");
  return capture == k_kvm && value && line.find('[', 1) != std::string_view::npos;
}

/// What stands in the frame of one file.
struct Frame {
  std::string data;
  std::string cut_line;  ///< one whose end was lost
  std::optional<ShellStamps> stamps;
  std::optional<int> exit_code;
  std::optional<ShellStatement> statement;
  bool unbounded = false;

  [[nodiscard]] bool any() const { return stamps || exit_code; }
  [[nodiscard]] bool whole() const { return stamps && exit_code; }
};

Frame frame_of(std::string_view file_text, std::string_view capture) {
  Frame frame;
  frame.stamps = find_shell_stamps(file_text);
  frame.exit_code = find_shell_exit_code(file_text);
  frame.data.reserve(file_text.size());
  const std::vector<std::string_view> lines = split_lines(file_text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (is_glued_value(capture, line)) {
      frame.cut_line = escape(line.substr(0, std::min<std::size_t>(line.find('[', 1), k_longest_shown)));
    } else if (is_data(capture, line)) {
      frame.data += line;
      if (i + 1 < lines.size() || file_text.ends_with('\n')) frame.data += '\n';
    } else if (line.starts_with("[bounds] ")) {
      frame.unbounded = true;
    } else if (!frame.statement && !line.starts_with("process ")) {
      frame.statement = parse_statement(line);
    }
  }
  // Cut before any of its frame, it may as well be a file of ours: then all of it is data.
  if (!frame.any()) frame.data = file_text;
  return frame;
}

/// Lines that the parser had to drop. Files that could not be read leave a line of their own, and the shell
/// counts a walk that met some as whole.
std::vector<std::string> rejected_lines(const Reading& reading) {
  std::vector<std::string> rejected;
  constexpr std::size_t k_most = 3;
  for (const std::string& words : reading.partial) {
    const bool told = std::find(reading.refused.begin(), reading.refused.end(), words) != reading.refused.end();
    if (!told && rejected.size() < k_most) rejected.push_back(words);
  }
  return rejected;
}

/// Under lockdown only instant values answer, and the shell does not write the mode that tells them from
/// counters: beside files that could not be read, only a name that is known as a counter's is one.
bool gauges_alone(const Reading& reading, const Legend& legend) {
  const bool refused = std::any_of(reading.refused.begin(), reading.refused.end(), [](const std::string& words) {
    return words.find(": could not be read") != std::string::npos;
  });
  return legend.capture == k_kvm && refused &&
         std::none_of(reading.rows.begin(), reading.rows.end(), [&](const Row& row) {
           const auto field = legend.fields.find(row.field);
           return is_number(row.value) && field != legend.fields.end() && field->second.kind == Kind::cumulative;
         });
}

/// The outcome table of the format. Numbers decide what is data, tokens come before words.
class ShellJudge {
 public:
  ShellJudge(const Frame& frame, const Reading& reading, const Legend& legend)
      : frame_(frame), reading_(reading), legend_(legend) {}

  [[nodiscard]] Judgement run() const {
    Judgement numbers = judge(reading_, ReadEnd{}, legend_);
    if (holds_data(numbers.outcome) && gauges_alone(reading_, legend_)) {
      numbers = {Outcome::unavailable, "only gauges were read, not one counter; the other files could not be read",
                 true};
    }
    if (holds_data(numbers.outcome)) return with_data();
    if (numbers.gauges_only) return numbers;
    if (is_finding()) return {Outcome::empty, finding_words(), false};
    return {Outcome::unavailable, reason_without_data(numbers), false};
  }

  /// Why the text may be less than the source had.
  [[nodiscard]] std::string shortfall() const {
    std::vector<std::string> reasons;
    if (!frame_.whole()) {
      const bool stamps = frame_.stamps.has_value();
      const std::string missing = stamps ? "exit code" : frame_.exit_code ? "stamps" : "stamps and no exit code";
      reasons.push_back("the file has no " + missing + ": its end is unknown");
    }
    if (frame_.exit_code.value_or(0) != 0) reasons.push_back(exit_code_words(*frame_.exit_code));
    return join(reasons, "; ");
  }

 private:
  [[nodiscard]] Judgement with_data() const {
    std::vector<std::string> reasons = rejected_lines(reading_);
    const std::string end = shortfall();
    if (!end.empty()) reasons.push_back(end);
    if (frame_.statement) reasons.push_back(statement_words());
    // Its own word against its own rows: nobody can tell which is right.
    const bool denied = frame_.statement && frame_.statement->word != ShellStatement::Word::incomplete;
    if (denied && end.empty()) return {Outcome::unavailable, join(reasons, "; ") + ", and yet rows stand in it", false};
    return {reasons.empty() ? Outcome::complete : Outcome::partial, make_line(join(reasons, "; ")), false};
  }

  [[nodiscard]] bool is_finding() const {
    if (!frame_.exit_code) return false;
    if (legend_.capture == k_kvm) return *frame_.exit_code == 4 || *frame_.exit_code == 5;
    return legend_.capture == k_threads && *frame_.exit_code == 0 && !reading_.finding.empty();
  }

  [[nodiscard]] std::string finding_words() const {
    if (!reading_.finding.empty()) return make_line(reading_.finding);
    return *frame_.exit_code == 4 ? "exit code 4: debugfs has no kvm directory"
                                  : "exit code 5: the kvm directory holds no counter";
  }

  [[nodiscard]] std::string reason_without_data(const Judgement& numbers) const {
    std::vector<std::string> reasons;
    if (frame_.statement) reasons.push_back(statement_words());
    if (reasons.empty() || reading_.unavailable.starts_with("NO-")) reasons.push_back(numbers.reason);
    const bool refused_mount = legend_.capture == k_kvm && frame_.exit_code == 3;
    const std::string end = shortfall();
    if (!end.empty()) reasons.push_back(end + (refused_mount ? ": debugfs could not be mounted" : ""));
    return make_line(join(reasons, "; "));
  }

  [[nodiscard]] std::string statement_words() const {
    static constexpr std::array<std::string_view, 3> k_names{"incomplete", "unavailable", "unknown"};
    const std::string name(k_names[static_cast<std::size_t>(frame_.statement->word)]);
    return "the file says " + name + (frame_.statement->reason.empty() ? "" : ": " + frame_.statement->reason);
  }

  const Frame& frame_;
  const Reading& reading_;
  const Legend& legend_;
};

bool is_message_file(const Marker& marker) {
  return marker.name == k_failed || marker.name == "read-error.log" || marker.name == "READ-WARNINGS.txt";
}

std::string first_line(std::string_view text) {
  constexpr std::size_t k_longest = 200;
  return make_line(trim(trim(text).substr(0, std::min(trim(text).find('\n'), k_longest))));
}

SampleCapture failed_alone(const Snapshot& snapshot, const Marker& marker) {
  SampleCapture file;
  file.capture.name = marker.capture;
  file.capture.sample = marker.sample;
  file.capture.snapshot = snapshot.name;
  file.capture.sidecar = marker.name;
  file.capture.end.words = "never collected";
  const std::string words = first_line(marker.text);
  file.capture.judgement.reason = "never collected" + (words.empty() ? "" : ": " + words);
  file.origin = Origin::shell;
  file.file = marker.file;
  return file;
}

/// A COLLECTION-FAILED.txt beside data: one of the two was left by an earlier run.
void contradict(SampleCapture& file, const Marker& marker) {
  Judgement& judgement = file.capture.judgement;
  const bool told = file.mtime_ns && marker.mtime_ns && *file.mtime_ns != *marker.mtime_ns;
  const std::string beside = marker.name + " stands beside it";
  if (told && *marker.mtime_ns < *file.mtime_ns) {
    file.reading.notes.push_back(beside + " and is older: an earlier run has left it");
  } else if (told) {
    judgement = {Outcome::unavailable, beside + " and is newer: the file is of an earlier run", false};
  } else {
    const std::string words = beside + ": one of the two is of an earlier run, and their times do not tell which";
    if (judgement.outcome == Outcome::complete) judgement.outcome = Outcome::partial;
    judgement.reason += (judgement.reason.empty() ? "" : "; ") + words;
  }
}

}  // namespace

SampleCapture read_shell_capture(std::string_view file_text, const Probe& probe, const Legend& legend) {
  Frame frame = frame_of(file_text, legend.capture);
  SampleCapture file;
  file.origin = frame.any() ? Origin::shell : Origin::unknown;
  file.reading = probe.parse(frame.data);
  if (!frame.cut_line.empty())
    add_words(file.reading.partial, "the line \"" + frame.cut_line + "\" was cut in mid-line");
  if (frame.unbounded) file.reading.notes.emplace_back("no bound was in force while it was read");

  const ShellJudge shell_judge(frame, file.reading, legend);
  Capture& capture = file.capture;
  capture.judgement = shell_judge.run();
  capture.end.exit_code = frame.exit_code.value_or(0);
  capture.end.words = frame.exit_code ? exit_code_words(*frame.exit_code) : "unknown";
  capture.end.shortfall = shell_judge.shortfall();
  if (frame.stamps) capture.begin_stamp = frame.stamps->begin;
  if (frame.stamps) capture.end_stamp = frame.stamps->end;
  capture.text = std::move(frame.data);
  return file;
}

void settle_markers(Snapshot& snapshot) {
  for (const Marker& marker : snapshot.markers) {
    const auto beside = std::find_if(snapshot.captures.begin(), snapshot.captures.end(), [&](const SampleCapture& c) {
      return c.capture.name == marker.capture && c.capture.sample == marker.sample;
    });
    const bool failed = marker.name == k_failed && find_legend(marker.capture) != nullptr;
    if (beside == snapshot.captures.end()) {
      if (failed && marker.sample != 0) snapshot.captures.push_back(failed_alone(snapshot, marker));
      continue;
    }
    if (is_message_file(marker) && beside->capture.sidecar.empty()) beside->capture.sidecar = marker.name;
    const Outcome outcome = beside->capture.judgement.outcome;
    if (failed && (holds_data(outcome) || outcome == Outcome::empty)) contradict(*beside, marker);
  }
}

}  // namespace cozy
