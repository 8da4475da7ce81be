#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/analyse/analysis.hpp"
#include "collector/analyse/finding.hpp"
#include "collector/analyse/thresholds.hpp"

/// Numbers and short phrases as every text output has them. Whatever comes from outside is neutral in them.
namespace cozy {

/// The captures that outputs name.
inline constexpr std::string_view k_capture_cpu_time = "runner-kernel-cpu-time";
inline constexpr std::string_view k_capture_threads = "sandbox-qemu-thread-cpu";
inline constexpr std::string_view k_capture_kvm = "sandbox-kvm-exits";

/// "31.0%" of 0.31.
std::string percent(double share);

/// "0.3/s", "812/s", "28.1k/s", "3.2M/s"
std::string rate_text(double per_second);

/// "412.603 s (+- 0.007 s)"
std::string seconds_text(const Interval& interval);

/// "09:20:31 UTC" of an epoch stamp.
std::string time_of_day(const Stamp& stamp);

/// Up to four names, and how many more.
std::string some_names(const std::vector<std::string>& names);

/// Why a capture has no pair: its first sample without data.
std::string why_no_pair(const Analysis& analysis, std::string_view capture);

/// The window between the samples, or why there is none.
std::string window_text(const Analysis& analysis);

/// "61.0%", "went back", "absent" of a column.
std::string column_cell(const CpuRow& row, CpuColumn column);

/// The rest holds what was not measured, and is named so: "halted-or-other".
std::string rest_name(const TimeParts& parts);

/// " waited 31.0%" or " waited absent (why)".
std::string part_text(const TimeParts& parts, std::string_view name, const std::optional<double>& seconds,
                      std::string_view why);

/// The part of the vCPUs' time in which a quota of their own throttled them; inside `waited`.
std::optional<double> throttled_share(const NodeBudget& node);
/// The same in words, which say where a quota is of several nodes; empty where none is configured or known.
std::string throttled_text(const NodeBudget& node);
/// The kernel says that neither the node's cgroup nor one above it has a quota: nothing there can throttle.
bool has_no_quota(const NodeBudget& node);

/// "10 % of the window"
std::string threshold_value_text(const ThresholdEntry& entry);

/// "12 -> 4711"; a side that was not read is "absent".
std::string values_text(const Evidence& evidence);

}  // namespace cozy
