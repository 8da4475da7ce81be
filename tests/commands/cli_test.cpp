// The command line and the environment: what comes of them, and how each refusal reads.
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/cli.hpp"
#include "probes/clock.hpp"
#include "probes/text.hpp"
#include "tests/catch.hpp"

using namespace cozy;
using What = Invocation::What;

namespace {

/// The variables that cozybracket reads, cleared while it lives but for those given.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values = {}) {
    for (const char* name : {"COZY_REPORT_DIR", "COZY_SNAPSHOT_NAME", "COZY_DIAG_SANDBOX_VM_ROOT",
                             "COZY_DIAG_READ_TIMEOUT", "COZY_DIAG_READ_GRACE"}) {
      if (const char* before = std::getenv(name)) before_[name] = before;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
    for (const auto& [name, value] : values) set_.push_back(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
  std::vector<std::string> set_;
};

using Arguments = std::vector<std::string>;

Invocation accepted(const Arguments& arguments) {
  const Parsed parsed = parse_command_line(arguments);
  INFO(join(arguments, " ") << ": " << parsed.text);
  REQUIRE(parsed.invocation);
  return *parsed.invocation;
}

/// The text of a usage error, which has to name all of these.
void refused(const Arguments& arguments, const std::vector<std::string>& names, int status = 2) {
  const Parsed parsed = parse_command_line(arguments);
  INFO(join(arguments, " ") << ": " << parsed.text);
  REQUIRE_FALSE(parsed.invocation);
  CHECK(parsed.to_stderr);
  CHECK(parsed.status == status);
  CHECK(parsed.text.starts_with("cozybracket: "));
  CHECK(parsed.text.find("--help`.\n") != std::string::npos);
  CHECK(split_lines(parsed.text).size() == 2);
  for (const std::string& name : names) {
    INFO("it should name " << name);
    CHECK(parsed.text.find(name) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("defaults", "[cli]") {
  const Environment environment;
  const Invocation invocation = accepted({"sample", "1"});
  CHECK(invocation.what == What::sample);
  CHECK(invocation.sample == 1);
  CHECK(invocation.options.report_dir == "_out/cozyreport");
  CHECK(invocation.options.snapshot == "kubernetes");
  CHECK(invocation.options.sandbox == ".");
  CHECK(invocation.options.root == "/");
  CHECK(invocation.options.nodes.empty());
  CHECK(invocation.options.only.empty());
  CHECK(invocation.options.read_timeout_ns == 20 * k_ns_per_second);
  CHECK(invocation.options.read_grace_ns == 5 * k_ns_per_second);
  CHECK(invocation.warnings.empty());
  CHECK(invocation.archive() == "_out/cozyreport.tgz");
}

TEST_CASE("the environment beats the defaults, an option beats the environment", "[cli]") {
  const Environment environment({{"COZY_REPORT_DIR", "/env/report"},
                                 {"COZY_SNAPSHOT_NAME", "env-snapshot"},
                                 {"COZY_DIAG_SANDBOX_VM_ROOT", "/env/sandbox"},
                                 {"COZY_DIAG_READ_TIMEOUT", "7"},
                                 {"COZY_DIAG_READ_GRACE", "0"}});
  const SampleOptions from_environment = accepted({"sample", "2"}).options;
  CHECK(from_environment.report_dir == "/env/report");
  CHECK(from_environment.snapshot == "env-snapshot");
  CHECK(from_environment.sandbox == "/env/sandbox");
  CHECK(from_environment.read_timeout_ns == 7 * k_ns_per_second);
  CHECK(from_environment.read_grace_ns == 0);

  const Invocation invocation = accepted({"run",
                                          "--report-dir",
                                          "r/",
                                          "--snapshot=s",
                                          "--sandbox",
                                          "/sb",
                                          "--read-timeout",
                                          "1.5",
                                          "--read-grace",
                                          "2",
                                          "--root",
                                          "/tree",
                                          "--node",
                                          "srv1=/a/qemu.pid",
                                          "--node",
                                          "srv2=b=c",
                                          "--only",
                                          "runner_shape,sandbox-kvm-exits",
                                          "--output",
                                          "o.tgz",
                                          "--",
                                          "cmd",
                                          "--read-timeout",
                                          "x",
                                          "--",
                                          "y"});
  CHECK(invocation.what == What::run);
  CHECK(invocation.options.report_dir == "r");
  CHECK(invocation.options.snapshot == "s");
  CHECK(invocation.options.sandbox == "/sb");
  CHECK(invocation.options.read_timeout_ns == 1'500 * k_ns_per_ms);
  CHECK(invocation.options.read_grace_ns == 2 * k_ns_per_second);
  CHECK(invocation.options.root == "/tree");
  REQUIRE(invocation.options.nodes.size() == 2);
  CHECK(invocation.options.nodes[0].name == "srv1");
  CHECK(invocation.options.nodes[1].pid_file == "b=c");
  CHECK(invocation.options.only == Arguments{"runner-shape", "sandbox-kvm-exits"});
  CHECK(invocation.archive() == "o.tgz");
  CHECK(invocation.command == Arguments{"cmd", "--read-timeout", "x", "--", "y"});
}

TEST_CASE("a bad variable is a warning and the default; an option spares it", "[cli]") {
  const Environment environment(
      {{"COZY_SNAPSHOT_NAME", "a/b"}, {"COZY_DIAG_READ_TIMEOUT", "0"}, {"COZY_DIAG_READ_GRACE", "5s"}});
  const Invocation invocation = accepted({"sample", "1"});
  CHECK(invocation.options.snapshot == "kubernetes");
  CHECK(invocation.options.read_timeout_ns == 20 * k_ns_per_second);
  CHECK(invocation.options.read_grace_ns == 5 * k_ns_per_second);
  const auto warned = [&](const std::vector<std::string>& parts) {
    for (const std::string& warning : invocation.warnings) {
      bool all = true;
      for (const std::string& part : parts) all = all && warning.find(part) != std::string::npos;
      if (all) return true;
    }
    return false;
  };
  CHECK(invocation.warnings.size() == 3);
  CHECK(warned({"COZY_SNAPSHOT_NAME", "\"a/b\"", "no name of one folder", "default kubernetes"}));
  CHECK(warned({"COZY_DIAG_READ_TIMEOUT", "\"0\"", "above 0", "default 20"}));
  CHECK(warned({"COZY_DIAG_READ_GRACE", "\"5s\"", "whole number of seconds", "default 5"}));
  CHECK(accepted({"sample", "1", "--snapshot", "s", "--read-timeout", "1", "--read-grace", "1"}).warnings.empty());
}

TEST_CASE("an empty variable is one that is not set", "[cli]") {
  const Environment environment({{"COZY_REPORT_DIR", ""}, {"COZY_SNAPSHOT_NAME", ""}, {"COZY_DIAG_READ_TIMEOUT", ""}});
  const Invocation invocation = accepted({"sample", "1"});
  CHECK(invocation.options.report_dir == "_out/cozyreport");
  CHECK(invocation.warnings.empty());
}

TEST_CASE("a probe hears nothing of the settings of a sample, bad ones included", "[cli]") {
  const Environment environment(
      {{"COZY_SNAPSHOT_NAME", "a/b"}, {"COZY_DIAG_READ_GRACE", "x"}, {"COZY_DIAG_READ_TIMEOUT", "7"}});
  const Invocation invocation = accepted({"probe", "runner_shape", "--sandbox=-x", "--root=/tree"});
  CHECK(invocation.what == What::probe);
  CHECK(invocation.probe == "runner-shape");
  CHECK(invocation.options.sandbox == "-x");
  CHECK(invocation.options.root == "/tree");
  CHECK(invocation.options.read_timeout_ns == 7 * k_ns_per_second);
  CHECK(invocation.warnings.empty());
}

TEST_CASE("every refusal names option, value and way out", "[cli]") {
  const Environment environment;
  const auto sample = [](Arguments more) {
    more.insert(more.begin(), {"sample", "1"});
    return more;
  };
  refused(sample({"--read-timeout", "0"}), {"--read-timeout", "\"0\"", "above 0", "--read-timeout 20"});
  refused(sample({"--read-timeout", "-1"}), {"--read-timeout", "\"-1\"", "number of seconds"});
  refused(sample({"--read-timeout=soon"}), {"--read-timeout", "\"soon\"", "number of seconds"});
  refused(sample({"--read-grace", "1e3"}), {"--read-grace", "\"1e3\"", "--read-grace 20"});
  refused(sample({"--read-grace", "100000"}), {"--read-grace", "\"100000\"", "more than a day"});
  refused(sample({"--snapshot", "a/b"}), {"--snapshot", "\"a/b\"", "--snapshot kubernetes-latest"});
  refused(sample({"--snapshot", "a\n::error::"}), {"--snapshot", "\"a\\x0a::error::\"", "control"});
  refused(sample({"--node", "srv1"}), {"--node", "\"srv1\"", "NAME=PIDFILE", "--node srv1=/"});
  refused(sample({"--node", "srv1="}), {"--node", "\"srv1=\""});
  refused(sample({"--node", "=x"}), {"--node", "\"=x\""});
  refused(sample({"--node", "a b=x"}), {"--node", "\"a b=x\""});
  refused(sample({"--only", "nothing"}), {"--only", "\"nothing\"", "runner-kernel-cpu-time, "});
  refused(sample({"--only", "runner-shape,"}), {"--only", "\"\""});
  refused(sample({"--bogus"}), {"--bogus", "cozybracket sample --help"});
  refused(sample({"--read-timeout"}), {"--read-timeout"});
  refused(sample({"--read-timeout", "1", "--read-timeout", "2"}), {"--read-timeout"});
  for (const std::string option :
       {"--report-dir", "--snapshot", "--sandbox", "--root", "--read-timeout", "--read-grace", "--only", "--node"}) {
    refused(sample({option, ""}), {option, "\"\"", "empty"});
  }
}

TEST_CASE("commands and their words", "[cli]") {
  const Environment environment;
  refused({}, {"run, sample, watch, pack, analyze, compare, policy, doctor and probe"});
  refused({"frobnicate"}, {"frobnicate"});
  refused({"sample"}, {"sample", "1 before the wait"});
  refused({"sample", "3"}, {"sample", "\"3\"", "1 before the wait"});
  refused({"sample", "1", "2"}, {"2"});
  refused({"probe"}, {"probe", "runner-shape"});
  refused({"probe", "nothing"}, {"probe", "\"nothing\"", "runner-shape"});
  refused({"sample", "1", "--", "cmd"}, {"\"--\"", "only run"});
  refused({"pack", "--only", "runner-shape"}, {"--only"});
  CHECK(accepted({"doctor"}).what == What::doctor);
  CHECK(accepted({"pack", "--report-dir", "x"}).archive() == "x.tgz");
  CHECK(accepted({"pack", "--report-dir", "x///"}).archive() == "x.tgz");
}

TEST_CASE("watch: what it knows of a sample's options, and its own", "[cli]") {
  const Environment environment({{"COZY_SNAPSHOT_NAME", "env"}, {"COZY_DIAG_READ_TIMEOUT", "x"}});
  const Invocation defaults = accepted({"watch", "start"});
  CHECK(defaults.what == What::watch_start);
  CHECK(defaults.options.snapshot == "env");
  CHECK(defaults.warnings.empty());
  CHECK(defaults.interval_ns == k_ns_per_second);
  CHECK(defaults.longest_ns == 7200 * k_ns_per_second);
  CHECK_FALSE(defaults.while_pid);
  const Invocation given = accepted({"watch", "start", "--report-dir=r/", "--snapshot=s", "--sandbox=b", "--node=n=f",
                                     "--interval=0.5", "--max-duration=0.6", "--while-pid=0"});
  CHECK(given.options.report_dir == "r");
  CHECK(given.options.sandbox == "b");
  CHECK(given.options.nodes.size() == 1);
  CHECK(given.interval_ns == 500 * k_ns_per_ms);
  CHECK(given.longest_ns == 600 * k_ns_per_ms);
  CHECK(given.while_pid == 0);
  const Invocation stop = accepted({"watch", "stop", "--report-dir", "r", "--snapshot", "s"});
  CHECK(stop.what == What::watch_stop);
  CHECK(stop.options.report_dir == "r");
  CHECK(stop.options.snapshot == "s");
  refused({"watch"}, {"watch is told neither", "`cozybracket watch --help`"});
  refused({"watch", "stop", "--sandbox=b"}, {"--sandbox", "`cozybracket watch stop --help`"});
  refused({"watch", "start", "--interval=2", "--max-duration=2"}, {"--max-duration", "\"2\"", "such as"});
  refused({"watch", "start", "--max-duration", ""}, {"--max-duration", "is empty"});
}

TEST_CASE("a usage error of run is 125: the command was never run", "[cli]") {
  const Environment environment;
  refused({"run"}, {"run", "\"--\"", "cozybracket run --sandbox /workspace -- "}, 125);
  refused({"run", "--"}, {"run", "\"--\""}, 125);
  refused({"run", "sleep", "1"}, {"sleep"}, 125);
  refused({"run", "--read-timeout", "x", "--", "true"}, {"--read-timeout", "\"x\""}, 125);
  refused({"run", "--bogus", "--", "true"}, {"--bogus"}, 125);
  CHECK(accepted({"run", "--", "--help"}).command == Arguments{"--help"});
  CHECK(accepted({"run", "--", ""}).command == Arguments{""});
}

TEST_CASE("help and version are answers, not errors", "[cli]") {
  const auto answer = [](const Arguments& arguments) {
    const Parsed parsed = parse_command_line(arguments);
    CHECK_FALSE(parsed.invocation);
    CHECK_FALSE(parsed.to_stderr);
    CHECK(parsed.status == 0);
    return parsed.text;
  };
  CHECK(answer({"--version"}).starts_with("cozybracket "));
  CHECK(answer({"--help"}).find("doctor") != std::string::npos);
  CHECK(answer({"run", "--help"}).find("125") != std::string::npos);
  CHECK(answer({"sample", "-h"}).find("COZY_DIAG_READ_TIMEOUT") != std::string::npos);
  for (const std::string command : {"run", "sample", "pack", "analyze", "compare", "doctor", "probe"}) {
    CHECK(answer({command, "--help"}).find("Exit status: ") != std::string::npos);
  }
}

TEST_CASE("analyze and compare: reports, formats, and nothing of the collector's settings", "[cli]") {
  const Environment environment({{"COZY_SNAPSHOT_NAME", "x"}, {"COZY_DIAG_READ_TIMEOUT", "bad"}});
  const Invocation one = accepted({"analyze", "a.tgz"});
  CHECK(one.what == What::analyze);
  CHECK(one.reports == Arguments{"a.tgz"});
  CHECK(one.format == Format::text);
  CHECK(one.one_snapshot.empty());
  CHECK(one.warnings.empty());
  const Invocation all = accepted({"analyze", "--format", "json", "--explain", "--snapshot", "k", "-"});
  CHECK(all.reports == Arguments{"-"});
  CHECK(all.format == Format::json);
  CHECK(all.explain);
  CHECK(all.one_snapshot == "k");
  CHECK(accepted({"analyze", "--explain"}).reports.empty());
  const Invocation two = accepted({"compare", "green", "red", "--format", "markdown"});
  CHECK(two.what == What::compare);
  CHECK(two.reports == Arguments{"green", "red"});
  CHECK(two.format == Format::markdown);
  refused({"analyze"}, {"analyze", "no report"});
  refused({"analyze", "a", "b"}, {"analyze", "b"});
  refused({"analyze", "a", "--format", "yaml"},
          {"--format", "\"yaml\"", "text, markdown, json, openmetrics, html or perfetto"});
  refused({"analyze", ""}, {"REPORT", "empty"});
  refused({"compare", "a"}, {"compare", "one report alone"});
  refused({"compare", "-", "-"}, {"compare", "\"-\""});
  refused({"compare", "a", "b", "--explain"}, {"--explain"});
  refused({"compare", "a", "b", "--format", "openmetrics"}, {"text, markdown, json or html"});
  refused({"analyze", "--explain", "--format", "html"},
          {"--format \"html\"", "about a report", "--output report.html"});
  refused({"analyze", "a", "--output", ""}, {"--output", "empty"});
  CHECK(one.output.empty());
  CHECK(accepted({"analyze", "a", "--output", "-"}).output.empty());
  const Invocation page = accepted({"analyze", "a", "--format", "html", "--output", "dir/report.html"});
  CHECK(page.format == Format::html);
  CHECK(page.output == "dir/report.html");
  CHECK(accepted({"compare", "a", "b", "--output", "x"}).output == "x");
}

TEST_CASE("policy takes quantities, a formula and a sandbox to look at", "[cli]") {
  const Environment environment({{"COZY_DIAG_SANDBOX_VM_ROOT", "/env/sandbox"}, {"COZY_DIAG_READ_TIMEOUT", "x"}});
  const Invocation alone = accepted({"policy", "--request", "0.5", "--limit=2"});
  CHECK(alone.what == What::policy);
  CHECK(alone.policy.pod.request_milli == std::optional<std::uint64_t>(500));
  CHECK(alone.policy.knobs.quota_usec == std::optional<std::uint64_t>(200000));
  CHECK(alone.policy.knobs.weight == 20);
  CHECK_FALSE(alone.policy.audit);
  CHECK(alone.warnings.empty());
  const Invocation audit =
      accepted({"policy", "--formula", "quadratic", "--request", "1", "--audit", "/sb", "--format", "json"});
  CHECK(audit.policy.audit);
  CHECK(audit.options.sandbox == "/sb");
  CHECK(audit.policy.knobs.weight == 100);
  CHECK(audit.format == Format::json);
  CHECK(audit.warnings.size() == 1);
}

TEST_CASE("policy refuses by name", "[cli]") {
  const Environment environment;
  refused({"policy", "--request", "1e3m"}, {"--request \"1e3m\"", "500m"});
  refused({"policy", "--limit", "-1"}, {"--limit \"-1\" is negative"});
  refused({"policy", "--limit", "1P"}, {"--limit \"1P\" is too large"});
  refused({"policy", "--limit", ""}, {"--limit"});
  refused({"policy", "--formula", "cubic"}, {"--formula \"cubic\"", "linear or quadratic"});
  refused({"policy", "--format", "markdown"}, {"--format \"markdown\"", "text or json"});
  refused({"policy", "--root", "/x"}, {"--root", "--audit SANDBOX"});
  refused({"policy", "--", "x"}, {"\"--\""});
}
