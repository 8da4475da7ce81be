#include "collector/log.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "collector/render/neutral.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr int k_wait_ms = 1000;
constexpr std::size_t k_longest_line = 3500;  // below PIPE_BUF: a line goes out whole or not at all

std::size_t& lost_lines() {
  static std::size_t lost = 0;
  return lost;
}

/// The begin of a line that is too long, without half a character at its end.
std::string cut(std::string_view line) {
  std::size_t end = k_longest_line;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;
  return std::string(line.substr(0, end));
}

/// False when nobody took the line. The descriptor may block, so it is asked first; after a line that nobody
/// took no other one is waited for.
bool deliver(std::string_view line) {
  pollfd descriptor{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&descriptor, 1, lost_lines() == 0 ? k_wait_ms : 0) != 1 || (descriptor.revents & POLLOUT) == 0)
    return false;
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void log_raw_line(std::string_view line) {
  std::string text;
  if (lost_lines() > 0)
    text = "cozybracket: " + std::to_string(lost_lines()) + " lines before this one were lost: nobody took them\n";
  text += line.size() > k_longest_line ? cut(line) + " (cut)" : std::string(line);
  text += '\n';
  if (deliver(text))
    lost_lines() = 0;
  else
    ++lost_lines();
}

void log_line(std::string_view words) { log_raw_line("cozybracket: " + neutral(words)); }

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  return fixed(static_cast<double>(bytes) / 1024, bytes < 10240 ? 1 : 0) + " KiB";
}

}  // namespace cozy
