#pragma once

#include <string_view>

#include "probe.hpp"
#include "reading.hpp"

/// Captures that are facts of a machine: a line of a name, a colon and a value for each.
namespace cozy {

/// "name: value", the value escaped.
void write_fact(Sink& sink, std::string_view name, std::string_view value);

/// The facts as rows of "machine", by name; of a name that stands there twice the first counts. They are instant,
/// and words where they are no number. A name is of small letters, digits and hyphens.
Reading parse_facts(std::string_view text);

}  // namespace cozy
