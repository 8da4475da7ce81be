#include "probes/vcpu_statistics.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "tests/catch.hpp"
#include "tests/probes/kvm_tables.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

/// The machine's /proc is a tree, and so are the descriptors that are borrowed: borrowed/PID-FD holds the bytes.
class TreeCalls : public FileCalls {
 public:
  explicit TreeCalls(const TemporaryTree& tree) : tree_(tree) {}

  int open(const std::string& path, int flags) override { return FileCalls::open(mapped(path), flags); }

  int list(const std::string& path, std::size_t most, bool modes, std::vector<DirectoryEntry>& entries) override {
    if (unlistable.contains(path)) {
      errno = unlistable[path];
      return -1;
    }
    return FileCalls::list(mapped(path), most, modes, entries);
  }

  ssize_t read_link(const std::string& path, char* buffer, std::size_t size) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [descriptor, link] : links_) {
      if (path == "/proc/self/fd/" + std::to_string(descriptor))
        return static_cast<ssize_t>(link.copy(buffer, std::min(size, link.size())));
    }
    return FileCalls::read_link(mapped(path), buffer, size);
  }

  int borrow(std::uint64_t pid, int descriptor) override {
    const std::lock_guard lock(mutex_);
    const std::string name = std::to_string(pid) + "-" + std::to_string(descriptor);
    if (before_borrow) before_borrow(name);
    if (faults.contains(name)) {
      errno = faults[name];
      return -1;
    }
    const int opened = FileCalls::open(tree_.path("borrowed/" + name), O_RDONLY | O_CLOEXEC);
    const auto link = "proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
    if (opened >= 0)
      links_[opened] = becomes.empty() ? std::filesystem::read_symlink(tree_.path(link)).string() : becomes;
    return opened;
  }

  int close(int descriptor) override {
    const std::lock_guard lock(mutex_);
    links_.erase(descriptor);
    return FileCalls::close(descriptor);
  }

  [[nodiscard]] bool all_closed() {
    const std::lock_guard lock(mutex_);
    return links_.empty();
  }

  std::map<std::string, int> faults;      ///< of borrowing, by PID-FD
  std::map<std::string, int> unlistable;  ///< directories
  std::function<void(const std::string&)> before_borrow;
  std::string becomes;  ///< what a borrowed descriptor turns out to be

 private:
  [[nodiscard]] std::string mapped(const std::string& path) const {
    return path.starts_with("/proc") ? tree_.directory() + path : path;
  }

  const TemporaryTree& tree_;
  std::mutex mutex_;
  std::map<int, std::string> links_;
};

/// A QEMU with two vCPUs, whose statistics count from `exits` on. Its start is long ago.
void write_qemu(const TemporaryTree& tree, const std::string& pid, const std::string& guest, std::uint64_t tid,
                std::uint64_t exits) {
  const std::string process = "proc/" + pid + "/";
  tree.write(process + "comm", "qemu-system-x86\n");
  tree.write(process + "stat", stat_line(pid, "qemu-system-x86", "500", "5001"));
  tree.write(process + "cmdline", "qemu-system-x86_64" + std::string(1, '\0') + "-name" + std::string(1, '\0') +
                                      "guest=" + guest + std::string(1, '\0'));
  std::filesystem::create_directories(tree.path(process + "fd"));
  const auto link = [&](const std::string& number, const std::string& to) {
    std::filesystem::create_symlink(to, tree.path(process + "fd/" + number));
  };
  link("0", "/dev/null");
  link("11", "anon_inode:kvm-vm");
  for (std::uint64_t vcpu = 0; vcpu < 2; ++vcpu) {
    const std::string number = std::to_string(14 + 2 * vcpu);
    link(number, "anon_inode:kvm-vcpu-stats:" + std::to_string(vcpu));
    tree.write("borrowed/" + pid + "-" + number,
               kvm_table("kvm-" + std::to_string(tid + vcpu) + "/vcpu-" + std::to_string(vcpu),
                         {{"exits", 0, {exits + vcpu}}, {"halt_wait_ns", 0x20, {5}, -9}}));
  }
}

struct Run {
  VcpuStatistics found;
  std::string text;
  Reading reading;
};

Run run(const TemporaryTree& tree, TreeCalls& calls) {
  Watchdog watchdog(calls, patient());
  StringSink sink;
  Run run;
  run.found = write_vcpu_statistics({Root("/"), tree.path("sandbox"), {}, calls, watchdog}, sink);
  sink.flush();
  run.text = sink.content;
  run.reading = find_probe("sandbox-kvm-exits")->parse(run.text);
  return run;
}

TemporaryTree& with_two(TemporaryTree& tree) {
  write_qemu(tree, "812", "srv1", 9001, 100);
  write_qemu(tree, "815", "srv2", 9011, 200);
  return tree;
}

}  // namespace

TEST_CASE("vCPU statistics: each vCPU is a scope of its node, and every descriptor is given back",
          "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  std::filesystem::create_directories(tree.path("proc/self/ns"));
  std::filesystem::create_symlink("pid:[4026531836]", tree.path("proc/self/ns/pid"));
  const Run all = run(tree, calls);
  CHECK(all.reading.number("srv1/vcpu0", "exits") == 100U);
  CHECK(all.reading.number("srv1/vcpu1", "exits") == 101U);
  CHECK(all.reading.number("srv2/vcpu1", "exits") == 201U);
  CHECK(all.reading.number("srv2/vcpu1", "halt_wait_ns") == 5U);
  CHECK(all.found.vcpus == 4);
  CHECK(all.found.processes == 2);
  CHECK(all.reading.partial.empty());
  CHECK(calls.all_closed());
  CHECK(all.found.owners.initial_pid_namespace);
  CHECK(all.found.owners.owner_of_thread.at(9012) == "srv2");
  REQUIRE(all.found.owners.holders.size() == 2);
  CHECK(all.found.owners.holders[1].vm_descriptors == std::vector<std::uint64_t>{11});
  REQUIRE(all.reading.subject("srv2/vcpu0") != nullptr);
  CHECK(all.reading.subject("srv2/vcpu0")->identity == "kvm-9011/vcpu-0 of process 815 start 5001");
}

TEST_CASE("vCPU statistics: a QEMU that is killed amid the read left, and the others are whole", "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  const bool reaped = GENERATE(true, false);
  const std::string last = GENERATE(as<std::string>{}, "815-14", "815-16");  // what is borrowed when it ends
  const int code = GENERATE(ESRCH, EBADF);                                   // before Linux 6.9 it is EBADF
  calls.before_borrow = [&](const std::string& name) {
    if (name != last) return;
    calls.faults = {{"815-14", code}, {"815-16", code}};
    if (reaped) {
      std::filesystem::remove_all(tree.path("proc/815"));
    } else {
      std::string zombie = stat_line("815", "qemu-system-x86", "500", "5001");
      tree.write("proc/815/stat", zombie.replace(zombie.find(") S"), 3, ") Z"));
    }
  };
  const Run killed = run(tree, calls);
  CAPTURE(reaped, last, code, killed.text);
  CHECK(killed.reading.number("srv1/vcpu1", "exits") == 101U);
  CHECK((killed.reading.find("srv2/vcpu0", "exits") != nullptr) == (last == "815-16"));
  CHECK(killed.reading.find("srv2/vcpu1", "exits") == nullptr);
  REQUIRE(killed.reading.partial.size() == 1);
  CHECK(killed.reading.partial[0].starts_with("srv2 left while it was read"));
  CHECK(killed.reading.refused.empty());
  CHECK(killed.found.failed == 0);
}

TEST_CASE("vCPU statistics: a QEMU that is gone before its descriptors are listed left as well", "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  SECTION("nothing of it is there") {
    calls.unlistable["/proc/815/fd"] = ENOENT;
    std::string later = stat_line("815", "sh", "500", "900077");  // and its number is another process's by now
    calls.before_borrow = [&](const std::string&) { tree.write("proc/815/stat", later); };
    const Run gone = run(tree, calls);
    REQUIRE(gone.reading.partial.size() == 1);
    CHECK(gone.reading.partial[0].starts_with("srv2 left"));
    CHECK(gone.reading.number("srv1/vcpu0", "exits") == 100U);
  }
  SECTION("it lives, and its descriptors may not be listed") {
    calls.unlistable["/proc/815/fd"] = EACCES;
    const Run refused = run(tree, calls);
    CHECK(mentions(refused.reading.notes, "process 815 cannot be listed: EACCES"));
    CHECK(refused.found.failed == 1);
    CHECK(refused.text.find("left") == std::string::npos);
    CHECK_FALSE(refused.found.owners.holders[1].vm_descriptors);
  }
}

TEST_CASE("vCPU statistics: a vCPU that is closed while its QEMU lives left alone", "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  calls.faults = {{"815-16", EBADF}};
  const Run unplugged = run(tree, calls);
  REQUIRE(unplugged.reading.partial.size() == 1);
  CHECK(unplugged.reading.partial[0].starts_with("srv2/vcpu1 left while it was read"));
  CHECK(unplugged.reading.number("srv2/vcpu0", "exits") == 200U);
}

TEST_CASE("vCPU statistics: a refusal is told apart from a departure", "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  calls.faults = {{"812-14", EPERM}, {"812-16", EPERM}};
  const Run refused = run(tree, calls);
  CHECK(refused.found.failed == 2);
  CHECK(mentions(refused.reading.refused, "vcpu srv1 anon_inode:kvm-vcpu-stats:0: EPERM"));
  CHECK(refused.text.find("left") == std::string::npos);
  CHECK(refused.reading.number("srv2/vcpu0", "exits") == 200U);
}

TEST_CASE("vCPU statistics: a descriptor that is another file by now is not read", "[vcpu_statistics]") {
  TemporaryTree tree;
  TreeCalls calls(with_two(tree));
  calls.becomes = "/etc/shadow";
  const Run reused = run(tree, calls);
  CHECK(reused.found.vcpus == 0);
  CHECK(reused.found.failed == 4);
  CHECK(mentions(reused.reading.refused, "is another file by now"));
  CHECK(calls.all_closed());
}

TEST_CASE("vCPU statistics: a QEMU without any is no failure", "[vcpu_statistics]") {
  TemporaryTree tree;
  write_qemu(tree, "812", "srv1", 9001, 100);
  for (const char* link : {"14", "16"}) std::filesystem::remove(tree.path(std::string("proc/812/fd/") + link));
  TreeCalls calls(tree);
  const Run old = run(tree, calls);
  CHECK(old.found.vcpus == 0);
  CHECK(old.found.failed == 0);
  CHECK(old.found.processes == 1);
  CHECK(old.reading.partial.empty());
  CHECK(old.found.owners.holders[0].vm_descriptors == std::vector<std::uint64_t>{11});
}
