#include <algorithm>
#include <string>

#include "collector/report/legend.hpp"
#include "probes/probe.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

using namespace cozy;

// What the sentences of the legends say, held against text of a kernel and the parsers of the project.

namespace {

const Legend& legend_of(std::string_view capture) {
  const Legend* legend = find_legend(capture);
  REQUIRE(legend != nullptr);
  return *legend;
}

Reading parse(std::string_view capture, std::string_view text) {
  const Probe* probe = find_probe(capture);
  REQUIRE(probe != nullptr);
  return probe->parse(text);
}

/// Whether one sentence holds all of the words.
bool says(const Legend& legend, const std::vector<std::string>& words) {
  return std::any_of(legend.sentences.begin(), legend.sentences.end(), [&](const std::string& sentence) {
    const auto in_it = [&](const std::string& word) { return sentence.find(word) != std::string::npos; };
    return std::all_of(words.begin(), words.end(), in_it);
  });
}

void check_all_named(const Legend& legend, const Reading& reading) {
  for (const Row& row : reading.rows) {
    INFO(row.scope << " " << row.field);
    REQUIRE(legend.fields.count(row.field) == 1);
    CHECK((row.kind == Kind::unknown || row.kind == legend.fields.at(row.field).kind));
  }
}

// Linux 6.18, 2 CPUs, 1114.49 s after boot, with guests of its own.
constexpr std::string_view k_proc_stat =
    "cpu  25377 0 11896 184448 569 0 89 24 15284 0\n"
    "cpu0 11564 0 6037 93574 19 0 16 10 7454 0\n"
    "cpu1 13813 0 5858 90874 550 0 72 14 7829 0\n"
    "intr 383078 0 0 1 13\n"
    "ctxt 590200\n"
    "btime 1796086952\n"
    "processes 13888\n"
    "procs_running 2\n"
    "procs_blocked 0\n"
    "softirq 261033 0 27202 4\n"
    "clock ticks per second: 100\n";
constexpr std::uint64_t k_ticks_since_boot = 111449;

// The files of kvm/ on Linux 6.18, x86, by their modes.
constexpr std::string_view k_files_0444 = "blocking guest_mode mmu_unsync nx_lpage_splits pages_1g pages_2m pages_4k";
constexpr std::string_view k_files_0644 =
    "directed_yield_attempted directed_yield_successful exits fpu_reload halt_attempted_poll halt_exits "
    "halt_poll_fail_hist halt_poll_fail_ns halt_poll_invalid halt_poll_success_hist halt_poll_success_ns "
    "halt_successful_poll halt_wait_hist halt_wait_ns halt_wakeup host_state_reload hypercalls insn_emulation "
    "insn_emulation_fail invlpg io_exits irq_exits irq_injections irq_window_exits l1d_flush "
    "max_mmu_page_hash_collisions max_mmu_rmap_size mmio_exits mmu_cache_miss mmu_flooded mmu_pde_zapped "
    "mmu_pte_write mmu_recycled mmu_shadow_zapped nested_run nmi_injections nmi_window_exits notify_window_exits "
    "pf_emulate pf_fast pf_fixed pf_guest pf_mmio_spte_created pf_spurious pf_taken preemption_other "
    "preemption_reported remote_tlb_flush remote_tlb_flush_requests req_event request_irq_exits signal_exits "
    "tlb_flush";

/// A stat line whose words behind the name are their own numbers: "R 2 3 4 ...".
std::string numbered_stat(const std::string& name) {
  std::string line = "419 (" + name + ") R";
  for (int word = 2; word <= 50; ++word) line += " " + std::to_string(word);
  return line + "\n";
}

std::string qemu_text(const std::string& thread_lines) {
  return "clock ticks per second: 100\nprocess 419 comm qemu-system-x86\n" + thread_lines;
}

}  // namespace

TEST_CASE("runner: the columns stand in the order that the legend gives") {
  const Reading reading = parse("runner-kernel-cpu-time", "cpu0 11 12 13 14 15 16 17 18 19 20\n");
  REQUIRE(reading.rows.size() == 10);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < reading.rows.size(); ++i) {
    words.push_back(std::to_string(i + 1) + " " + reading.rows[i].field);
  }
  CHECK(says(legend_of("runner-kernel-cpu-time"), words));
  CHECK(reading.number("cpu0", "steal") == 18);
  CHECK(reading.number("cpu0", "guest") == 19);
}

TEST_CASE("runner: the total is the first eight columns, guest is inside user") {
  const Legend& legend = legend_of("runner-kernel-cpu-time");
  CHECK(says(legend, {"user contains guest", "nice contains guest_nice", "first eight columns"}));
  const Reading reading = parse(legend.capture, k_proc_stat);
  for (const char* scope : {"cpu0", "cpu1"}) {
    std::uint64_t total = 0;
    for (const char* column : {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}) {
      total += reading.number(scope, column).value();
    }
    CHECK(total <= k_ticks_since_boot);
    CHECK(total > k_ticks_since_boot * 99 / 100);
    CHECK(total + reading.number(scope, "guest").value() > k_ticks_since_boot);  // more than there was
    CHECK(reading.number(scope, "guest") <= reading.number(scope, "user"));
  }
}

TEST_CASE("runner: every row is named, a missing column is absent, a view of a container is said") {
  const Legend& legend = legend_of("runner-kernel-cpu-time");
  const Reading reading = parse(legend.capture, k_proc_stat);
  check_all_named(legend, reading);
  CHECK(legend.fields.at("steal").unit == "ticks of USER_HZ");
  CHECK(reading.number("kernel", "clock_ticks_per_second") == 100);

  CHECK(says(legend, {"missing column is absent, not 0"}));
  CHECK(parse(legend.capture, "cpu0 1 2 3 4\n").find("cpu0", "steal") == nullptr);

  CHECK(says(legend, {"view: container", "judge no layer"}));
  const Reading view =
      parse(legend.capture, "cpu0 1 2 3 4\n[view: container; /proc/stat is a mount of type fuse.lxcfs]\n");
  REQUIRE(view.notes.size() == 1);
  CHECK(view.notes.front().starts_with("view: container"));
  for (const char* verdict : {"\"proved\"", "\"none seen\"", "\"not observable\"", "\"unusable\""}) {
    CHECK(says(legend, {verdict}));
  }
}

TEST_CASE("qemu: the words behind the last parenthesis are those of the legend") {
  const Legend& legend = legend_of("sandbox-qemu-thread-cpu");
  for (const char* name : {"CPU 0/KVM", "a) b", "(((", "x 1 2 3) R 9"}) {
    const Reading reading = parse(legend.capture, qemu_text(numbered_stat(name)));
    const auto word = [&](std::string_view field) { return reading.word("thread 419/419", field); };
    INFO(name);
    CHECK(word("comm") == name);
    CHECK(says(legend,
               {"state is word 1", "flags " + word("flags"), "utime " + word("utime"), "stime " + word("stime"),
                "start time " + word("start"), "last CPU " + word("last_cpu"), "guest time " + word("guest_time")}));
    CHECK(reading.number("thread 419/419", "guest_time") == 41);
  }
  // Over the whole line, field 3 is word 3 for a name without a blank and word 4 for that of a vCPU.
  CHECK(says(legend, {"3 state", "9 flags", "14 utime", "15 stime", "22 start time", "39 last CPU", "43 guest time"}));
  CHECK(split_words(numbered_stat("call_rcu"))[2] == "R");
  CHECK(split_words(numbered_stat("CPU 0/KVM"))[3] == "R");
}

TEST_CASE("qemu: schedstat is time on CPU, waiting and turns; three zeros are none") {
  const Legend& legend = legend_of("sandbox-qemu-thread-cpu");
  CHECK(says(legend, {"thread PID/TID schedstat A B C voluntary N involuntary M", "A ns on CPU",
                      "B ns runnable and waiting", "C turns"}));
  const std::string facts = "[thread 419/419 schedstat 101 102 103 voluntary 104 involuntary 105]\n";
  const Reading reading = parse(legend.capture, qemu_text(numbered_stat("CPU 0/KVM") + facts));
  CHECK(reading.number("thread 419/419", "on_cpu_ns") == 101);
  CHECK(reading.number("thread 419/419", "run_delay_ns") == 102);
  CHECK(reading.number("thread 419/419", "timeslices") == 103);
  CHECK(reading.number("thread 419/419", "voluntary_switches") == 104);
  CHECK(reading.number("thread 419/419", "involuntary_switches") == 105);
  check_all_named(legend, reading);

  CHECK(says(legend, {"0 0 0", "accounting is off"}));
  const std::string zeros = "[thread 419/419 schedstat 0 0 0]\n";
  const Reading off = parse(legend.capture, qemu_text(numbered_stat("CPU 0/KVM") + zeros));
  CHECK(off.find("thread 419/419", "run_delay_ns") == nullptr);
}

TEST_CASE("qemu: the bracketed lines mean what the legend says") {
  const Legend& legend = legend_of("sandbox-qemu-thread-cpu");
  for (const char* form : {"process PID comm NAME", "process PID start S read from A to B", "process PID totals",
                           "node NAME is process PID", "node NAME note", "has no process", "is no known node",
                           "ended thread", "ended process"}) {
    INFO(form);
    CHECK(says(legend, {form}));
  }
  const std::string nodes =
      "[node srv1 is process 419; evidence: pid file, guest name]\n[node srv2 has no process]\n"
      "[node srv2 note: no usable pid file: it is empty]\n";
  const std::string totals = std::string(trim(numbered_stat("qemu-system-x86")));
  const std::string process_lines =
      "[process 419 start 88110 read from 5 to 9 boot-time ns]\n[process 419 totals " + totals + "]\n";
  const std::string thread_lines = numbered_stat("CPU 0/KVM") + "[ended thread 419/420]\n";
  const Reading reading = parse(legend.capture, nodes + qemu_text(process_lines + thread_lines));
  REQUIRE(reading.nodes.size() == 2);
  CHECK(reading.nodes[0].pid == 419);
  CHECK(reading.nodes[0].evidence == std::vector<std::string>{"pid file", "guest name"});
  CHECK_FALSE(reading.nodes[1].pid.has_value());
  const Subject* process = reading.subject("process 419");
  REQUIRE(process != nullptr);
  CHECK(process->identity == "start 88110");
  REQUIRE(process->begin.has_value());
  CHECK(process->begin->boottime_ns == 5);
  CHECK(reading.number("process 419", "utime") == 12);
  CHECK(reading.notes.size() == 1);
}

TEST_CASE("kvm: the mode tells the kind, and the legend tells peaks and histograms") {
  const Legend& legend = legend_of("sandbox-kvm-exits");
  std::string text;
  for (const auto name : split_words(k_files_0444)) text += "[vm 2231-14] " + std::string(name) + " 1 0444\n";
  for (const auto name : split_words(k_files_0644)) text += "[vm 2231-14] " + std::string(name) + " 1 0644\n";
  for (const char* line : {"guest_mode 0", "lapic_timer_advance_ns 1000", "pid 17750", "tsc-offset -5",
                           "tsc-scaling-ratio 1", "tsc-scaling-ratio-frac-bits 48"}) {
    text += "[vm 2231-14 vcpu0] " + std::string(line) + " 0444\n";
  }
  const Reading reading = parse(legend.capture, text);
  CHECK(reading.rows.size() == 66);
  check_all_named(legend, reading);
  const auto gauges = split_words(k_files_0444);
  for (const Row& row : reading.rows) {
    INFO(row.field);
    const bool listed = std::find(gauges.begin(), gauges.end(), row.field) != gauges.end();
    Kind expected = Kind::cumulative;
    if (row.scope != "vm 2231-14" || listed)
      expected = Kind::instant;
    else if (row.field.starts_with("max_mmu_"))
      expected = Kind::peak;
    else if (row.field.ends_with("_hist"))
      expected = Kind::histogram;
    CHECK(legend.kind_of(row) == expected);
    if (listed) CHECK(says(legend, {"Known instantaneous values", row.field}));
    if (expected == Kind::peak) CHECK(says(legend, {"Known peaks", row.field}));
  }
  CHECK(says(legend, {"tsc-offset is signed"}));
  CHECK(reading.word("vm 2231-14 vcpu0", "tsc-offset") == "-5");
  CHECK(says(legend, {"0444 is an instantaneous value", "0644 a cumulative value or a peak"}));
}

TEST_CASE("kvm: without modes the legend alone gives the kinds") {
  const Legend& legend = legend_of("sandbox-kvm-exits");
  const Reading reading =
      parse(legend.capture, "[global] exits 9\n[global] pages_4k 7\n[global] max_mmu_rmap_size 3\n");
  REQUIRE(reading.rows.size() == 3);
  CHECK(legend.kind_of(reading.rows[0]) == Kind::cumulative);
  CHECK(legend.kind_of(reading.rows[1]) == Kind::instant);
  CHECK(legend.kind_of(reading.rows[2]) == Kind::peak);
  CHECK(legend.fields.count("ept_violation") == 0);
  CHECK(says(legend, {"no ept_violation counter", "pf_taken", "pf_fixed"}));
  CHECK(says(legend, {"mmu_rmaps_stat is never opened"}));
}

TEST_CASE("kvm: the lines beside the values mean what the legend says") {
  const Legend& legend = legend_of("sandbox-kvm-exits");
  for (const char* form : {"kinds by", "row \"kind\" with name, type, unit, base and exponent", "left during the walk",
                           "left while it was read", "left out", "vm PID-FD is NODE", "anonymous"}) {
    INFO(form);
    CHECK(says(legend, {form}));
  }
  const Reading reading = parse(legend.capture,
                                "[srv2 left while it was read]\n[vm 3-4 left during the walk]\n"
                                "[vm 5-6 left out: made by a collector, without a guest]\n"
                                "[vm 1-2] exits 5 0644\n[vm 1-2] new_name 6 0644\n[vm 7-8] exits 5 0644\n"
                                "[vm 1-2 is srv1; evidence: number of its kvm-vm descriptor]\n"
                                "[vm 7-8 is anonymous; no evidence decides]\n"
                                "[kinds by descriptors: 2 of a VM and 0 of a vCPU]\n[kind] new_name peak none 10^0\n");
  CHECK(reading.partial.size() == 1);
  CHECK(reading.notes.size() == 1);
  CHECK(reading.word("vm 1-2", "node") == "srv1");
  CHECK(reading.find("vm 7-8", "node") == nullptr);
  CHECK(legend.kind_of(*reading.find("vm 1-2", "new_name")) == Kind::peak);
  REQUIRE(legend.fields.count("kinds") == 1);
  CHECK(legend.kind_of(*reading.find("kernel", "kinds")) == legend.fields.at("kinds").kind);
}

TEST_CASE("cgroup: every value is named, units are in the names, and a file's name stands in front of its line") {
  const Legend& legend = legend_of("sandbox-vm-cgroup-cpu");
  const std::string keys =
      "cpu.stat usage_usec 1\ncpu.stat user_usec 1\ncpu.stat system_usec 1\ncpu.stat nice_usec 1\n"
      "cpu.stat core_sched.force_idle_usec 1\ncpu.stat nr_periods 1\ncpu.stat nr_throttled 1\n"
      "cpu.stat throttled_usec 1\ncpu.stat nr_bursts 1\ncpu.stat burst_usec 1\ncpu.stat.local throttled_usec 1\n"
      "cpu.max max 100000\ncpu.max.burst 0\ncpu.weight 100\ncpuset.cpus.effective 0-1\n"
      "cpu.pressure some avg10=0.00 avg60=0.00 avg300=0.00 total=1\ncpu.pressure full avg10=0.00 total=1\n";
  const std::string old =
      "cpu.stat nr_periods 1\ncpu.stat throttled_time 1\ncpu.stat burst_time 1\ncpu.stat.local throttled_time 1\n"
      "cpu.cfs_quota_us -1\ncpu.cfs_period_us 100000\ncpu.cfs_burst_us 0\ncpu.shares 1024\n";
  const std::string stat = numbered_stat("qemu-system-x86");
  const std::string process =
      "[process 419 is srv1]\n[process 419 cgroup v2, found: /a]\n[process 419 cpuacct v1, "
      "found: /a]\n[process 419 totals " +
      stat.substr(0, stat.size() - 1) + "]\n";
  const Reading reading = parse(legend.capture, "clock ticks per second: 100\n" + process + "cgroup v2 /a\n" + keys +
                                                    "cgroup v1 /b\n" + old + "cpuacct v1 /b\ncpuacct.usage 1\n");
  check_all_named(legend, reading);
  CHECK(reading.partial.empty());
  for (const Row& row : reading.rows) {
    INFO(row.field);
    const FieldLegend& field = legend.fields.at(row.field);
    if (row.field.ends_with("_usec")) CHECK(field.unit == "us");
    if (row.field.ends_with("_time")) CHECK(field.unit == "ns");
  }
  CHECK(legend.kind_of({"cgroup /a", "future_key", Value(std::uint64_t{1}), Kind::unknown}) == Kind::instant);
  CHECK(says(legend, {"cpu.stat nr_periods 41", "the file's name in front"}));
  CHECK(says(legend, {"throttled_time", "in ns", "factor of 1000"}));
  CHECK(says(legend, {"not configured", "not throttled"}));
  CHECK(says(legend, {"no period went by", "undefined", "not 0 %"}));
  CHECK(says(legend, {"part of that waiting", "never added"}));
  CHECK(says(legend, {"several nodes are in one cgroup", "nobody alone"}));
}

TEST_CASE("shape: every fact of a machine is named and none is subtracted") {
  const Legend& legend = legend_of("runner-shape");
  const Reading reading =
      parse(legend.capture,
            "kernel-release: 6.18.44\nkernel-version: #1 SMP PREEMPT_DYNAMIC @0\ncpus-online: 0-1\ncpus-possible: 0-1\n"
            "smt-control: notsupported\ncpu0-thread-siblings: 0\nthreads-per-core: 1\nnuma-nodes-online: 0\n"
            "clock-source: tsc\ntransparent-hugepages: madvise\nkvm-halt-poll-ns: 200000\n"
            "[not read /sys/module/kvm_amd/parameters/npt: ENOENT (No such file or directory)]\nlockdown: integrity\n"
            "memory-total: 24684092 kB\ncpu-model: Intel(R) Xeon(R) Processor\nhypervisor-flag: yes\n"
            "hypervisor: KVMKVMKVM\n");
  CHECK(reading.rows.size() == 16);
  check_all_named(legend, reading);
  for (const Row& row : reading.rows) CHECK(legend.kind_of(row) == Kind::instant);
  CHECK(reading.find("machine", "kvm-amd-npt") == nullptr);
  CHECK(reading.refused.size() == 1);
}
