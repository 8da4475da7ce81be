#include "kvm_owners.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "clock.hpp"
#include "text.hpp"

namespace cozy {

namespace {

/// A process's start is known to the tick (10 ms) and a directory's birth to the timer interrupt.
constexpr std::int64_t k_earliest_birth_ns = -20 * k_ns_per_ms;
/// QEMU makes its VM 4 to 22 ms after its start; tens of ms on a busy machine.
constexpr std::int64_t k_latest_birth_ns = 100 * k_ns_per_ms;

/// A directory with its name taken apart, "2231-14": whole numbers, or none.
struct Vm {
  const VmDirectory* directory;
  std::optional<std::uint64_t> pid;
  std::optional<std::uint64_t> descriptor;
};

Vm parse_name(const VmDirectory& directory) {
  const std::string_view name = directory.name;
  const std::size_t hyphen = name.find('-');
  if (hyphen == std::string_view::npos) return {&directory, std::nullopt, std::nullopt};
  const auto pid = parse_u64(name.substr(0, hyphen));
  const auto descriptor = parse_u64(name.substr(hyphen + 1));
  if (!pid || !descriptor) return {&directory, std::nullopt, std::nullopt};
  return {&directory, pid, descriptor};
}

/// What one piece of evidence says of a directory and a process.
enum class Says { nothing, yes, no };

Says by_descriptor(const Vm& vm, const KvmHolder& holder, const OwnerFacts&) {
  if (!vm.descriptor || !holder.vm_descriptors) return Says::nothing;
  const auto& numbers = *holder.vm_descriptors;
  return std::find(numbers.begin(), numbers.end(), *vm.descriptor) != numbers.end() ? Says::yes : Says::no;
}

/// A VM that is older than the process is not its own; one that is much younger can be.
Says by_birth(const Vm& vm, const KvmHolder& holder, const OwnerFacts&) {
  if (!holder.start_epoch_ns || vm.directory->birth_epoch_ns == 0) return Says::nothing;
  const std::int64_t after_ns = vm.directory->birth_epoch_ns - *holder.start_epoch_ns;
  if (after_ns < k_earliest_birth_ns) return Says::no;
  return after_ns <= k_latest_birth_ns ? Says::yes : Says::nothing;
}

Says by_pid(const Vm& vm, const KvmHolder& holder, const OwnerFacts& facts) {
  if (!vm.pid || !facts.initial_pid_namespace) return Says::nothing;
  return *vm.pid == holder.pid ? Says::yes : Says::no;
}

struct Evidence {
  std::string_view name;
  Says (*says)(const Vm&, const KvmHolder&, const OwnerFacts&);
};

constexpr std::array<Evidence, 3> k_evidence{{
    {"number of its kvm-vm descriptor", by_descriptor},
    {"birth just after the process's start", by_birth},
    {"process number in the initial PID namespace", by_pid},
}};

class Search {
 public:
  Search(const std::vector<VmDirectory>& directories, const OwnerFacts& facts)
      : facts_(facts), owners_(directories.size()), taken_(facts.holders.size(), false) {
    for (const VmDirectory& directory : directories) vms_.push_back(parse_name(directory));
  }

  std::vector<VmOwner> run() {
    for (std::size_t vm = 0; vm < vms_.size(); ++vm) by_thread(vm);
    for (const Evidence& evidence : k_evidence) take_decided(evidence);
    return std::move(owners_);
  }

 private:
  void by_thread(std::size_t vm) {
    for (const std::uint64_t thread : vms_[vm].directory->threads) {
      const auto known = facts_.owner_of_thread.find(thread);
      if (known == facts_.owner_of_thread.end()) continue;
      owners_[vm] = {known->second, {"thread number of a vCPU's statistics"}};
      for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (facts_.holders[i].owner == known->second) taken_[i] = true;
      }
      return;
    }
  }

  /// Whether the evidence speaks for the pair, both are free, and nothing speaks against it.
  [[nodiscard]] bool fits(std::size_t vm, std::size_t holder, const Evidence& evidence) const {
    if (!owners_[vm].owner.empty() || taken_[holder]) return false;
    const KvmHolder& process = facts_.holders[holder];
    const bool against = std::any_of(k_evidence.begin(), k_evidence.end(), [&](const Evidence& other) {
      return other.says(vms_[vm], process, facts_) == Says::no;
    });
    return !against && evidence.says(vms_[vm], process, facts_) == Says::yes;
  }

  /// All pairs that are alone on both sides; which is decided before the first is taken.
  void take_decided(const Evidence& evidence) {
    std::vector<std::vector<std::size_t>> holders_of(vms_.size());
    std::vector<std::size_t> vms_of(taken_.size(), 0);
    for (std::size_t vm = 0; vm < vms_.size(); ++vm) {
      for (std::size_t holder = 0; holder < taken_.size(); ++holder) {
        if (!fits(vm, holder, evidence)) continue;
        holders_of[vm].push_back(holder);
        ++vms_of[holder];
      }
    }
    for (std::size_t vm = 0; vm < vms_.size(); ++vm) {
      if (holders_of[vm].size() == 1 && vms_of[holders_of[vm].front()] == 1) take(vm, holders_of[vm].front(), evidence);
    }
  }

  void take(std::size_t vm, std::size_t holder, const Evidence& decided) {
    VmOwner& owner = owners_[vm];
    owner.owner = facts_.holders[holder].owner;
    owner.evidence.emplace_back(decided.name);
    for (const Evidence& other : k_evidence) {
      if (other.name == decided.name) continue;
      if (other.says(vms_[vm], facts_.holders[holder], facts_) == Says::yes) owner.evidence.emplace_back(other.name);
    }
    taken_[holder] = true;
  }

  const OwnerFacts& facts_;
  std::vector<Vm> vms_;
  std::vector<VmOwner> owners_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<VmOwner> find_vm_owners(const std::vector<VmDirectory>& directories, const OwnerFacts& facts) {
  return Search(directories, facts).run();
}

}  // namespace cozy
