#pragma once

#include <string>
#include <string_view>

#include "probes/probe.hpp"

/// Functions that take any bytes and end the process where something does not hold that should hold for all of
/// them. libFuzzer drives one of them (one_target.cpp); the seeds go through each in every build (all_targets.cpp).
namespace cozy::fuzz {

#define FUZZ(name, seeds) void name(std::string_view bytes);
#include "tests/fuzz/targets.def"
#undef FUZZ

/// The target of a line in the table of probes.
void probe_text(const Probe& probe, std::string_view bytes);

/// Says the words and aborts where it does not hold: the input is a finding then, as with a sanitizer.
void require(bool holds, std::string_view words);

/// As require(), with what is wrong shown.
void require_for(bool holds, std::string_view words, std::string_view shown);

/// One line without a byte that a terminal, a log or a page could take for more than text.
void require_harmless_line(std::string_view line);

/// Lines that are all harmless, and that no CI runner takes for a command.
void require_harmless_text(std::string_view text);

}  // namespace cozy::fuzz
