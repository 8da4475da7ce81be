#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "probes/kvm_own_vm.hpp"
#include "probes/kvm_stats.hpp"
#include "tests/catch.hpp"
#include "tests/probes/kvm_tables.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

constexpr const char* k_probe = "sandbox-kvm-exits";
const std::string k_kvm = "sys/kernel/debug/kvm/";

/// A machine whose KVM describes its statistics so, or refuses to.
class DescribedCalls : public FakeCalls {
 public:
  using FakeCalls::FakeCalls;
  ~DescribedCalls() override { wait_until_idle(); }

  int own_vm_statistics(const std::string& device, std::array<std::string, 2>& tables) override {
    ++asked;
    opened_before = opened().size();
    asked_at = device;
    tables = answer;
    const int ends_with = code;
    char held = 0;
    static_cast<void>(read_link(device, &held, 1));  // waits while the device is held; nothing of this after it
    errno = ends_with;
    return ends_with == 0 ? 0 : -1;
  }

  std::array<std::string, 2> answer;
  int code = 0;
  std::size_t asked = 0;
  std::size_t opened_before = 0;
  std::string asked_at;
};

void write_vm(const TemporaryTree& tree) {
  for (const char* file : {"exits", "blocking", "1-2/exits", "1-2/blocking", "1-2/max_of_a_newer_kernel",
                           "1-2/gauge_of_a_newer_kernel", "1-2/halt_wait_hist", "1-2/not_described"})
    tree.write(k_kvm + file, "7\n");
}

std::array<std::string, 2> described() {
  return {kvm_table("kvm-900", {{"max_of_a_newer_kernel", 2}, {"gauge_of_a_newer_kernel", 1}}),
          kvm_table("kvm-900/vcpu-240", {{"exits", 0},
                                         {"blocking", 0x41},
                                         {"halt_wait_ns", 0x20, {0}, -9},
                                         {"halt_wait_hist", 0x24, {0, 0, 0}, -9}})};
}

Kind kind(const ProbeRun& run, std::string_view field) {
  const Row* row = run.reading.find("vm 1-2", field);
  return row == nullptr ? Kind::unknown : row->kind;
}

}  // namespace

TEST_CASE("kinds: KVM's own descriptors tell the kinds of debugfs's files", "[kvm_kinds]") {
  const TemporaryTree tree;
  write_vm(tree);
  DescribedCalls calls(tree.directory());
  calls.answer = described();
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(calls.asked == 1);
  CHECK(calls.asked_at == tree.path("dev/kvm"));
  CHECK(calls.opened_before == calls.opened().size());  // after the last reading
  CHECK(run.reading.word("kernel", "kinds") == "descriptors");
  CHECK(kind(run, "exits") == Kind::cumulative);
  CHECK(kind(run, "blocking") == Kind::instant);
  CHECK(kind(run, "max_of_a_newer_kernel") == Kind::peak);
  CHECK(kind(run, "gauge_of_a_newer_kernel") == Kind::instant);
  CHECK(kind(run, "halt_wait_hist") == Kind::histogram);
  CHECK(run.reading.find("vm 1-2", "not_described")->kind == Kind::unknown);  // left to the legend
  CHECK(run.reading.find("global", "exits")->kind == Kind::cumulative);
  CHECK(run.text.find("[kind] halt_wait_ns cumulative seconds 10^-9\n") != std::string::npos);
  CHECK(run.text.find("240") == std::string::npos);  // of the VM itself nothing is told
  CHECK(run.reading.find("global", "halt_wait_ns") == nullptr);
  CHECK(run.reading.partial.empty());
}

TEST_CASE("kinds: where KVM does not answer, permission bits and the legend do", "[kvm_kinds]") {
  const TemporaryTree tree;
  write_vm(tree);
  DescribedCalls calls(tree.directory());
  calls.set_modes("0444 " + k_kvm + "1-2/blocking\n0644 " + k_kvm + "1-2/exits\n");
  for (const int code : {ENOENT, EACCES, EPERM, ENOTTY, EINVAL, EMFILE}) {
    calls.code = code;
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CAPTURE(code);
    CHECK(run.reading.word("kernel", "kinds") == "permission bits");
    CHECK(run.text.find("no descriptors: /dev/kvm: E") != std::string::npos);
    CHECK(kind(run, "blocking") == Kind::instant);
    CHECK(run.reading.find("vm 1-2", "exits")->kind == Kind::unknown);
    CHECK(run.reading.partial.empty());  // nothing that was to be read is missing
  }
  calls.code = 0;
  for (const char* bytes : {"", "x"}) {
    calls.answer = described();
    calls.answer[1] = bytes;
    const ProbeRun run = run_on(k_probe, tree.directory(), calls);
    CHECK(run.reading.word("kernel", "kinds") == "permission bits");
    CHECK(run.text.find("less than their header") != std::string::npos);
    CHECK(run.text.find("[kind]") == std::string::npos);
  }
}

TEST_CASE("kinds: a KVM that does not answer costs its bound and no reading", "[kvm_kinds]") {
  const TemporaryTree tree;
  write_vm(tree);
  DescribedCalls calls(tree.directory());
  calls.hold("dev/kvm");
  const ProbeRun run = run_on(k_probe, tree.directory(), calls, impatient());
  calls.let_go("dev/kvm");
  CHECK(run.abandoned == 1);
  CHECK(run.reading.word("kernel", "kinds") == "permission bits");
  CHECK(run.text.find("no descriptors: /dev/kvm: no answer within") != std::string::npos);
  CHECK(run.reading.number("vm 1-2", "exits") == 7U);
  CHECK(run.reading.partial.empty());
}

TEST_CASE("kinds: KVM is not asked where nothing is to be told apart", "[kvm_kinds]") {
  DescribedCalls lockdown(case_path("K01", "root"));
  lockdown.set_modes(case_text("K01", "modes.txt"));
  lockdown.answer = described();
  const ProbeRun gauges = run_on(k_probe, case_path("K01", "root"), lockdown);
  CHECK(lockdown.asked == 0);
  CHECK(gauges.reading.word("kernel", "kinds") == "permission bits");

  const TemporaryTree tree;  // a kernel that knows KVM, and no VM
  tree.write(k_kvm + "exits", "0\n");
  DescribedCalls no_vm(tree.directory());
  const ProbeRun none = run_on(k_probe, tree.directory(), no_vm);
  CHECK(no_vm.asked == 0);
  CHECK(mentions(none.reading.notes, "no VM is alive"));
}

TEST_CASE("kinds: hostile tables and lines make no kind", "[kvm_kinds]") {
  const TemporaryTree tree;
  write_vm(tree);
  DescribedCalls calls(tree.directory());
  calls.answer = {kvm_table("kvm-1", {{"exits", 1}, {"a\nb", 0}, {"blocking", 7}}), described()[1]};
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(run.text.find("a\nb") == std::string::npos);
  CHECK(run.reading.find("vm 1-2", "exits")->kind == Kind::unknown);  // two words on one name: none counts

  const auto parse = find_probe(k_probe)->parse;
  for (const char* line : {"[kind] exits\n", "[kind] exits peak none 10^0 [vm 1-2] x\n", "[kind]\n", "[kind] \n",
                           "[kinds] exits peak none 10^0\n", "[kind]  exits peak none10^0\n"}) {
    CAPTURE(line);
    const Reading reading = parse("[vm 1-2] exits 5 0644\n" + std::string(line));
    CHECK(reading.find("vm 1-2", "exits")->kind == Kind::unknown);
    CHECK(reading.rows.size() == 1);
  }
  const Reading odd = parse(
      "[kind] exits type-9 none 10^0\n[kind] pid peak none 10^0\n[vm 1-2] exits 5 0644\n"
      "[vcpu srv1/vcpu0] pid 5 cumulative none 10^0\n");
  CHECK(odd.find("vm 1-2", "exits")->kind == Kind::histogram);     // never subtracted
  CHECK(odd.find("srv1/vcpu0", "pid")->kind == Kind::cumulative);  // a vCPU's row has its own word
}

TEST_CASE("kinds: a VM that another collector made for this is in no number", "[kvm_kinds]") {
  const TemporaryTree tree;
  write_vm(tree);
  tree.write(k_kvm + "80-9/exits", "12345\n");
  tree.write(k_kvm + "80-9/" + std::string(k_own_vm_vcpu_directory) + "/pid", "0\n");
  tree.write(k_kvm + "81-9/exits", "3\n");  // a guest may have such a vCPU beside others
  tree.write(k_kvm + "81-9/" + std::string(k_own_vm_vcpu_directory) + "/pid", "0\n");
  tree.write(k_kvm + "81-9/vcpu0/pid", "0\n");
  DescribedCalls calls(tree.directory());
  const ProbeRun run = run_on(k_probe, tree.directory(), calls);
  CHECK(run.text.find("12345") == std::string::npos);
  CHECK(run.reading.find("vm 80-9", "exits") == nullptr);
  CHECK(run.reading.number("vm 81-9", "exits") == 3U);
  CHECK(run.text.find("across 2 per-VM director(ies)") != std::string::npos);
  CHECK(run.reading.partial.empty());
  CHECK(run.reading.notes.empty());
}

TEST_CASE("kinds: a VM of our own describes every statistic, and leaves nothing open", "[kvm_kinds]") {
  const int device = ::open("/dev/kvm", O_RDWR | O_CLOEXEC);
  if (device < 0) {
    WARN("not tested: /dev/kvm cannot be opened");
    return;
  }
  ::close(device);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  const auto tables = read_own_vm_statistics(FileCalls::system(), "/dev/kvm");
  if (!tables) {
    WARN("not tested: " << tables.error().text());
    return;
  }
  CHECK(open_files() == before);
  const auto vm = parse_kvm_table((*tables)[0]);
  const auto vcpu = parse_kvm_statistics((*tables)[1]);
  REQUIRE(vm.ok());
  REQUIRE(vcpu.ok());
  CHECK(vcpu->vcpu == k_own_vm_vcpu);
  CHECK(k_own_vm_vcpu_directory == "vcpu" + std::to_string(k_own_vm_vcpu));
  CHECK(vm->left_out.empty());
  CHECK(vcpu->left_out.empty());
  std::size_t exits = 0;
  for (const KvmStatistic& statistic : vcpu->statistics) {
    if (statistic.name == "exits" && statistic.kind == Kind::cumulative) ++exits;
  }
  CHECK(exits == 1);
}

TEST_CASE("kinds: what is no KVM is refused with its own words", "[kvm_kinds]") {
  const TemporaryTree tree;
  tree.write("dev/kvm", "a file\n");
  const auto file = read_own_vm_statistics(FileCalls::system(), tree.path("dev/kvm"));
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().code == ENOTTY);
  const auto nothing = read_own_vm_statistics(FileCalls::system(), tree.path("dev/nothing"));
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().code == ENOENT);
}
