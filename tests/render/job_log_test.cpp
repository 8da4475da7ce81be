#include "collector/render/job_log.hpp"

#include <algorithm>
#include <string>

#include "tests/analyse/hand_made.hpp"
#include "tests/catch.hpp"

namespace cozy {

namespace {

constexpr Interval k_window{412'603'000'000, 7'000'000, false};

ColumnTime ticks(std::uint64_t delta, std::uint64_t before = 0) {
  return {Change::rate, before, before + delta, delta, false};
}

CpuTime runner_of(std::size_t cpus) {
  CpuTime time;
  time.cpus.resize(cpus);
  CpuRow row;
  row.name = "cpu";
  row.columns = {ticks(610), ticks(0), ticks(88), ticks(259), ticks(4),
                 ticks(0),   ticks(8), ticks(31), ticks(552), ticks(0)};
  row.total_ticks = 1000;
  time.runner = row;
  time.steal = StealVerdict::proved;
  time.interval = k_window;
  return time;
}

NodeBudget node_of(const std::string& name, std::size_t vcpus) {
  NodeBudget node;
  node.name = name;
  node.state = NodeState::present;
  node.pid_before = node.pid_after = 902;
  node.vcpus.resize(vcpus);
  node.sum.window_seconds = node.sum.base_seconds = 1000;
  node.sum.ran_seconds = 521;
  node.sum.waited_seconds = 310;
  node.sum.rest_seconds = 169;
  return node;
}

Analysis analysis_of() {
  Analysis analysis;
  analysis.snapshot = "kubernetes";
  analysis.window = k_window;
  analysis.runner = runner_of(24);
  analysis.nodes = {node_of("srv1", 8)};
  analysis.pairs = {{"runner-kernel-cpu-time", k_window, false}, {"sandbox-qemu-thread-cpu", k_window, false}};
  analysis.kvm = KvmRates{{{"2231-14", Change::rate, 28'100.0}, {"2240-14", Change::rate, 300.0}}, false, false};
  return analysis;
}

std::string line_with(const Analysis& analysis, const std::string& words) {
  const auto lines = job_log(analysis);
  const auto at =
      std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.find(words) != std::string::npos; });
  return at == lines.end() ? std::string() : *at;
}

std::string node_line(const NodeBudget& node) {
  Analysis analysis = analysis_of();
  analysis.nodes = {node};
  return line_with(analysis, node.name);
}

}  // namespace

TEST_CASE("job log: the lines of a whole bracket") {
  CHECK(job_log(analysis_of()) ==
        std::vector<std::string>{
            "cozybracket: window 412.603 s (+- 0.007 s), snapshot kubernetes",
            "cozybracket: runner 24 cpus: user 61.0% (guest 55.2%) system 8.8% idle 25.9% iowait 0.4% softirq 0.8% "
            "steal 3.1% (proved)",
            "cozybracket: srv1 8 vcpus: ran 52.1% waited 31.0% halted-or-other 16.9% exits absent",
            "cozybracket: kvm 2 vms: exits 28.4k/s (300/s to 28.1k/s each), not tied to nodes",
        });
}

TEST_CASE("job log: the verdict is the first line, and every finding has one") {
  Analysis analysis = analysis_of();
  analysis.verdict = "the sandbox nodes waited for CPU";
  analysis.findings = {{"node-waited", Level::warning, "srv1", "srv1 waited\\x0a::error::", {}, "", 0.5},
                       {"incomplete", Level::notice, "", "a question is open", {}, "", 0}};
  analysis.pressure = Pressure{{0.43, 0.2, "3.21"}, {}, {0.0, {}, {}}};
  const auto lines = job_log(analysis);
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] == "cozybracket: verdict: the sandbox nodes waited for CPU");
  CHECK(lines[3] == "cozybracket: pressure, some task stalled: cpu 43.0% (all tasks 20.0%) io absent memory 0.0%");
  CHECK(lines[6] == "cozybracket: finding node-waited: srv1 waited\\x0a:\\x3aerror::");
  CHECK(lines[7] == "cozybracket: finding incomplete: a question is open");
  analysis.findings.assign(1000, analysis.findings.front());
  CHECK(job_log(analysis).back() == "cozybracket: finding: 936 more are in the report");
  analysis.last_sample = 1;
  CHECK(job_log(analysis).empty());
}

TEST_CASE("job log: throttling is a part of waited, where a cgroup was read") {
  NodeBudget node = node_of("srv1", 8);
  node.cgroup = hand_made::throttled_at("/a", 1.0, 20.0);
  CHECK(node_line(node) ==
        "cozybracket: srv1 8 vcpus: ran 52.1% waited 31.0% halted-or-other 16.9% throttled 2.0% exits absent");
}

TEST_CASE("job log: what is absent is said, never a zero") {
  Analysis analysis;
  analysis.snapshot = "kubernetes";
  analysis.captures = {{"runner-kernel-cpu-time", 2, Outcome::unavailable, "gone", {}, {}, {}, ""}};
  CHECK(job_log(analysis) == std::vector<std::string>{
                                 "cozybracket: window absent (no two readings with stamps), snapshot kubernetes",
                                 "cozybracket: runner absent (runner-kernel-cpu-time sample 2 is unavailable)",
                                 "cozybracket: nodes absent (sandbox-qemu-thread-cpu was not asked for)",
                                 "cozybracket: kvm absent (sandbox-kvm-exits was not asked for)",
                             });
}

TEST_CASE("job log: the runner's columns") {
  Analysis analysis = analysis_of();
  CpuRow& row = *analysis.runner->runner;
  SECTION("went back, absent") {
    row.columns[static_cast<std::size_t>(CpuColumn::iowait)] = {Change::went_back, 5, 4, std::nullopt, true};
    row.columns[static_cast<std::size_t>(CpuColumn::guest)] = {};
    row.columns[static_cast<std::size_t>(CpuColumn::steal)] = {};
    analysis.runner->steal = StealVerdict::not_observable;
    CHECK(line_with(analysis, "runner") ==
          "cozybracket: runner 24 cpus: user 61.0% system 8.8% idle 25.9% iowait went back softirq 0.8% steal absent "
          "(not observable)");
  }
  SECTION("an unusable steal shows both raw values and no share") {
    row.columns[static_cast<std::size_t>(CpuColumn::steal)] = ticks(10'000, 230);
    row.without_steal = true;
    analysis.runner->steal = StealVerdict::unusable;
    CHECK(line_with(analysis, "runner").find("steal unusable (from 230 to 10230 ticks)") != std::string::npos);
  }
  SECTION("CPUs of one sample") {
    analysis.runner->gone = {"cpu3", "cpu4", "cpu5", "cpu6", "cpu7"};
    analysis.runner->summed = true;
    CHECK(line_with(analysis, "runner")
              .ends_with("; in sample 1 only: cpu3, cpu4, cpu5, cpu6 and 1 more; shares are of the CPUs of both"));
  }
  SECTION("a container's view") {
    analysis.runner->container_view = {"/proc/stat is a mount of type fuse.lxcfs"};
    analysis.runner->runner.reset();
    analysis.runner->steal = StealVerdict::not_observable;
    CHECK(line_with(analysis, "runner") ==
          "cozybracket: runner 24 cpus: absent (/proc/stat shows a container's view: /proc/stat is a mount of type "
          "fuse.lxcfs), steal not observable");
  }
  SECTION("no tick") {
    row.total_ticks = 0;
    CHECK(line_with(analysis, "runner").find("absent (not one tick was counted)") != std::string::npos);
  }
}

TEST_CASE("job log: a node's line") {
  NodeBudget node = node_of("srv2", 8);
  SECTION("without schedstat") {
    node.ran_by_ticks = true;
    node.sum.waited_seconds.reset();
    node.sum.rest_seconds = 479;
    CHECK(node_line(node) ==
          "cozybracket: srv2 8 vcpus: ran 52.1% (by ticks) waited absent (no schedstat) waited-or-halted-or-other "
          "47.9% exits absent");
  }
  SECTION("with halts and exits") {
    node.sum.halted_seconds = 124;
    node.sum.rest_seconds = 45;
    node.exits_per_second = 28'100;
    CHECK(node_line(node) == "cozybracket: srv2 8 vcpus: ran 52.1% waited 31.0% halted 12.4% other 4.5% exits 28.1k/s");
  }
  SECTION("stopped") {
    node.process_state_after = "T";
    CHECK(node_line(node).ends_with(", stopped (state T) in sample 2"));
  }
  SECTION("no thread has a vCPU's name") {
    node.vcpus.clear();
    CHECK(node_line(node).find("debug-threads") != std::string::npos);
  }
  SECTION("no stamps") {
    node.sum = {};
    CHECK(node_line(node).find("absent (no stamps to divide by)") != std::string::npos);
  }
  SECTION("states") {
    node.pid_after = 1377;
    node.state = NodeState::restarted;
    CHECK(node_line(node) == "cozybracket: srv2 restarted: process 902 of sample 1 is another one in sample 2, 1377");
    node.pid_after.reset();
    node.state = NodeState::left;
    CHECK(node_line(node) == "cozybracket: srv2 left: process 902 of sample 1 is gone in sample 2");
    node.state = NodeState::unread;
    CHECK(node_line(node).find("not known to have left") != std::string::npos);
    node.state = NodeState::no_process;
    node.notes = {"no usable pid file: it is empty"};
    CHECK(node_line(node) == "cozybracket: srv2 has no process in either sample (no usable pid file: it is empty)");
  }
}

TEST_CASE("job log: every shortfall in its own words") {
  Analysis analysis;
  analysis.last_sample = 1;
  analysis.shortfalls = {{"sandbox-kvm-exits", 2, Outcome::unavailable,
                          "counters refused by kernel lockdown, only gauges were read", "no rate for this wait",
                          Stamp{5, 1'755'763'203'000'000'000}}};
  CHECK(job_log(analysis) ==
        std::vector<std::string>{
            "cozybracket: shortfall sandbox-kvm-exits sample 2: counters refused by kernel lockdown, only gauges "
            "were read (unavailable at 08:00:03 UTC: no rate for this wait)"});
}

TEST_CASE("job log: bytes from outside cannot make a line or a command") {
  Analysis analysis = analysis_of();
  analysis.snapshot = "a\n::error::b";
  analysis.nodes = {node_of("srv\xe2\x80\xa8##[error]", 2)};
  analysis.nodes[0].anonymous = true;
  analysis.shortfalls = {{"x\r::debug::", 1, Outcome::partial, "##[error]\n::stop-commands::x", "y", std::nullopt}};
  for (const std::string& line : job_log(analysis)) {
    INFO(line);
    CHECK(line.starts_with("cozybracket: "));
    CHECK(line.find_first_of("\r\n") == std::string::npos);
    CHECK(line.find("##[") == std::string::npos);
    CHECK(line.find("\xe2\x80\xa8") == std::string::npos);
    CHECK(line.find("::error::") == std::string::npos);
  }
}

TEST_CASE("job log: a great many nodes are counted") {
  Analysis analysis = analysis_of();
  analysis.nodes.assign(1000, node_of("srv1", 1));
  CHECK(job_log(analysis).size() < 80);
  CHECK_FALSE(line_with(analysis, "936 more").empty());
}

TEST_CASE("job log: a halt that has not ended leaves two bounds", "[render][job-log]") {
  Analysis analysis = analysis_of();
  NodeBudget& node = analysis.nodes[0];
  node.sum.halted_seconds = 100;
  node.sum.rest_seconds = 69;
  CHECK(line_with(analysis, "srv1 8 vcpus").find(" to ") == std::string::npos);
  node.vcpus[3].halt_in_progress = true;
  node.vcpus[3].parts.rest_seconds = 40;
  CHECK(line_with(analysis, "srv1 8 vcpus")
            .find(", halted 10.0% to 14.0%: a halt of 1 of 8 vcpus had not ended at "
                  "sample 2") != std::string::npos);
  node.vcpus[3].parts.rest_seconds = 0;
  CHECK(line_with(analysis, "srv1 8 vcpus").find(" to ") == std::string::npos);
}

TEST_CASE("job log: counters that went back are named, and KVM without a directory of debugfs has no count of VMs",
          "[render][job-log]") {
  Analysis analysis = analysis_of();
  NodeBudget& node = analysis.nodes[0];
  node.sum.waited_seconds.reset();
  node.went_back = {"run_delay_ns of vCPU 0"};
  const std::string line = line_with(analysis, "srv1 8 vcpus");
  CHECK(line.find("waited absent (not whole)") != std::string::npos);
  CHECK(line.find(", went back: run_delay_ns of vCPU 0") != std::string::npos);

  analysis.kvm = KvmRates{};
  node.kvm.emplace();
  node.kvm->source = "vcpu stats";
  node.exits_per_second = 2000;
  CHECK(line_with(analysis, "kvm ") == "cozybracket: kvm exits 2.0k/s by the vCPUs' own statistics");
}

}  // namespace cozy
