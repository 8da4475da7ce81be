#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/child.hpp"

namespace cozy {

/// The command of `run`: inherits everything, runs in our own process group, and is not ours to end.
class Command {
 public:
  /// `error.code` is ENOENT when there is no such program, else why it could not be run. Waits for as long as
  /// the program's file does not answer.
  static Result<Command> start(const std::vector<std::string>& arguments);

  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  [[nodiscard]] int pidfd() const { return pidfd_; }
  void signal(int number) const;
  /// Its end, if it has ended: Exited or Signalled. Does not wait.
  [[nodiscard]] bool ended(ChildEnd& end);

 private:
  friend class CommandStart;
  Command(pid_t pid, int pidfd) : pid_(pid), pidfd_(pidfd) {}
  pid_t pid_;
  int pidfd_;
};

/// A command that is being started, by a thread of its own: execve(2) waits for the file system on which the
/// program lies, and whoever was asked to end must not wait with it.
class CommandStart {
 public:
  explicit CommandStart(const std::vector<std::string>& arguments);
  CommandStart(const CommandStart&) = delete;
  CommandStart& operator=(const CommandStart&) = delete;
  /// A start without an answer is given up: the process that is to become the command gets SIGKILL, so that it
  /// does not run after all when the file answers one day.
  ~CommandStart();

  /// Readable once the answer is there.
  [[nodiscard]] int descriptor() const;
  /// The answer of Command::start, once; none while there is none.
  std::optional<Result<Command>> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< with the thread, which may be left behind
};

}  // namespace cozy
