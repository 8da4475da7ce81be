#include <set>
#include <string>

#include "collector/analyse/rules.hpp"
#include "probes/probe.hpp"
#include "tests/analyse/case_files.hpp"
#include "tests/analyse/hand_made.hpp"

/// The findings of the cases, from the kernel's text on.
namespace cozy {

using namespace hand_made;

namespace {

using Ids = std::set<std::string>;

/// Adds a capture as the report's reader makes it.
void add(Snapshot& snapshot, const std::string& name, int sample, const std::string& text, const ReadSpan& read,
         int exit_code = 0) {
  SampleCapture file;
  file.capture.name = name;
  file.capture.sample = sample;
  file.capture.begin_stamp = read.begin;
  file.capture.end_stamp = read.end;
  file.capture.end = {exit_code, "exited " + std::to_string(exit_code), ""};
  file.reading = find_probe(name)->parse(text);
  file.capture.judgement = judge(file.reading, file.capture.end, *find_legend(name));
  snapshot.captures.push_back(std::move(file));
}

/// The two readings of /proc/stat of a case, and nothing else.
Analysis of_stat(const std::string& id, const std::string& before, const std::string& after,
                 const std::string& clock = "") {
  Snapshot snapshot{"kubernetes", {}};
  add(snapshot, "runner-kernel-cpu-time", 1, cases::file(id, before), cases::first_read());
  add(snapshot, "runner-kernel-cpu-time", 2, cases::file(id, after), cases::second_read(id));
  if (!clock.empty()) add(snapshot, "runner-steal-clock", 1, clock, cases::first_read());
  return analyse(snapshot);
}

Analysis of_stat(const std::string& id) { return of_stat(id, "before.txt", "after.txt"); }

ReadSpan whole_seconds(std::int64_t from, std::int64_t to) {
  return {Stamp{0, from * k_ns_per_second}, Stamp{0, to * k_ns_per_second}};
}

/// A11 with the stamps and exit codes that its files state.
Snapshot snapshot_of_a11() {
  const std::string below = "report/snapshots/kubernetes-latest/";
  const auto text = [&](const std::string& name) { return cases::file("A11", below + name); };
  Snapshot snapshot{"kubernetes-latest", {}};
  add(snapshot, "runner-kernel-cpu-time", 1, text("runner-kernel-cpu-time/sample-1/proc-stat.txt"),
      whole_seconds(1755763201, 1755763201));
  add(snapshot, "runner-kernel-cpu-time", 2, text("runner-kernel-cpu-time/sample-2/proc-stat.txt"),
      whole_seconds(1755763211, 1755763231), 1);
  add(snapshot, "sandbox-qemu-thread-cpu", 1, text("sandbox-qemu-thread-cpu/sample-1/qemu-threads.txt"),
      whole_seconds(1755763200, 1755763200));
  add(snapshot, "sandbox-qemu-thread-cpu", 2, text("sandbox-qemu-thread-cpu/sample-2/qemu-threads.txt"),
      whole_seconds(1755763212, 1755763212));
  return snapshot;
}

std::string vm_text(const std::string& side) {
  return "[vm 894-12] exits " + std::string(trim(cases::file("K09", side + "/sys/kernel/debug/kvm/894-12/exits"))) +
         " 0644\n";
}

std::string thread_text(const std::string& side) {
  const std::string task = side + "/proc/894/task/";
  return "clock ticks per second: 100\nprocess 894 comm qemu-system-x86\n[process 894 totals " +
         std::string(trim(cases::file("K09", side + "/proc/894/stat"))) + "]\n" +
         cases::file("K09", task + "894/stat") + cases::file("K09", task + "896/stat") + "[thread 894/896 schedstat " +
         std::string(trim(cases::file("K09", task + "896/schedstat"))) + "]\n[process 894 is srv1]\n";
}

Snapshot snapshot_of_k09() {
  Snapshot snapshot{"kubernetes", {}};
  add(snapshot, "sandbox-qemu-thread-cpu", 1, thread_text("before"), cases::first_read());
  add(snapshot, "sandbox-qemu-thread-cpu", 2, thread_text("after"), cases::second_read("K09"));
  add(snapshot, "sandbox-kvm-exits", 1, vm_text("before"), cases::first_read());
  add(snapshot, "sandbox-kvm-exits", 2, vm_text("after"), cases::second_read("K09"));
  return snapshot;
}

}  // namespace

TEST_CASE("findings: what was not read is an open question, and no good news") {
  const Analysis analysis = analyse(snapshot_of_a11());
  const auto answer = [&](const std::string& key) -> std::optional<cases::Answer> {
    if (key == "runner.sample1.outcome") return outcome_name(analysis.capture("runner-kernel-cpu-time", 1)->outcome);
    if (key == "runner.sample2.outcome") return outcome_name(analysis.capture("runner-kernel-cpu-time", 2)->outcome);
    if (key == "finding") return ids(analysis).contains("incomplete") ? "incomplete" : "none";
    if (key == "finding.names") {
      const std::string name = "runner-kernel-cpu-time sample 2";
      return contains(said(analysis, "incomplete"), name) && contains(analysis.verdict, name) ? name : "none";
    }
    if (key == "finding.never") {
      const bool never = !ids(analysis).contains("nothing-unusual") && !ids(analysis).contains("runner-preempted");
      return never ? "nothing-unusual runner-preempted" : "found";
    }
    if (key == "runner.user.share" || key == "steal.verdict") return analysis.runner ? "there" : "absent";
    if (key == "threads.pair") return analysis.pair("sandbox-qemu-thread-cpu") != nullptr ? "read" : "none";
    if (key == "419.ticks") return *analysis.nodes.at(0).vcpus.at(0).parts.ran_seconds * 100;
    return std::nullopt;
  };
  cases::check_case("A11", answer, [] { return std::string(); }, {"exit.status"});
  CHECK(analysis.nodes.at(0).vcpus.at(0).window->seconds() == 12.0);
  CHECK(ids(analysis) == Ids{"incomplete"});
}

TEST_CASE("findings: a vCPU that ran all the time and hardly left the guest") {
  const Analysis analysis = analyse(snapshot_of_k09());
  for (const auto& [key, id] : cases::key_values(cases::file("K09", "expect.txt"))) {
    if (key == "finding") CHECK(ids(analysis).contains(id));
  }
  CHECK(ids(analysis).contains("node-busy-flat"));
  CHECK_FALSE(ids(analysis).contains("nothing-unusual"));
  CHECK_FALSE(ids(analysis).contains("node-waited"));
  const Finding finding = all(analysis, "node-busy-flat").at(0);
  CHECK(finding.subject == "srv1");
  CHECK(contains(finding.says, "0.3 times per second"));
  CHECK_FALSE(contains(analysis.verdict, "idle"));
  CHECK(contains(analysis.verdict, "spins"));
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].scope == "thread 894/896");
  CHECK(finding.evidence[0].before == Value(std::uint64_t{50'200'000'000}));
  CHECK(finding.evidence[1].capture == "sandbox-kvm-exits");
  CHECK(finding.evidence[1].scope == "vm 894-12");
  CHECK(finding.evidence[1].after == Value(std::uint64_t{5403}));
}

TEST_CASE("findings: pressure of the window, not the kernel's average") {
  Snapshot snapshot{"kubernetes", {}};
  const std::string header = "[/proc/pressure/cpu]\n";
  add(snapshot, "runner-pressure", 1, header + cases::file("G05", "before.txt"), cases::first_read());
  add(snapshot, "runner-pressure", 2, header + cases::file("G05", "after.txt"), cases::second_read("G05"));
  const Analysis analysis = analyse(snapshot);
  REQUIRE(analysis.pressure);
  CHECK(analysis.pressure->cpu.some == 0.4);
  CHECK(analysis.pressure->cpu.full == 0.0);
  CHECK(analysis.pressure->cpu.avg10 == "3.21");
  CHECK_FALSE(analysis.pressure->io.some);
  REQUIRE(all(analysis, "pressure-cpu").size() == 1);
  CHECK(contains(said(analysis, "pressure-cpu"), "40 %"));
  CHECK_FALSE(contains(said(analysis, "pressure-cpu"), "3.2"));
  const std::vector<Evidence> evidence = all(analysis, "pressure-cpu")[0].evidence;
  REQUIRE(evidence.size() == 1);
  CHECK(evidence[0].field == "some.total_usec");
  CHECK(evidence[0].after == Value(std::uint64_t{5'000'000}));
}

TEST_CASE("findings: steal") {
  const Ids steal{"runner-preempted", "steal-not-observable", "steal-unusable"};
  const auto found = [&](const Analysis& analysis) {
    Ids of_steal;
    for (const std::string& id : ids(analysis)) {
      if (steal.contains(id)) of_steal.insert(id);
    }
    CHECK_FALSE(ids(analysis).contains("nothing-unusual"));
    return of_steal;
  };
  SECTION("impossible") {
    const Analysis analysis = of_stat("S05");
    CHECK(found(analysis) == Ids{"steal-unusable"});
    const Finding finding = all(analysis, "steal-unusable").at(0);
    CHECK(contains(finding.says, "2000 ticks"));
    REQUIRE(finding.evidence.size() == 3);
    CHECK(finding.evidence[0].before == Value(std::uint64_t{230}));
    CHECK(finding.evidence[0].after == Value(std::uint64_t{10'230}));
  }
  SECTION("an eighth of the time") {
    const Analysis analysis = of_stat("S17");
    CHECK(found(analysis) == Ids{"runner-preempted"});
    CHECK(all(analysis, "runner-preempted").at(0).level == Level::warning);
    CHECK(contains(analysis.verdict, "steal took 13 % of the CPU time of 1 CPU in 6.3 s"));
  }
  SECTION("a trace of it") { CHECK(found(of_stat("S20")).empty()); }
  SECTION("half of the time of one CPU, beside columns that went back") {
    const Analysis analysis = of_stat("S21");
    CHECK(found(analysis) == Ids{"runner-preempted"});
    CHECK(all(analysis, "runner-preempted").at(0).evidence.back().scope == "cpu1");
  }
  SECTION("went back") {
    Snapshot snapshot{"kubernetes", {}};
    add(snapshot, "runner-kernel-cpu-time", 1, "cpu 1 0 0 900 0 0 0 500 0 0\n", cases::span_at(1000));
    add(snapshot, "runner-kernel-cpu-time", 2, "cpu 101 0 0 1800 0 0 0 400 0 0\n", cases::span_at(1010));
    const Analysis analysis = analyse(snapshot);
    CHECK(found(analysis) == Ids{"steal-unusable"});
    CHECK(contains(said(analysis, "steal-unusable"), "went back"));
    CHECK(all(analysis, "steal-unusable").at(0).evidence.at(0).after == Value(std::uint64_t{400}));
  }
  SECTION("a zero is worth what its clock is") {
    const std::string vmware = "hypervisor-bit: yes\nhypervisor: VMwareVMware\nno-steal-acc: no\n";
    const Analysis a = of_stat("S19", "before.txt", "after.txt", vmware);
    CHECK(found(a) == Ids{"steal-not-observable"});
    CHECK(contains(said(a, "steal-not-observable"), "VMwareVMware"));
    CHECK(a.steal_clock.name == "unknown");
    CHECK(found(of_stat("S19", "before-b.txt", "after-b.txt", vmware)).empty());
    const std::string kvm =
        "hypervisor-bit: yes\nhypervisor: KVMKVMKVM\nkvm-features: 0x01007efb\nkvm-steal-clock: yes\n";
    const Analysis c = of_stat("S19", "before.txt", "after.txt", kvm + "no-steal-acc: no\n");
    CHECK(found(c).empty());
    CHECK(c.steal_clock.name == "kvm");
    const Analysis d = of_stat("S19", "before.txt", "after.txt", kvm + "no-steal-acc: yes\n");
    CHECK(found(d) == Ids{"steal-not-observable"});
    CHECK(contains(said(d, "steal-not-observable"), "no-steal-acc"));
    const std::string clear =
        "hypervisor: KVMKVMKVM\nkvm-features: 0x01007edb\nkvm-steal-clock: no\nno-steal-acc: no\n";
    const Analysis e = of_stat("S19", "before.txt", "after.txt", clear);
    CHECK(found(e) == Ids{"steal-not-observable"});
    CHECK(contains(said(e, "steal-not-observable"), "0x01007edb"));
    CHECK(e.steal_clock.name == "none");
    const Analysis bare = of_stat("S19", "before.txt", "after.txt", "hypervisor-bit: no\nhypervisor: none\n");
    CHECK(found(bare).empty());
    CHECK(bare.steal_clock.nobody_to_steal);
    CHECK(d.steal_clock.name == "none");
  }
}

TEST_CASE("findings: a container's view of the runner is judged by no rule") {
  Snapshot snapshot{"kubernetes", {}};
  const std::string mount = "[view: container; /proc/stat is a mount of type fuse.lxcfs]\n";
  add(snapshot, "runner-kernel-cpu-time", 1, cases::file("S15", "before.txt") + mount, cases::first_read());
  add(snapshot, "runner-kernel-cpu-time", 2, cases::file("S15", "after.txt") + mount, cases::second_read("S15"));
  const Analysis analysis = analyse(snapshot);
  CHECK(ids(analysis) == Ids{"incomplete"});
  CHECK(contains(said(analysis, "incomplete"), "container's view"));
}

}  // namespace cozy
