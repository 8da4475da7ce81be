#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reading.hpp"
#include "result.hpp"

/// KVM's binary statistics, as a descriptor of KVM_GET_STATS_FD reads: Documentation/virt/kvm/api.rst,
/// section 4.133; struct kvm_stats_header and kvm_stats_desc of linux/kvm.h. Pure.
namespace cozy {

/// One statistic with the kernel's own word on what it is.
struct KvmStatistic {
  std::string name;
  Kind kind = Kind::unknown;
  std::string type;  ///< "cumulative", "instant", "peak", "linear-histogram", "log-histogram", "type-7"
  std::string unit;  ///< "none", "bytes", "seconds", "cycles", "boolean", "unit-9"
  std::string base;  ///< "10" or "2", "base-5": the value is to be multiplied by base^exponent
  int exponent = 0;
  std::uint32_t bucket_size = 0;      ///< of a linear histogram
  std::vector<std::uint64_t> values;  ///< one, or the buckets of a histogram
};

struct KvmStatistics {
  std::string id;          ///< "kvm-22061/vcpu-0"; as the kernel wrote it
  std::uint64_t tid = 0;   ///< of the thread that made the vCPU, in the initial PID namespace
  std::uint64_t vcpu = 0;  ///< the vCPU's number
  std::vector<KvmStatistic> statistics;
  std::vector<std::string> left_out;  ///< "NAME: reason" of those whose description or value is not to be had
};

/// Parses the bytes of any descriptor, of a VM or a vCPU; tid and vcpu are left at 0. Every offset is held against the
/// bytes that came; a file whose header, id or table of descriptions does not fit them is refused, a value that does
/// not is left out.
Result<KvmStatistics> parse_kvm_table(std::string_view bytes);

/// Parses those of a vCPU. Refused as well when the id is not a vCPU's.
Result<KvmStatistics> parse_kvm_statistics(std::string_view bytes);

}  // namespace cozy
