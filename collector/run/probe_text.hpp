#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/report/capture.hpp"
#include "collector/run/child.hpp"
#include "probes/clock.hpp"

/// The output of a child that runs a probe. Pure.
namespace cozy {

/// What came out of the pipe, taken apart: the marks are the stamps, the rest is the capture's text. A
/// last line without its end was cut in the middle: it is kept as words, never as data.
struct ProbeText {
  std::string text;
  std::optional<Stamp> begin;
  std::optional<Stamp> end;
};

ProbeText take_apart(std::string_view output);

/// How the read ended, as the capture says it.
ReadEnd read_end(const ChildOutput& output, const ProbeText& parts, std::int64_t timeout_ns, std::int64_t grace_ns);

}  // namespace cozy
