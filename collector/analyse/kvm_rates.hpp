#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/analyse/difference.hpp"
#include "collector/analyse/node_facts.hpp"

/// KVM's counters between two readings. In debugfs a VM is a directory PID-FD, which alone does not say whose it is.
namespace cozy {

/// One VM of either reading.
struct VmRate {
  std::string vm;                  ///< "2231-14"
  Change change = Change::absent;  ///< of its exits
  std::optional<double> exits_per_second;
  std::vector<FieldRate> rates = {};    ///< of every cumulative field that has a rate
  std::vector<FieldValue> values = {};  ///< gauges and peaks: both readings
  std::string node = {};      ///< whose it is by the capture's own word, in both readings; "srv1", "process 412"
  std::string evidence = {};  ///< why
};

struct KvmRates {
  std::vector<VmRate> vms;
  bool set_changed = false;  ///< other VMs in the second reading: no kernel-wide rate
  bool partial = false;
};

/// The debugfs directories of VMs in a reading.
std::set<std::string, std::less<>> vms_of(const Reading& reading);

/// The kernel-wide rows are sums over the VMs alive at the read: with other VMs they are of another subject.
PairRules kvm_pair_rules(const Reading& before, const Reading& after, const Legend* legend);

KvmRates kvm_rates(const Difference& kvm);

}  // namespace cozy
