#include "collector/run/probe_text.hpp"

#include <variant>

#include "probes/probe.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::string seconds_text(std::int64_t ns) {
  return fixed(static_cast<double>(ns) / 1e9, ns % k_ns_per_second == 0 ? 0 : 3) + " s";
}

}  // namespace

ProbeText take_apart(std::string_view output) {
  ProbeText parts;
  const std::size_t last = output.rfind('\n');
  const std::string_view whole = last == std::string_view::npos ? std::string_view() : output.substr(0, last + 1);
  const std::string_view rest = output.substr(whole.size());
  const std::size_t first_line = whole.find('\n');
  std::string_view body = whole;
  if (first_line != std::string_view::npos) {
    parts.begin = parse_mark(whole.substr(0, first_line), k_begin_mark);
    if (parts.begin) body.remove_prefix(first_line + 1);
  }
  if (!body.empty()) {
    const std::size_t before = body.substr(0, body.size() - 1).rfind('\n');
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    parts.end = parse_mark(body.substr(start, body.size() - start - 1), k_end_mark);
    if (parts.end) body = body.substr(0, start);
  }
  parts.text = body;
  if (!rest.empty()) parts.text += "[cut in mid-line: " + escape(rest.substr(0, 256)) + "]\n";
  return parts;
}

ReadEnd read_end(const ChildOutput& output, const ProbeText& parts, std::int64_t timeout_ns, std::int64_t grace_ns) {
  ReadEnd end;
  end.exit_code = child_exit_code(output.end);
  end.words = child_end_words(output.end);
  std::optional<EndedHere::Why> why;  // where it was ended from here
  if (const auto* ended_here = std::get_if<EndedHere>(&output.end)) why = ended_here->why;
  if (const auto* abandoned = std::get_if<Abandoned>(&output.end)) why = abandoned->why;
  if (why == EndedHere::Why::deadline) {
    end.words += " (read timeout " + seconds_text(timeout_ns) + ", grace " + seconds_text(grace_ns) + ")";
  }
  const auto* exited = std::get_if<Exited>(&output.end);
  // The mark is written after the last read: with it the text is whole, though the process had to be ended.
  const bool whole = parts.end && (why || (exited != nullptr && exited->status == 0));
  if (output.pipe_held_open)
    end.shortfall = "pipe held open by another process after the reader ended";
  else if (!whole)
    end.shortfall = "the read was cut: " + end.words;
  return end;
}

}  // namespace cozy
