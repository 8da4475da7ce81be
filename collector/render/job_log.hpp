#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/analysis.hpp"

namespace cozy {

/// Begins every line of ours in a job log.
inline constexpr std::string_view k_job_log_prefix = "cozybracket: ";

/// The line of one shortfall.
std::string job_log_line(const Shortfall& shortfall);

/// The lines of a job log, without line ends: the verdict, the window, the runner, every node, KVM, every
/// finding, every shortfall. Each is complete in itself, since a log can lose their order. Before sample 2
/// there are shortfalls alone.
std::vector<std::string> job_log(const Analysis& analysis);

}  // namespace cozy
