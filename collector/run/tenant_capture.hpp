#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/report/capture.hpp"
#include "collector/report/legend.hpp"
#include "collector/run/child.hpp"
#include "collector/run/pod_name.hpp"

/// The thread probe inside a tenant worker's container: the command that runs it, and what came of it.
namespace cozy {

inline constexpr std::string_view k_tenant_capture = "tenant-thread-cpu";

/// legends/tenant/thread_cpu.json
const Legend& tenant_legend();

/// The probe as a POSIX shell has it, and what runs it or the streamed binary.
std::string_view thread_probe_shell_text();
std::string_view tenant_exec_text();

/// Why a program cannot be brought into a container; "" for a static executable.
std::string why_not_streamed(const std::string& program);

/// What reads a container. `why_not` is why nothing is streamed; "" for a standard input that holds the program.
std::vector<std::string> tenant_command(const std::string& kubectl, const PodTarget& target, std::int64_t timeout_ns,
                                        const std::string& why_not);

struct TenantBound {
  int sample = 1;
  std::string snapshot;
  std::int64_t timeout_ns = 0;
  std::int64_t grace_ns = 0;
};

/// Judges what came. Every way to fail has its own words: not reached, not run, answered nothing, cut, no QEMU.
Capture tenant_capture(const PodTarget& target, const ChildOutput& output, const TenantBound& bound);

}  // namespace cozy
