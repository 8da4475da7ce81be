#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "probes/clock.hpp"
#include "probes/result.hpp"

/// Children of this process: the outer fence around every probe, and the command of `run`. spawn.hpp begins
/// them; the deadline, the end of the whole group and the letting-go are here.
namespace cozy {

/// The child ended by itself.
struct Exited {
  int status = 0;
};

/// A signal ended it that was not sent from here. The number does not prove who sent it.
struct Signalled {
  int signal = 0;
};

/// It was ended from here, by `signal`: the deadline passed, it wrote past the cap, or it closed its
/// output and would not end. The signal is 0 where it wrote past the cap and had ended before one was sent.
struct EndedHere {
  enum class Why { deadline, byte_cap, would_not_end, interrupted } why = Why::deadline;
  int signal = 0;
};

/// SIGKILL did not end it within the wait: it is stuck in the kernel. Its pipe is closed, nothing waits for it.
struct Abandoned {
  pid_t pid = 0;
  EndedHere::Why why = EndedHere::Why::deadline;  ///< why it was to end
};

/// There never was a process.
struct NotStarted {
  Error error;
};

using ChildEnd = std::variant<Exited, Signalled, EndedHere, Abandoned, NotStarted>;

/// "exited 0", "deadline reached, ended by SIGTERM", ...
std::string child_end_words(const ChildEnd& end);

/// The number that a shell would show: 128 + signal, 124 for what was ended from here, 127 for not started.
int child_exit_code(const ChildEnd& end);

struct ChildBound {
  std::int64_t timeout_ns = 20 * k_ns_per_second;  ///< then SIGTERM to its group
  std::int64_t grace_ns = 5 * k_ns_per_second;     ///< after that, SIGKILL
  std::size_t text_cap = 8UL * 1024 * 1024;        ///< bytes of stdout that are kept
  int interrupt_fd = -1;  ///< when it becomes readable, what is left of both is cut to a second together
  std::string input;      ///< the file that each child has as its stdin, opened for each; "" for an empty one
};

struct ChildOutput {
  std::string text;             ///< stdout, up to the cap
  std::string messages;         ///< stderr, up to 64 KiB
  bool pipe_held_open = false;  ///< the child ended and somebody else still held its output
  ChildEnd end;
  Stamp begin;   ///< before the spawn
  Stamp finish;  ///< when the output was over
};

/// Runs all of them at the same time, each in a process group of its own with the stdin of the bound
/// and no other descriptor of ours, and tells of each as soon as it is over. Returns at the latest after
/// timeout + grace + 1 s, whatever they do. Nothing of their groups is left running but what cannot die.
void run_children(const std::vector<std::vector<std::string>>& commands, const ChildBound& bound,
                  const std::function<void(std::size_t, ChildOutput)>& done);

ChildOutput run_child(const std::vector<std::string>& command, const ChildBound& bound);

}  // namespace cozy
