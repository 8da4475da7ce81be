#include "collector/live_line.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr const char* k_terminal = "/proc/self/fd/2";
constexpr std::size_t k_narrowest = 20;
constexpr std::string_view k_between = " | ";

// ECMA-48. Down and up by scrolling where need be: so there is a row below. All below the cursor is ours, or nothing.
constexpr std::string_view k_erase_below = "\x1b[J";
constexpr std::string_view k_make_room =
    "\x1b"
    "D"
    "\x1b"
    "M";
constexpr std::string_view k_to_row_below =
    "\x1b"
    "7"
    "\x1b[B\r";
constexpr std::string_view k_back =
    "\x1b"
    "8";

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string percent(double share) { return fixed(share * 100, 0) + "%"; }

std::string seconds(std::int64_t ns) { return std::to_string(ns / k_ns_per_second) + " s"; }

std::string runner_text(const LiveNumbers& numbers) {
  std::string words;
  if (numbers.busy >= 0) words += " busy " + percent(numbers.busy);
  if (numbers.steal > 0) words += " steal " + percent(numbers.steal);
  return words.empty() ? "" : "runner" + words;
}

std::string node_text(const LiveNode& node) {
  return std::string(node.name.data()) + " ran " + percent(node.ran) + " waited " + percent(node.waited);
}

bool add(std::string& line, const std::string& part, std::size_t width) {
  if (part.empty() || line.size() + k_between.size() + part.size() > width) return false;
  line += std::string(k_between) + part;
  return true;
}

}  // namespace

std::string live_text(std::int64_t elapsed_ns, std::int64_t now_ns, const std::optional<LiveNumbers>& numbers,
                      std::size_t width) {
  constexpr std::int64_t k_old_ns = 5 * k_ns_per_second;
  std::string line = "cozybracket " + seconds(elapsed_ns);
  if (numbers && now_ns - numbers->at_ns >= k_old_ns) {
    add(line, "no reading for " + seconds(now_ns - numbers->at_ns), width);
  } else if (numbers) {
    add(line, runner_text(*numbers), width);
    std::size_t told = 0;
    // Room is kept for the number of those that do not fit.
    while (told < std::min(numbers->nodes, numbers->node.size())) {
      const bool last = told + 1 == numbers->nodes;
      constexpr std::size_t k_room_for_rest = 6;
      if (!add(line, node_text(numbers->node.at(told)), last ? width : width - std::min(width, k_room_for_rest))) break;
      ++told;
    }
    if (told < numbers->nodes) add(line, "+" + std::to_string(numbers->nodes - told), width);
  }
  return line.substr(0, width);
}

LiveLine::LiveLine() : dim_(variable("NO_COLOR").empty()) {
  const std::string_view kind = variable("TERM");
  if (::isatty(STDERR_FILENO) == 0 || kind.empty() || kind == "dumb") return;
  // Opened anew: what makes it not to wait would else hold for whoever shares it with us.
  terminal_ = Descriptor(::open(k_terminal, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  written_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

bool LiveLine::in_foreground() const { return ::tcgetpgrp(terminal_.number()) == ::getpgrp(); }

std::size_t LiveLine::width() const {
  winsize size{};
  if (!terminal_.open() || !in_foreground() || ::ioctl(terminal_.number(), TIOCGWINSZ, &size) != 0) return 0;
  if (size.ws_col < k_narrowest || size.ws_row < 2) return 0;
  return size.ws_col - 1U;
}

/// What we write ourselves is not to be heard.
void LiveLine::stop_listening() {
  if (listening_ >= 0) ::inotify_rm_watch(written_.number(), listening_);
  listening_ = -1;
  std::array<char, 4096> events{};
  while (written_.open() && ::read(written_.number(), events.data(), events.size()) > 0) {
  }
}

void LiveLine::show(const std::string& text) {
  stop_listening();
  std::string bytes = std::string(k_erase_below) + std::string(k_make_room) + std::string(k_to_row_below);
  // At the right: where many lines are written at once, what the line leaves in one of them does not touch its words.
  const std::size_t columns = width();
  if (columns > text.size()) bytes += "\x1b[" + std::to_string(columns - text.size()) + "C";
  bytes += (dim_ ? "\x1b[2m" : "") + text + (dim_ ? "\x1b[22m" : "");
  write(bytes + std::string(k_back));
  shown_ = true;
  // Told once, so that whoever writes much is not followed line by line.
  listening_ = ::inotify_add_watch(written_.number(), k_terminal, IN_MODIFY | IN_ONESHOT);
}

void LiveLine::clear() {
  stop_listening();
  if (shown_ && terminal_.open() && in_foreground()) write(std::string(k_erase_below));
  shown_ = false;
}

/// In the background it would stop this process group; that it has gone there since the look is borne.
void LiveLine::write(const std::string& bytes) const {
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTTOU);
  ::sigprocmask(SIG_BLOCK, &stops, &before);
  [[maybe_unused]] const ssize_t written = ::write(terminal_.number(), bytes.data(), bytes.size());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace cozy
