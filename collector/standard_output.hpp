#pragma once

#include <string_view>

namespace cozy {

/// An answer on stdout. False where it is not taken; a reader that has seen enough and closed its end is none
/// of our failures.
bool print(std::string_view text);

}  // namespace cozy
