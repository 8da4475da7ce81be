#include <algorithm>

#include "collector/analyse/process_threads.hpp"
#include "collector/analyse/vcpu_budget.hpp"
#include "collector/render/job_log.hpp"
#include "probes/probe.hpp"
#include "probes/thread_stat.hpp"
#include "tests/analyse/case_files.hpp"

/// The cases of QEMU's threads.
namespace cozy {

namespace {

using cases::Answer;

Reading parse_threads(const std::string& text) { return find_probe("sandbox-qemu-thread-cpu")->parse(text); }

std::string heading(const std::string& pid, const std::string& comm = "qemu-system-x86") {
  return "clock ticks per second: 100\nprocess " + pid + " comm " + comm + "\n";
}

/// A pair of readings of one process, the node srv1.
class ThreadCase {
 public:
  ThreadCase(const ReadSpan& second, std::string pid, const std::string& before, const std::string& after)
      : pid_(std::move(pid)),
        before_(parse_threads(heading(pid_) + before + "[process " + pid_ + " is srv1]\n")),
        after_(parse_threads(heading(pid_) + after + "[process " + pid_ + " is srv1]\n")),
        rows_(difference({before_, cases::first_read(), true}, {after_, second, true}, {})) {
    const auto nodes = vcpu_budget(rows_, {});
    REQUIRE(nodes.size() == 1);
    node_ = nodes.front();
    REQUIRE(node_.name == "srv1");
  }

  [[nodiscard]] const NodeBudget& node() const { return node_; }
  [[nodiscard]] const Difference& rows() const { return rows_; }
  [[nodiscard]] std::size_t threads() const { return node_.vcpus.size() + node_.others.size(); }

  [[nodiscard]] std::optional<Answer> answer(const std::string& key) const {
    const auto words = split_at(key, '.');
    if (words[0] == "process") return of_process(key.substr(8));
    const auto tid = parse_u64(words[0]);
    if (!tid) return std::nullopt;
    const std::string scope = "thread " + pid_ + "/" + std::string(words[0]);
    if (words.size() == 3 && words[2] == "delta") return Answer(rows_.delta(scope, words[1]));
    if (words[1] == "ticks") return Answer(*rows_.delta(scope, "utime") + *rows_.delta(scope, "stime"));
    if (words[1] == "share") return share(*tid, true);
    if (words.size() == 3 && words[2] == "share") return share(*tid, words[1] == "ran");
    if (words[1] != "guest" || node_.vcpus.empty()) return std::nullopt;
    const auto& guest = node_.vcpus.front().parts.guest_seconds;
    return guest ? Answer(*guest * 100) : Answer("none");
  }

  [[nodiscard]] std::string output() const {
    Analysis analysis;
    analysis.nodes = {node_};
    analysis.pairs = {{"sandbox-qemu-thread-cpu", rows_.interval(), false}};
    return job_log(analysis).at(2);
  }

  /// Percent of the wall time, running or waiting.
  [[nodiscard]] Answer share(std::uint64_t tid, bool ran) const {
    for (const VcpuTime& vcpu : node_.vcpus) {
      if (vcpu.tid != tid) continue;
      const auto part = vcpu.parts.share(ran ? vcpu.parts.ran_seconds : vcpu.parts.waited_seconds);
      return part ? Answer(100 * *part) : Answer("none");
    }
    for (const ThreadTime& other : node_.others) {
      if (other.tid != tid) continue;
      const auto& seconds = ran ? other.ran_seconds : other.waited_seconds;
      return seconds && other.window ? Answer(100 * *seconds / other.window->seconds()) : Answer("none");
    }
    return {"none"};
  }

 private:
  [[nodiscard]] std::optional<Answer> of_process(const std::string& what) const {
    const ProcessTime& time = node_.process;
    if (what == "ticks") return Answer(*time.cpu_seconds * 100);
    if (what == "share") return Answer(100 * *time.cpu_seconds / time.window->seconds());
    if (what == "cpus") return Answer(*time.cpu_seconds / time.window->seconds());
    if (what == "run_delay_ns.delta") return Answer(*time.waited_seconds * 1e9);
    return std::nullopt;
  }

  std::string pid_;
  Reading before_;
  Reading after_;
  Difference rows_;
  NodeBudget node_;
};

ThreadCase of_files(const std::string& id, const std::string& pid) {
  return {cases::second_read(id), pid, cases::file(id, "before.txt"), cases::file(id, "after.txt")};
}

/// A stat line whose numbers are all that a case does not give.
std::string stat_line(const std::string& tid, const std::string& comm, const std::string& ticks) {
  return tid + " (" + comm + ") S 1 811 811 0 -1 64 0 0 0 0 " + ticks +
         " 0 0 0 20 0 2 0 5000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 3\n";
}

std::string reading_of_tree(const std::string& side) {
  const std::string task = side + "/proc/894/task/";
  const std::string schedstat(trim(cases::file("K09", task + "896/schedstat")));
  return "[process 894 totals " + std::string(trim(cases::file("K09", side + "/proc/894/stat"))) + "]\n" +
         cases::file("K09", task + "894/stat") + cases::file("K09", task + "896/stat") + "[thread 894/896 schedstat " +
         schedstat + "]\n";
}

}  // namespace

TEST_CASE("budget: the total of a process is the sum over its threads, above one CPU where it is") {
  const ThreadCase pair = of_files("T08", "811");
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    if (key == "threads.count") return Answer(std::uint64_t{pair.threads()});
    if (key != "thread.share.each") return pair.answer(key);
    std::set<std::string> shares;
    for (std::uint64_t tid = 811; tid <= 818; ++tid) shares.insert(pair.share(tid, true).text);
    return shares.size() == 1 ? pair.share(811, true) : Answer("different");
  };
  cases::check_case("T08", answer, [&] { return pair.output(); });
}

TEST_CASE("budget: threads of the same name are told apart by number") {
  const ThreadCase pair = of_files("T14", "700");
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    if (key == "rows") return Answer(std::uint64_t{pair.threads()});
    if (key != "never.share") return pair.answer(key);
    const bool half = pair.share(700, true).text == "50.000000" || pair.share(701, true).text == "50.000000";
    return Answer(half ? "said" : "50.0");
  };
  cases::check_case("T14", answer, [&] { return pair.output(); });
}

TEST_CASE("budget: a process is known by its start time, whatever its directory looks like") {
  const ThreadCase pair = of_files("T11", "894");
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const auto start = pair.rows().before().number("thread 894/894", "start");
    if (key == "starttime.ticks") return Answer(start);
    if (key == "start.seconds.after.boot") return Answer(static_cast<double>(*start) / 100);
    if (key == "pair") return Answer(pair.node().state == NodeState::present ? "accepted" : "refused");
    return pair.answer(key);
  };
  // Epoch times of processes are the QEMU probe's.
  cases::check_case("T11", answer, [&] { return pair.output(); }, {"start.epoch"});
}

TEST_CASE("budget: waiting is summed over the threads, not taken from the leader") {
  const auto side = [](const std::string& name, const std::string& ticks) {
    std::string text;
    for (const char* tid : {"811", "812"}) {
      const std::string schedstat = cases::file("G02", name + "-" + tid + ".txt");
      text += stat_line(tid, std::string(tid) == "812" ? "CPU 0/KVM" : "qemu-system-x86", ticks);
      text += "[thread 811/" + std::string(tid) + " schedstat " + std::string(trim(schedstat)) + "]\n";
    }
    return text;
  };
  const ThreadCase pair(cases::second_read("G02"), "811", side("before", "10"), side("after", "20"));
  cases::check_case(
      "G02", [&](const std::string& key) { return pair.answer(key); }, [&] { return pair.output(); });
}

TEST_CASE("budget: a vCPU that ran all the time ran 100 percent, exits or not") {
  const ThreadCase pair(cases::second_read("K09"), "894", reading_of_tree("before"), reading_of_tree("after"));
  const auto exits = [](const std::string& side) {
    return find_probe("sandbox-kvm-exits")
        ->parse("[vm 894-12] exits " +
                std::string(trim(cases::file("K09", side + "/sys/kernel/debug/kvm/894-12/exits"))) + "\n");
  };
  const Reading before = exits("before");
  const Reading after = exits("after");
  PairRules rules;
  rules.legend = find_legend("sandbox-kvm-exits");
  const Difference kvm =
      difference({before, cases::first_read(), true}, {after, cases::second_read("K09"), true}, rules);
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    if (key == "894-12.exits.delta") return Answer(kvm.delta("vm 894-12", "exits"));
    if (key == "894-12.exits.per_second") return Answer(kvm_rates(kvm).vms.at(0).exits_per_second);
    if (key == "896.never.called") return Answer(cases::has_token(pair.output(), "idle") ? "called idle" : "idle");
    return pair.answer(key);
  };
  // The finding is made of these numbers by the rules.
  cases::check_case("K09", answer, [&] { return pair.output(); }, {"finding"});
  CHECK_FALSE(pair.node().impossible);
}

TEST_CASE("budget: only a whole vCPU name is a vCPU's") {
  const Reading reading = parse_threads(heading("894") + cases::file("T12", "threads.txt"));
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const auto words = split_at(key, '.');
    const std::string scope = "thread 894/" + std::string(words[0]);
    if (words[1] == "state") return Answer(reading.word(scope, "state"));
    if (words[1] == "utime") return Answer(reading.number(scope, "utime"));
    const std::string comm = reading.word(scope, "comm");
    const bool vcpu = thread_kind(894, *parse_u64(words[0]), comm, 64) == ThreadKind::vcpu;
    return vcpu ? Answer(vcpu_of_name(comm)) : Answer("none");
  };
  cases::check_case("T12", answer, [] { return std::string(); });
}

TEST_CASE("budget: the kernel's own word tells its threads, before any name") {
  const std::string threads = cases::file("T13", "threads.txt");
  const ThreadCase pair(cases::span_at(1010), "1234", threads, threads);
  const auto kind_of = [&](std::uint64_t tid) -> std::string {
    if (std::any_of(pair.node().vcpus.begin(), pair.node().vcpus.end(), [&](const auto& v) { return v.tid == tid; }))
      return "vcpu";
    for (const ThreadTime& other : pair.node().others) {
      if (other.tid == tid) return std::string(thread_kind_name(other.kind));
    }
    return "none";
  };
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const auto words = split_at(key, '.');
    if (key == "vcpus.count") return Answer(std::uint64_t{pair.node().vcpus.size()});
    const auto tid = *parse_u64(words[0]);
    if (key == "1239.kind")
      return Answer(kind_of(tid) == "worker" || kind_of(tid) == "other" ? "worker or other" : kind_of(tid));
    if (words[1] == "kind") return Answer(kind_of(tid));
    if (words[1] == "vcpu") return Answer(std::uint64_t{pair.node().vcpus.at(0).index});
    const auto flags = pair.rows().before().number("thread 1234/" + std::string(words[0]), "flags");
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(flags.value_or(0)));
    return Answer(text);
  };
  cases::check_case("T13", answer, [&] { return pair.output(); });
}

TEST_CASE("budget: a hostile name does not make a vCPU of a kernel thread") {
  constexpr std::uint64_t k_pf_user_worker = 0x4000;
  CHECK(thread_kind(1, 2, "CPU 0/KVM", k_pf_user_worker) == ThreadKind::kernel);
  CHECK(thread_kind(1, 1, "CPU 0/KVM", 0) == ThreadKind::main);
  CHECK(thread_kind(1, 2, "IO iothread0", 0) == ThreadKind::io);
  CHECK(thread_kind(1, 2, "IOx", 0) == ThreadKind::other);
  CHECK(thread_kind(1, 2, "worker", 0) == ThreadKind::worker);
  CHECK(thread_kind(1, 2, "call_rcu", 0) == ThreadKind::other);
}

}  // namespace cozy
