#include "probe.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "clock.hpp"
#include "text.hpp"

namespace cozy {

// Each probe gives two functions, named after its line in the table.
#define PROBE(name)                            \
  void run_##name(const ProbeContext&, Sink&); \
  Reading parse_##name(std::string_view);
#include "registry.def"
#undef PROBE

namespace {

/// "runner_shape" -> "runner-shape", while compiling.
template <std::size_t Size>
struct HyphenName {
  std::array<char, Size> text{};
  constexpr explicit HyphenName(const char (&name)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i] == '_' ? '-' : name[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text.data(), Size - 1}; }
};

#define PROBE(name) constexpr HyphenName k_name_##name(#name);
#include "registry.def"
#undef PROBE

#define PROBE(name) Probe{k_name_##name.view(), run_##name, parse_##name},
constexpr Probe k_probes[] = {
#include "registry.def"
};
#undef PROBE

std::string mark_line(std::string_view mark) {
  const Stamp stamp = now();
  return std::string(mark) + std::to_string(stamp.boottime_ns) + " " + std::to_string(stamp.epoch_ns) + "]";
}

constexpr std::size_t k_flush_at = 32UL * 1024;

}  // namespace

std::span<const Probe> probes() { return k_probes; }

const Probe* find_probe(std::string_view name) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  for (const Probe& probe : probes()) {
    if (probe.name == wanted) return &probe;
  }
  return nullptr;
}

void Sink::line(std::string_view bytes) {
  buffer_ += bytes;
  buffer_ += '\n';
  if (buffer_.size() >= k_flush_at) flush();
}

void Sink::not_read(std::string_view path, const Watchdog::Answer& answer) {
  const std::string_view word = answer.state == Watchdog::State::stalled ? "[stalled " : "[not read ";
  line(std::string(word) + escape(path) + ": " + escape(answer.reason()) + "]");
}

void Sink::note(std::string_view words) { line("[note: " + escape(words) + "]"); }

void Sink::flush() {
  if (open_ && !buffer_.empty()) open_ = write(buffer_);
  buffer_.clear();
}

bool StringSink::write(std::string_view bytes) {
  content += bytes;
  return true;
}

bool DescriptorSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool run_probe(const Probe& probe, const ProbeContext& context, Sink& sink) {
  sink.line(mark_line(k_begin_mark));
  sink.flush();
  probe.run(context, sink);
  sink.line(mark_line(k_end_mark));
  sink.flush();
  return sink.open();
}

std::optional<Stamp> parse_mark(std::string_view line, std::string_view mark) {
  const auto rest = after_prefix(line, mark);
  if (!rest || !rest->ends_with(']')) return std::nullopt;
  const auto words = split_words(rest->substr(0, rest->size() - 1));
  if (words.size() != 2) return std::nullopt;
  const auto boottime = parse_i64(words[0]);
  const auto epoch = parse_i64(words[1]);
  if (!boottime || !epoch) return std::nullopt;
  return Stamp{*boottime, *epoch};
}

}  // namespace cozy
