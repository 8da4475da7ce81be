#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "probes/node_evidence.hpp"
#include "probes/text.hpp"
#include "probes/thread_stat.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

/// Random texts from a fixed seed: pure noise, and whole texts with damage.
class Noise {
 public:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_); }

  std::string bytes(std::size_t length) {
    static constexpr std::string_view k_likely = "\n\n  []():;,/-0123456789cpuvmthreadnodeprocess\\x\t\r";
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
      text += below(4) == 0 ? static_cast<char>(below(256)) : k_likely[below(k_likely.size())];
    }
    return text;
  }

  std::string damaged(std::string text) {
    for (std::size_t times = 1 + below(6); times > 0 && !text.empty(); --times) {
      const std::size_t at = below(text.size());
      switch (below(8)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(40));
          break;
        case 2:
          text.insert(at, bytes(1 + below(20)));
          break;
        case 3:
          text.resize(at);
          break;
        case 4:
          text.insert(at, text.substr(below(text.size()), below(200)));
          break;
        case 5:
          text.insert(0, text.substr(text.rfind('\n', at) + 1, 100));
          break;
        case 6:
          text += text.substr(text.rfind('\n', at) + 1);
          break;
        default:
          text.erase(text.begin() + static_cast<std::ptrdiff_t>(at));
          break;
      }
    }
    return text;
  }

 private:
  std::mt19937 engine_{20260821};
};

/// What holds of a reading, whatever the text was.
bool is_sound(const Reading& reading) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Row& row : reading.rows) {
    if (row.scope.empty() || row.field.empty() || !seen.emplace(row.scope, row.field).second) return false;
    if (row.kind == Kind::cumulative && !std::holds_alternative<std::uint64_t>(row.value)) return false;
  }
  std::set<std::string_view> nodes;
  for (const NodeEvidence& node : reading.nodes) {
    if (!is_node_name(node.node) || !nodes.insert(node.node).second) return false;
    if (node.pid.has_value() == node.evidence.empty()) return false;
  }
  std::set<std::string_view> subjects;
  for (const Subject& subject : reading.subjects) {
    if (!subjects.insert(subject.scope).second) return false;
    if (subject.begin && (!subject.end || subject.begin->boottime_ns > subject.end->boottime_ns)) return false;
  }
  return !reading.rows.empty() || !reading.unavailable.empty() || !reading.finding.empty();
}

std::vector<std::string> whole_texts() {
  const std::string threads =
      "clock ticks per second: 100\n[node srv1 is process 8; evidence: pid file, guest name]\n[process 8 is srv1]\n"
      "[node srv2 note: its pid file is stale]\nprocess 8 comm qemu-system-x86\n"
      "[process 8 start 5001 read from 100 to 200 boot-time ns]\n[process 8 totals " +
      std::string(trim(stat_line("8", "qemu-system-x86"))) + "]\n" + stat_line("8", "qemu-system-x86") +
      "[thread 8/8 schedstat 1 2 3 voluntary 4 involuntary 5]\n" + stat_line("9", "CPU 0/KVM") +
      "[thread 8/9 schedstat 0 0 0]\n" +
      "[ended thread 8/10]\n[not read thread 8/11 stat: EIO]\nprocess 12 comm qemu-system-x86\n" +
      stat_line("12", "a)\\x0a(b");
  const std::string kvm =
      "[kernel lockdown: none]\n[debugfs: a detached mount]\n[counters follow: level name value mode]\n[global] exits "
      "91822017 0644\n"
      "[vm 2231-14] exits 30611204 0644\n[vm 2231-14] pages_4k 17000 0444\n[vm 2231-14 vcpu0] tsc-offset -123 0444\n"
      "[skipped vm 2231-14] mmu_rmaps_stat: not opened (denied by name)\n[vm 2302-14 left during the walk]\n"
      "[stalled kvm/2231-14/halt_exits: no answer within 500 ms]\n"
      "[counters read: 1 kernel-wide and 3 per-VM, across 1 per-VM director(ies); 1 file(s) skipped]\n";
  const std::string cgroup =
      "clock ticks per second: 100\n[process 8 is srv1]\n[process 8 cgroup v1, found: /lane/a b]\n"
      "[process 8 cpuacct v1, found: /]\n[process 8 start 5001 read from 100 to 200 boot-time ns]\n[process 8 totals " +
      std::string(trim(stat_line("8", "qemu-system-x86"))) +
      "]\ncgroup v1 /lane/a b\n[inode 47 read from 100 to 200 boot-time ns at /sys/fs/cgroup/cpu/lane/a b]\n"
      "cpu.stat nr_periods 31\ncpu.stat throttled_time 1306147419\ncpu.stat.local throttled_time 5\n"
      "cpu.cfs_quota_us -1\ncpu.cfs_period_us 100000\ncpu.shares 1024\ncpuacct v1 /\ncpuacct.usage 99\n"
      "cgroup v2 /x\ncpu.max 200000 100000\ncpu.weight 39\ncpu.pressure some avg10=0.00 total=5\n"
      "[process 9 cgroup v2, removed: /y]\n[ended cgroup v2 /z]\n[not read cgroup /lane cpu.max: EIO]\n";
  return {case_text("S17", "stat.txt"),
          case_text("S15", "before.txt"),
          case_text("S21", "after.txt"),
          case_text("T03", "qemu-threads.txt"),
          case_text("A09", "threads.txt"),
          threads,
          cgroup,
          kvm,
          "kernel-release: 6.18\ncpus-online: 0-23\nthreads-per-core: 2\nlockdown: none\n[not read /x: ENOENT]\n"};
}

}  // namespace

TEST_CASE("no text breaks a parser or makes it say the same thing twice", "[hostile]") {
  Noise noise;
  const std::vector<std::string> texts = whole_texts();
  for (int round = 0; round < 3000; ++round) {
    const std::string text =
        round % 3 == 0 ? noise.bytes(noise.below(600)) : noise.damaged(texts[noise.below(texts.size())]);
    for (const Probe& probe : probes()) {
      if (is_sound(probe.parse(text))) continue;
      CAPTURE(round, probe.name, escape(text));
      FAIL("an unsound reading");
    }
  }
  for (const Probe& probe : probes()) {
    for (const std::string& text : texts) CHECK(is_sound(probe.parse(text)));
  }
}

TEST_CASE("no bytes break the small readers", "[hostile]") {
  Noise noise;
  const std::string line = stat_line("31", "CPU 0/KVM");
  for (int round = 0; round < 5000; ++round) {
    const std::string text = round % 2 == 0 ? noise.bytes(noise.below(80)) : noise.damaged(line);
    const std::string escaped = escape(text);
    if (unescape(escaped) != text || escaped.find('\n') != std::string::npos || escape(unescape(escaped)) != escaped) {
      CAPTURE(round, escaped);
      FAIL("not the same bytes");
    }
    const auto stat = parse_thread_stat(text);
    if (stat && text.find("(" + stat->comm + ")") == std::string::npos) FAIL("a name that is not there");
    if (thread_stat_line(text).find('\n') != std::string::npos) FAIL("more than one line");
    const auto pid = parse_pid_text(text);
    if (pid && (*pid == 0 || *pid > 4194304)) FAIL("no process number");
    (void)guest_name(text);
    (void)vcpu_of_name(text);
  }
  SUCCEED();
}

TEST_CASE("a large text is read once, whatever it repeats", "[hostile]") {
  // Nothing here is timed; a scan per row would take minutes.
  constexpr std::size_t k_size = 1UL << 20U;
  const auto repeated = [](const auto& line_of) {
    std::string text;
    for (std::size_t i = 0; text.size() < k_size; ++i) text += line_of(i);
    return text;
  };
  const auto n = [](std::size_t i) { return std::to_string(i); };
  const std::string heading = "process 8 comm q\n";
  const std::string texts[] = {
      repeated([&](std::size_t i) { return "cpu" + n(i) + " 1 2 3 4 5 6 7 8 9 10\n"; }),
      repeated([&](std::size_t i) { return "cpu" + n(i / 2) + " 1\n"; }),
      repeated([&](std::size_t) { return std::string("cpu0 x y z\n"); }),
      heading + repeated([&](std::size_t i) {
        return stat_line(n(i), "CPU 0/KVM") + "[thread 8/" + n(i) + " schedstat 0 0 0]\n";
      }),
      repeated([&](std::size_t i) { return "process " + n(i) + " comm q\n"; }),
      heading + repeated([&](std::size_t i) { return n(i) + " (a\n"; }),
      repeated(
          [&](std::size_t i) { return "[node srv" + n(i) + " note: x]\n[process " + n(i) + " is srv" + n(i) + "]\n"; }),
      repeated([&](std::size_t i) { return "[vm " + n(i) + "-14] exits 5 0644\n"; }),
      repeated([&](std::size_t) { return std::string("[vm 1-14] exits 5 0644\n"); }),
      repeated([&](std::size_t i) { return "[skipped vm " + n(i) + "] x: could not be read: EIO\n"; }),
      repeated([&](std::size_t i) { return "[stalled x" + n(i) + ": y]\n"; }),
      repeated([&](std::size_t i) { return "fact-" + n(i) + ": 5\n"; }),
      repeated([&](std::size_t i) { return "cgroup v2 /" + n(i) + "\ncpu.stat usage_usec 5\n"; }),
      "cgroup v2 /a\n" + repeated([&](std::size_t i) { return "cpu.stat key" + n(i) + " 5\n"; }),
      repeated([&](std::size_t i) { return "[process " + n(i) + " cgroup v2, found: /a]\n"; }),
      "cgroup v2 /a\n" + repeated([&](std::size_t) { return std::string("cgroup v2 /a\n"); }),
      std::string(k_size, '('),
      std::string(k_size, '\n'),
      std::string(k_size, ' '),
      std::string(k_size, '['),
      "process 8 comm q\n9 (" + std::string(k_size, ')') + " S\n",
  };
  for (const std::string& text : texts) {
    CAPTURE(escape(text.substr(0, 40)));
    for (const Probe& probe : probes()) {
      const Reading reading = probe.parse(text);
      CHECK(reading.partial.size() < 10000);
      CHECK(reading.notes.size() < 10000);
      CHECK(reading.refused.size() < 10000);
    }
  }
}
