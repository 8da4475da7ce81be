#include "collector/analyse/analysis.hpp"

#include <algorithm>
#include <string>

#include "collector/analyse/cpu_list.hpp"
#include "probes/probe.hpp"
#include "tests/catch.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_second = k_ns_per_second;

/// Adds a capture as the report's reader makes it.
void add(Snapshot& snapshot, const std::string& name, int sample, const std::string& text, std::int64_t width_ns = 0) {
  SampleCapture file;
  file.capture.name = name;
  file.capture.sample = sample;
  const std::int64_t begin = (sample == 1 ? 100 : 110) * k_second;
  file.capture.begin_stamp = Stamp{begin, 1755760000 * k_second + begin};
  file.capture.end_stamp = Stamp{begin + width_ns, 1755760000 * k_second + begin + width_ns};
  file.reading = find_probe(name)->parse(text);
  file.capture.judgement = judge(file.reading, {0, "exited 0", ""}, *find_legend(name));
  file.file = "snapshots/kubernetes/" + name;
  snapshot.captures.push_back(std::move(file));
}

const std::string k_stat_before = "cpu 100 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 900 0 0 0 0 0 0\n";
const std::string k_stat_after = "cpu 600 0 0 1400 0 0 0 0 0 0\ncpu0 600 0 0 1400 0 0 0 0 0 0\n";

std::string kvm(const std::string& vm, int exits) {
  return "[global] exits " + std::to_string(exits) + " 0644\n[vm " + vm + "] exits " + std::to_string(exits) +
         " 0644\n";
}

/// Every capture of both samples, each whole.
Snapshot whole_snapshot() {
  const std::string threads =
      "process 5 comm qemu-system-x86\n5 (qemu-system-x86) S 1 5 5 0 -1 64 0 0 0 0 1 1 0 0 20 0 2 0 7 0 0 0\n[process "
      "5 is srv1]\n";
  Snapshot snapshot{"kubernetes", {}};
  for (const int sample : {1, 2}) {
    add(snapshot, "runner-kernel-cpu-time", sample, sample == 1 ? k_stat_before : k_stat_after, 4'000'000);
    add(snapshot, "sandbox-qemu-thread-cpu", sample, threads, 2'000'000);
    add(snapshot, "sandbox-kvm-exits", sample, kvm("5-12", 1000 * sample), 6'000'000);
  }
  add(snapshot, "runner-shape", 1, "cpus-online: 0\n");
  return snapshot;
}

void drop(Snapshot& snapshot, const std::string& name, int sample) {
  std::erase_if(snapshot.captures, [&](const auto& c) { return c.capture.name == name && c.capture.sample == sample; });
}

/// Only the captures of this probes are looked at: more probes may join the table.
std::vector<Shortfall> of(const Analysis& analysis, const std::string& capture) {
  std::vector<Shortfall> found;
  for (const Shortfall& shortfall : analysis.shortfalls) {
    if (shortfall.capture == capture) found.push_back(shortfall);
  }
  return found;
}

}  // namespace

TEST_CASE("analysis: a whole snapshot") {
  const Analysis analysis = analyse(whole_snapshot());
  CHECK(analysis.snapshot == "kubernetes");
  REQUIRE(analysis.window);
  CHECK(analysis.window->seconds() == 10.0);
  CHECK(analysis.window->error_ns == 2'000'000);  // the narrowest pair's
  REQUIRE(analysis.runner);
  CHECK(analysis.runner->runner->share(CpuColumn::user) == 0.5);
  CHECK(analysis.runner->steal == StealVerdict::not_observable);
  REQUIRE(analysis.nodes.size() == 1);
  REQUIRE(analysis.kvm);
  REQUIRE(analysis.kvm->vms.size() == 1);
  CHECK(analysis.kvm->vms[0].exits_per_second == 100.0);
  CHECK(of(analysis, "runner-kernel-cpu-time").empty());
  CHECK(of(analysis, "sandbox-kvm-exits").empty());
  CHECK(analysis.capture("runner-shape", 1)->outcome == Outcome::complete);
  CHECK(analysis.capture("runner-shape", 2) == nullptr);
}

TEST_CASE("analysis: a capture without a partner is not compared") {
  Snapshot snapshot = whole_snapshot();
  drop(snapshot, "runner-kernel-cpu-time", 2);
  SECTION("missing") {
    const Analysis analysis = analyse(snapshot);
    CHECK_FALSE(analysis.runner);
    REQUIRE(of(analysis, "runner-kernel-cpu-time").size() == 1);
    const Shortfall shortfall = of(analysis, "runner-kernel-cpu-time")[0];
    CHECK(shortfall.sample == 2);
    CHECK(shortfall.outcome == Outcome::unavailable);
    CHECK(shortfall.consequence == "no rate for this wait");
  }
  SECTION("missing on a passing run") {
    AnalysisOptions options;
    options.wait_passed = true;
    CHECK(of(analyse(snapshot, options), "runner-kernel-cpu-time")[0].consequence ==
          "this run leaves no healthy baseline");
  }
  SECTION("there, without a row") {
    add(snapshot, "runner-kernel-cpu-time", 2, "intr 5\n");
    const Analysis analysis = analyse(snapshot);
    CHECK_FALSE(analysis.runner);
    CHECK(of(analysis, "runner-kernel-cpu-time")[0].reason.find("no cpu row") != std::string::npos);
  }
  SECTION("in the first sample") {
    drop(snapshot, "runner-kernel-cpu-time", 1);
    const auto shortfalls = of(analyse(snapshot), "runner-kernel-cpu-time");
    REQUIRE(shortfalls.size() == 2);
    CHECK(shortfalls[0].consequence == "the later reading will have no partner");
  }
  SECTION("not asked for") {
    drop(snapshot, "runner-kernel-cpu-time", 1);
    AnalysisOptions options;
    options.not_asked.insert("runner-kernel-cpu-time");
    const Analysis analysis = analyse(snapshot, options);
    CHECK(of(analysis, "runner-kernel-cpu-time").empty());
    CHECK(analysis.capture("runner-kernel-cpu-time", 1) == nullptr);
  }
}

TEST_CASE("analysis: a partial side is compared and marked") {
  Snapshot snapshot = whole_snapshot();
  drop(snapshot, "runner-kernel-cpu-time", 2);
  add(snapshot, "runner-kernel-cpu-time", 2, k_stat_after + "[walk cut: deadline]\n");
  const Analysis analysis = analyse(snapshot);
  REQUIRE(analysis.runner);
  CHECK(analysis.runner->partial);
  CHECK(analysis.pair("runner-kernel-cpu-time")->partial);
  REQUIRE(of(analysis, "runner-kernel-cpu-time").size() == 1);
  CHECK(of(analysis, "runner-kernel-cpu-time")[0].outcome == Outcome::partial);
  CHECK_FALSE(of(analysis, "runner-kernel-cpu-time")[0].consequence.empty());
}

TEST_CASE("analysis: after sample 1 nothing is missing of sample 2") {
  Snapshot snapshot = whole_snapshot();
  std::erase_if(snapshot.captures, [](const auto& c) { return c.capture.sample == 2; });
  drop(snapshot, "sandbox-kvm-exits", 1);
  AnalysisOptions options;
  options.last_sample = 1;
  const Analysis analysis = analyse(snapshot, options);
  CHECK_FALSE(analysis.runner);
  REQUIRE(of(analysis, "sandbox-kvm-exits").size() == 1);
  CHECK(of(analysis, "sandbox-kvm-exits")[0].sample == 1);
  CHECK(of(analysis, "runner-kernel-cpu-time").empty());
}

TEST_CASE("analysis: KVM's sums over all VMs are of another subject when the VMs are others") {
  const Reading before = find_probe("sandbox-kvm-exits")->parse(kvm("5-12", 1000) + "[vm 6-12] exits 5\n");
  const Reading after = find_probe("sandbox-kvm-exits")->parse(kvm("5-12", 2000) + "[vm 7-12] exits 9\n");
  const Difference rows = difference({before, {}, true}, {after, {}, true},
                                     kvm_pair_rules(before, after, find_legend("sandbox-kvm-exits")));
  CHECK(rows.find("global", "exits")->change == Change::reset);
  CHECK(rows.delta("vm 5-12", "exits") == 1000U);
  const KvmRates rates = kvm_rates(rows);
  CHECK(rates.set_changed);
  REQUIRE(rates.vms.size() == 3);
  CHECK(rates.vms[1].change == Change::gone);
  CHECK(rates.vms[2].change == Change::appeared);
}

TEST_CASE("analysis: a VM directory of the same name is another VM where its owner was started anew") {
  const auto threads = [](const std::string& start) {
    return "process 5 comm qemu-system-x86\n5 (qemu-system-x86) S 1 5 5 0 -1 64 0 0 0 0 1 1 0 0 20 0 2 0 " + start +
           " 0 0 0\n[process 5 is srv1]\n";
  };
  const std::string owner = "[vm 5-12 is srv1; evidence: id string]\n";
  for (const char* start : {"7", "900"}) {
    INFO(start);
    Snapshot snapshot = whole_snapshot();
    for (const int sample : {1, 2}) {
      drop(snapshot, "sandbox-kvm-exits", sample);
      add(snapshot, "sandbox-kvm-exits", sample, kvm("5-12", 1000 * sample) + owner);
    }
    drop(snapshot, "sandbox-qemu-thread-cpu", 2);
    add(snapshot, "sandbox-qemu-thread-cpu", 2, threads(start));
    const Analysis analysis = analyse(snapshot);
    REQUIRE(analysis.kvm);
    REQUIRE(analysis.kvm->vms.size() == 1);
    CHECK(analysis.kvm->vms[0].change == (std::string(start) == "7" ? Change::rate : Change::reset));
    CHECK(analysis.kvm->vms[0].exits_per_second.has_value() == (std::string(start) == "7"));
  }
}

TEST_CASE("analysis: KVM without one VM is said") {
  Snapshot snapshot = whole_snapshot();
  drop(snapshot, "sandbox-kvm-exits", 2);
  add(snapshot, "sandbox-kvm-exits", 2, "[global] exits 9 0644\n");
  const auto shortfalls = of(analyse(snapshot), "sandbox-kvm-exits");
  REQUIRE(shortfalls.size() == 1);
  CHECK(shortfalls[0].reason.find("no VM is alive") != std::string::npos);
}

TEST_CASE("analysis: a vCPU whose statistics were read is alive, whatever debugfs has of its VM") {
  for (const char* debugfs : {"NO-DEBUGFS: debugfs could not be reached: EPERM", "NO-KVM-DIR: no kvm directory", ""}) {
    INFO(debugfs);
    Snapshot snapshot = whole_snapshot();
    for (const int sample : {1, 2}) {
      drop(snapshot, "sandbox-kvm-exits", sample);
      add(snapshot, "sandbox-kvm-exits", sample,
          "[vcpu srv1/vcpu0] exits " + std::to_string(1000 * sample) + " cumulative none 10^0\n" + debugfs + "\n");
    }
    const Analysis analysis = analyse(snapshot);
    for (const Shortfall& shortfall : of(analysis, "sandbox-kvm-exits"))
      CHECK(shortfall.reason.find("no VM is alive") == std::string::npos);
    CHECK(analysis.kvm);
  }
}

TEST_CASE("analysis: rows that disagree with the online list are a container's view") {
  Snapshot snapshot = whole_snapshot();
  drop(snapshot, "runner-shape", 1);
  add(snapshot, "runner-shape", 1, "cpus-online: 0-7\n");
  const Analysis analysis = analyse(snapshot);
  REQUIRE(analysis.runner);
  CHECK_FALSE(analysis.runner->runner);
  REQUIRE(analysis.runner->container_view.size() == 1);
  CHECK(analysis.runner->container_view[0].find("0-7") != std::string::npos);
}

TEST_CASE("analysis: the tick rate is taken from whichever capture states it, and a wild one is not believed") {
  Snapshot snapshot = whole_snapshot();
  drop(snapshot, "runner-kernel-cpu-time", 1);
  SECTION("stated") {
    add(snapshot, "runner-kernel-cpu-time", 1, k_stat_before + "clock ticks per second: 1000\n", 4'000'000);
    CHECK(analyse(snapshot).runner->available_ticks == 10'000.0);
  }
  SECTION("wild") {
    add(snapshot, "runner-kernel-cpu-time", 1, k_stat_before + "clock ticks per second: 18446744073709551615\n",
        4'000'000);
    CHECK(analyse(snapshot).runner->available_ticks == 1'000.0);
  }
}

TEST_CASE("analysis: the kernel's lists of CPUs") {
  CHECK(parse_cpu_list("0-2,8\n") == std::set<std::uint64_t>{0, 1, 2, 8});
  CHECK(parse_cpu_list("0") == std::set<std::uint64_t>{0});
  CHECK(parse_cpu_list("0,2-4") == std::set<std::uint64_t>{0, 2, 3, 4});
  CHECK(parse_cpu_list("3,1,1") == std::set<std::uint64_t>{1, 3});
  CHECK(parse_cpu_list(" 1, 2") == std::set<std::uint64_t>{1, 2});
  for (const char* text : {"", "a", "3-1", "0-18446744073709551615", "1-2-3", "0,", "-1", "1-", "1 2"})
    CHECK_FALSE(parse_cpu_list(text));
}

}  // namespace cozy
