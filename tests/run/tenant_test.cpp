// Tenant workers: names, words, and the probe's two forms held to one grammar.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collector/run/child.hpp"
#include "collector/run/tenant_capture.hpp"
#include "collector/run/tenant_pods.hpp"
#include "collector/run/tenant_sample.hpp"
#include "probes/probe.hpp"
#include "tests/catch.hpp"

using namespace cozy;

namespace {

const PodTarget k_target{"tenant-test", "worker"};
const TenantBound k_bound{1, "kubernetes", 20 * k_ns_per_second, 5 * k_ns_per_second};
const std::string k_way = "[cozybracket way: the shell, since no folder there takes a program]\n";
const std::string k_begin = "[cozybracket begin 100 200]\n";
const std::string k_end = "[cozybracket end 300 400]\n";
const std::string k_process =
    "clock ticks per second: 100\nprocess 12 comm qemu-kvm\n"
    "12 (qemu-kvm) S 1 12 12 0 -1 4194560 9 0 3 0 812 1930 0 0 20 0 75 0 88110 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 17 3 0 0 "
    "0 5 0\n";

ChildOutput output_of(const std::string& text, ChildEnd end = Exited{0}, const std::string& messages = "") {
  ChildOutput output;
  output.text = text;
  output.messages = messages;
  output.end = std::move(end);
  return output;
}

Judgement judged(const ChildOutput& output) { return tenant_capture(k_target, output, k_bound).judgement; }

/// A process with QEMU's name and threads, one of them with a name that breaks lines.
class FakeQemu {
 public:
  FakeQemu() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_NAME, "qemu-kvm");
    for (const char* name : {"CPU 0/KVM", "a) \\x\n\xff\t[z]", "worker"}) {
      std::thread([name] {
        ::prctl(PR_SET_NAME, name);
        for (;;) ::pause();
      }).detach();
    }
    for (;;) ::pause();
  }
  FakeQemu(const FakeQemu&) = delete;
  FakeQemu& operator=(const FakeQemu&) = delete;
  ~FakeQemu() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_;
};

/// Waits until the process has all of its threads by their names.
void wait_for_names(const std::string& pid) {
  for (int tries = 0; tries < 2000; ++tries) {
    const ChildOutput seen = run_child({"/bin/sh", "-c", "cat /proc/" + pid + "/task/*/comm"}, ChildBound{});
    if (seen.text.find("worker\n") != std::string::npos && seen.text.find("CPU 0/KVM") != std::string::npos &&
        seen.text.find("[z]") != std::string::npos && seen.text.find("qemu-kvm") != std::string::npos)
      return;
    ::usleep(5000);
  }
  FAIL("the process has not got its threads");
}

/// What a reading holds about one process: scope, field and kind of each row, and the names themselves.
std::set<std::string> rows_of(const Reading& reading, const std::string& pid) {
  std::set<std::string> rows;
  for (const Row& row : reading.rows) {
    const bool ours = row.scope == "process " + pid || row.scope.starts_with("thread " + pid + "/");
    if (!ours) continue;
    const bool fixed = row.field == "comm" || row.field == "start" || row.field == "flags";
    rows.insert(row.scope + " " + row.field + " " + std::to_string(static_cast<int>(row.kind)) +
                (fixed ? " " + value_text(row.value) : ""));
  }
  return rows;
}

}  // namespace

TEST_CASE("the shell form of the thread probe writes what the binary's parser reads", "[tenant]") {
  const FakeQemu qemu;
  wait_for_names(qemu.pid());
  const Probe& probe = *find_probe("sandbox-qemu-thread-cpu");
  Watchdog watchdog(FileCalls::system(), {k_ns_per_second, 60 * k_ns_per_second});
  StringSink sink;
  run_probe(probe, {Root("/"), "/", {}, FileCalls::system(), watchdog}, sink);
  const Reading binary = probe.parse(sink.content);
  const auto wanted = rows_of(binary, qemu.pid());
  REQUIRE(wanted.size() > 40);

  for (const std::string shell : {"/bin/sh", "/bin/dash", "/bin/bash"}) {
    if (::access(shell.c_str(), X_OK) != 0) continue;
    INFO(shell);
    ChildBound bound;
    bound.timeout_ns = 60 * k_ns_per_second;
    const ChildOutput output = run_child({shell, "-c", std::string(thread_probe_shell_text())}, bound);
    CHECK(output.messages.empty());
    CHECK(output.text.starts_with("[cozybracket begin "));
    const Reading reading = probe.parse(output.text);
    CHECK(rows_of(reading, qemu.pid()) == wanted);
    const Subject* subject = reading.subject("process " + qemu.pid());
    REQUIRE(subject != nullptr);
    CHECK(subject->identity == binary.subject("process " + qemu.pid())->identity);
    CHECK(subject->begin.has_value());
    const Capture capture = tenant_capture(k_target, output_of(k_way + output.text), k_bound);
    CHECK(capture.judgement.outcome == Outcome::complete);
    REQUIRE(capture.begin_stamp);
    // /proc/uptime comes in steps of 10 ms, btime in seconds.
    CHECK(std::abs(capture.begin_stamp->boottime_ns - output.begin.boottime_ns) < 60 * k_ns_per_second);
    CHECK(std::abs(capture.begin_stamp->epoch_ns - output.begin.epoch_ns) < 60 * k_ns_per_second);
  }
}

TEST_CASE("every way to fail has its own words", "[tenant]") {
  const auto reason = [](const ChildOutput& output) {
    const Judgement judgement = judged(output);
    CHECK(judgement.outcome == Outcome::unavailable);
    return judgement.reason;
  };
  CHECK(reason(output_of("", Exited{1}, "\nError from server (NotFound): x\nmore\n")) ==
        "not reached: kubectl exited 1: Error from server (NotFound): x");
  CHECK(reason(output_of("", Exited{0})) == "answered nothing: kubectl exited 0 and not one line came");
  CHECK(reason(output_of("", EndedHere{EndedHere::Why::deadline, SIGTERM})) == "not reached: no answer within 20 s");
  CHECK(reason(output_of("", NotStarted{Error{"kubectl", "no", ENOENT}})) ==
        "not reached: kubectl was not started: kubectl: no");
  CHECK(reason(output_of("", Exited{127})).starts_with("not run: kubectl exited 127"));
  CHECK(reason(output_of("hello\n")).starts_with("not understood: "));
  CHECK(reason(output_of(k_way)).starts_with("answered nothing: the container was reached"));
  CHECK(reason(output_of(k_way + k_begin, Exited{1})).starts_with("cut: "));
}

TEST_CASE("a read that was cut is partial where threads came", "[tenant]") {
  const Judgement judgement = judged(output_of(k_way + k_begin + k_process, Exited{1}));
  CHECK(judgement.outcome == Outcome::partial);
  CHECK(judgement.reason == "the read was cut: exited 1");
  CHECK(judged(output_of(k_way + k_begin + k_process + k_end)).outcome == Outcome::complete);
}

TEST_CASE("no QEMU is a finding", "[tenant]") {
  const std::string none = "NO-QEMU-PROCESS: 5 processes were read and none is a QEMU\n";
  const Judgement judgement = judged(output_of(k_way + k_begin + none + k_end));
  CHECK(judgement.outcome == Outcome::empty);
  CHECK(judgement.reason.starts_with("no QEMU: NO-QEMU-PROCESS: 5 processes"));
}

TEST_CASE("the file of a tenant worker is read back as a capture", "[tenant]") {
  REQUIRE(tenant_legend().capture == k_tenant_capture);
  const Capture capture = tenant_capture(k_target, output_of(k_way + k_begin + k_process + k_end), k_bound);
  const auto read = parse_capture(format_capture(capture, tenant_legend()));
  REQUIRE(read);
  CHECK(read->name == k_tenant_capture);
  CHECK(read->judgement.outcome == Outcome::complete);
  CHECK(read->text == capture.text);
  CHECK(read->text.starts_with("[pod tenant-test/worker container compute]\n[read by the shell, since no folder"));
  CHECK(read->begin_stamp->boottime_ns == 100);
}

TEST_CASE("a pod is named by the rules of Kubernetes", "[tenant]") {
  const auto pod = parse_pod_target("tenant-test/virt-launcher-a.b/guest-1");
  REQUIRE(pod);
  CHECK(*pod == PodTarget{"tenant-test", "virt-launcher-a.b", "guest-1"});
  CHECK(parse_pod_target("a/b")->container == "compute");
  CHECK(parse_pod_target(std::string(63, 'a') + "/b"));
  CHECK_FALSE(parse_pod_target(std::string(64, 'a') + "/b"));
  for (const char* bad : {"", "a", "/b", "a/", "a/b/", "a/b/c/d", "A/b", "a.b/c", "a/B", "a/-b", "a/b-", "a/b..c",
                          "a/b c", "a/b;c", "a/b$c", "a/../c", "a/b\n", "a/b/c.d", "--x/b"}) {
    INFO(bad);
    CHECK_FALSE(parse_pod_target(bad));
  }
}

TEST_CASE("labels are named by the rules of Kubernetes", "[tenant]") {
  for (const char* good : {"a/app", "a/app=x", "a/app==x", "a/app!=x", "a/!app", "a/kubevirt.io=virt-launcher",
                           "a/vm.kubevirt.io/name=w_1.x,!paused", "a/app="}) {
    INFO(good);
    CHECK(parse_pod_label(good));
  }
  CHECK(parse_pod_label("a/k.io/n=v")->selector == "k.io/n=v");
  for (const char* bad : {"", "a", "a/", "a/=x", "a/app=x,", "a/app=x y", "a/-app", "a/app=$(x)", "A/app",
                          "a/app in (x)", "a/app===x", "a/a/b/c=x", "a/--flag"}) {
    INFO(bad);
    CHECK_FALSE(parse_pod_label(bad));
  }
}

TEST_CASE("pods are chosen once each, and those beyond the most are kept by name", "[tenant]") {
  ChosenPods chosen;
  choose({{"a", "x"}, {"a", "x"}, {"b", "x"}}, 2, chosen);
  choose(parse_pod_names("a", "pod/y\npod/x\n\npod/BAD\nservice/z\npod/w\n"), 2, chosen);
  CHECK(chosen.pods == std::vector<PodTarget>{{"a", "x"}, {"b", "x"}});
  CHECK(chosen.left_out == std::vector<PodTarget>{{"a", "y"}, {"a", "w"}});
  CHECK(tenant_file_names({{"a", "x"}, {"b", "x"}, {"a", "y", "guest"}, {"a", "z"}}) ==
        std::vector<std::string>{"a_x", "b_x", "y_guest", "z"});
}

TEST_CASE("names stand in the command as words of their own", "[tenant]") {
  const auto command = tenant_command("/bin/kubectl", {"a", "b", "c"}, k_ns_per_second, "");
  const std::vector<std::string> begin(command.begin(), command.begin() + 9);
  CHECK(begin == std::vector<std::string>{"/bin/kubectl", "exec", "--stdin", "--namespace=a", "--container=c", "b",
                                          "--", "sh", "-c"});
  CHECK(command[command.size() - 2] == "stream");
  const auto without = tenant_command("/bin/kubectl", k_target, k_ns_per_second, "reasons");
  CHECK(std::find(without.begin(), without.end(), "--stdin") == without.end());
  // It travels in the address of a request.
  CHECK(thread_probe_shell_text().size() + tenant_exec_text().size() < 5000);
}
