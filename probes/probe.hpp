#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pseudo_file.hpp"
#include "reading.hpp"
#include "root.hpp"
#include "watchdog.hpp"

namespace cozy {

/// A node that the caller named: `--node NAME=PIDFILE`.
struct NodeSpec {
  std::string name;
  std::string pid_file;
};

/// What a probe may use and know. It gets nothing else.
struct ProbeContext {
  Root root;
  std::string sandbox = ".";    ///< holds srv<N>/qemu.pid
  std::vector<NodeSpec> nodes;  ///< instead of the sandbox's own, where given
  FileCalls& calls = FileCalls::system();
  Watchdog& watchdog;
};

/// Where a probe's text goes: lines, in order, kept at flush() whatever happens afterwards.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  void text(std::string_view bytes) { buffer_ += bytes; }
  void line(std::string_view bytes);

  /// "[stalled PATH: REASON]" or "[not read PATH: REASON]", by what the answer is. One line, escaped.
  void not_read(std::string_view path, const Watchdog::Answer& answer);
  void note(std::string_view words);

  void flush();
  /// False after a write was refused: the reader of the text is gone.
  [[nodiscard]] bool open() const { return open_; }

 protected:
  virtual bool write(std::string_view bytes) = 0;

 private:
  std::string buffer_;
  bool open_ = true;
};

/// Collects the text in memory.
class StringSink : public Sink {
 public:
  std::string content;

 protected:
  bool write(std::string_view bytes) override;
};

/// Writes to a descriptor, all of it or nothing more after the first refusal.
class DescriptorSink : public Sink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

 protected:
  bool write(std::string_view bytes) override;

 private:
  int descriptor_;
};

/// One line of registry.def: a source of the kernel, its reader and its parser.
struct Probe {
  std::string_view name;                    ///< as the captures are named: "runner-kernel-cpu-time"
  void (*run)(const ProbeContext&, Sink&);  ///< kernel -> text; NAME_probe.cpp
  Reading (*parse)(std::string_view);       ///< text -> rows, pure; NAME_parser.cpp
};

/// The table of probes, in the order of registry.def.
std::span<const Probe> probes();

/// By name, hyphens and underscores alike; null for a name that is not in the table.
const Probe* find_probe(std::string_view name);

/// The lines around a probe's text on a pipe: its own stamps, before the first open and after the last read.
inline constexpr std::string_view k_begin_mark = "[cozybracket begin ";
inline constexpr std::string_view k_end_mark = "[cozybracket end ";

/// Runs one probe between its two marks. False when the text could not be delivered.
bool run_probe(const Probe& probe, const ProbeContext& context, Sink& sink);

/// The stamp of a mark's line ("[cozybracket begin BOOTTIME EPOCH]"); none when it is not that mark.
std::optional<Stamp> parse_mark(std::string_view line, std::string_view mark);

}  // namespace cozy
