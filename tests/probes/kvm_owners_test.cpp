#include "probes/kvm_owners.hpp"

#include "probes/clock.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr std::int64_t k_boot = 1'796'000'000 * k_ns_per_second;

std::int64_t at_ms(std::int64_t ms) { return k_boot + ms * k_ns_per_ms; }

KvmHolder holder(const std::string& owner, std::uint64_t pid, std::int64_t start_ms,
                 std::vector<std::uint64_t> descriptors = {11}) {
  return {owner, pid, at_ms(start_ms), std::move(descriptors)};
}

VmDirectory vm(const std::string& name, std::int64_t birth_ms, std::vector<std::uint64_t> threads = {}) {
  return {name, at_ms(birth_ms), std::move(threads)};
}

std::vector<std::string> owners(const std::vector<VmDirectory>& vms, const OwnerFacts& facts) {
  std::vector<std::string> names;
  for (const VmOwner& owner : find_vm_owners(vms, facts)) names.push_back(owner.owner);
  return names;
}

using Names = std::vector<std::string>;

constexpr const char* k_thread = "thread number of a vCPU's statistics";
constexpr const char* k_descriptor = "number of its kvm-vm descriptor";
constexpr const char* k_birth = "birth just after the process's start";
constexpr const char* k_pid = "process number in the initial PID namespace";

}  // namespace

TEST_CASE("owner: the thread number in a vCPU's statistics decides alone", "[kvm_owners]") {
  OwnerFacts facts;
  facts.owner_of_thread = {{2233, "srv2"}, {2304, "srv1"}};
  facts.holders = {holder("srv1", 12, 0), holder("srv2", 13, 5000)};
  const std::vector<VmDirectory> vms{vm("2231-14", 9000, {2233, 2234}), vm("2302-14", 9000, {2304})};
  const auto found = find_vm_owners(vms, facts);
  REQUIRE(found.size() == 2);
  CHECK(found[0].owner == "srv2");
  CHECK(found[0].evidence == Names{k_thread});
  CHECK(found[1].owner == "srv1");
}

TEST_CASE("owner: a number is matched whole", "[kvm_owners]") {
  OwnerFacts facts;
  facts.owner_of_thread = {{223, "srv1"}};
  facts.holders = {holder("srv1", 231, 0, {1})};
  facts.initial_pid_namespace = true;
  CHECK(owners({vm("2231-14", 10, {2233}), vm("31-1", 10), vm("2310-1", 10)}, facts) == Names{"", "", ""});
}

TEST_CASE("owner: the number of the VM's descriptor decides where it is one of each", "[kvm_owners]") {
  OwnerFacts facts;
  facts.holders = {holder("srv1", 12, 0, {11}), holder("srv2", 13, 0, {14})};
  const auto found = find_vm_owners({vm("2302-14", 500), vm("2231-11", 9000)}, facts);
  CHECK(found[0].owner == "srv2");
  CHECK(found[0].evidence == Names{k_descriptor});
  CHECK(found[1].owner == "srv1");

  SECTION("two processes hold that number") {
    facts.holders = {holder("srv1", 12, 0), holder("srv2", 13, 0)};
    CHECK(owners({vm("2231-11", 500)}, facts) == Names{""});
  }
  SECTION("two VMs bear it") {
    facts.holders = {holder("srv1", 12, 0)};
    CHECK(owners({vm("2231-11", 500), vm("2302-11", 600)}, facts) == Names{"", ""});
  }
  SECTION("a process that is known by its threads is no candidate any more") {
    facts.holders = {holder("srv1", 12, 0), holder("srv2", 13, 0)};
    facts.owner_of_thread = {{2233, "srv1"}};
    CHECK(owners({vm("2231-11", 500, {2233}), vm("2302-11", 600)}, facts) == Names{"srv1", "srv2"});
  }
  SECTION("a process without a VM is none") {
    facts.holders = {holder("srv1", 12, 0, {}), holder("srv2", 13, 0)};
    CHECK(owners({vm("2231-11", 10)}, facts) == Names{"srv2"});
  }
}

TEST_CASE("owner: births follow starts where the descriptors have one number", "[kvm_owners]") {
  OwnerFacts facts;
  facts.holders = {holder("srv1", 12, 0), holder("srv2", 13, 1900), holder("srv3", 14, 2050)};
  const std::vector<VmDirectory> vms{vm("2231-11", 4), vm("2302-11", 1916), vm("2311-11", 2072)};
  const auto found = find_vm_owners(vms, facts);
  CHECK(found[0].owner == "srv1");
  CHECK(found[1].owner == "srv2");
  CHECK(found[2].owner == "srv3");
  CHECK(found[1].evidence == Names{k_birth, k_descriptor});

  SECTION("two that were started at once stay anonymous") {
    facts.holders[2] = holder("srv3", 14, 1910);
    CHECK(owners({vms[0], vm("2302-11", 1930), vm("2311-11", 1940)}, facts) == Names{"srv1", "", ""});
  }
  SECTION("one that is born long after is not tied by its birth") {
    CHECK(owners({vm("2302-11", 60'000), vm("2303-11", 60'500)}, facts) == Names{"", ""});
  }
  SECTION("a VM that is older than the process is not its own") {
    facts.holders = {holder("srv1", 12, 5000)};
    CHECK(owners({vm("2302-11", 4900)}, facts) == Names{""});
  }
  SECTION("another number speaks against a birth that fits") {
    facts.holders = {holder("srv1", 12, 0, {9})};
    CHECK(owners({vm("2302-11", 10)}, facts) == Names{""});
  }
  SECTION("where the descriptors could not be listed the birth is all there is") {
    facts.holders = {{"srv1", 12, at_ms(0), std::nullopt}};
    CHECK(find_vm_owners({vm("2302-11", 10)}, facts)[0].evidence == Names{k_birth});
  }
}

TEST_CASE("owner: in the initial PID namespace the process numbers are equal, elsewhere they say nothing",
          "[kvm_owners]") {
  OwnerFacts facts;
  facts.initial_pid_namespace = true;
  facts.holders = {holder("srv1", 2231, 0), holder("srv2", 2302, 0)};
  const std::vector<VmDirectory> vms{vm("2302-11", 9000), vm("2231-11", 9000), vm("77-11", 9000)};
  const auto found = find_vm_owners(vms, facts);
  CHECK(found[0].owner == "srv2");
  CHECK(found[0].evidence == Names{k_descriptor, k_pid});
  CHECK(found[1].owner == "srv1");
  CHECK(found[2].owner.empty());

  facts.holders = {{"srv1", 2231, std::nullopt, std::nullopt}};
  CHECK(find_vm_owners(vms, facts)[1].evidence == Names{k_pid});

  facts.initial_pid_namespace = false;
  CHECK(owners(vms, facts) == Names{"", "", ""});
}

TEST_CASE("owner: a directory whose name is no two numbers is tied to nobody by it", "[kvm_owners]") {
  OwnerFacts facts;
  facts.initial_pid_namespace = true;
  facts.holders = {{"srv1", 12, std::nullopt, std::vector<std::uint64_t>{11}}};
  for (const char* name : {"12", "-11", "x-11x", "12-", "+12-+11", "12-11-3", ""}) {
    CAPTURE(name);
    CHECK(owners({vm(name, 0)}, facts) == Names{""});
  }
}
