#include "probes/node_evidence.hpp"

#include "probes/clock.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

std::optional<std::uint64_t> pid_in(std::string_view id, std::string_view file) {
  const auto pid = parse_pid_text(case_text(id, file));
  return pid ? std::optional(*pid) : std::nullopt;
}

std::string arguments(std::initializer_list<std::string_view> words) {
  std::string line;
  for (const std::string_view word : words) line += std::string(word) + '\0';
  return line;
}

ProcessFacts qemu(std::uint64_t pid, std::optional<std::string> guest) {
  ProcessFacts process;
  process.pid = pid;
  process.comm = "qemu-system-x86";
  process.qemu = true;
  process.guest = std::move(guest);
  return process;
}

PidFile file_of(std::string node, std::uint64_t pid, std::int64_t written = 0) {
  return {std::move(node), pid, written, {}};
}

}  // namespace

TEST_CASE("P01 P03 P07: what stands in a pid file and is one number", "[node_evidence]") {
  for (const char* file : {"pidfile-a", "pidfile-b", "pidfile-c"}) CHECK(pid_in("P01", file) == 123U);
  for (const char* file : {"pidfile-a", "pidfile-b"}) CHECK(pid_in("P03", file) == 123U);
  for (const char* file : {"pidfile-a", "pidfile-c"}) CHECK(pid_in("P07", file) == 123U);
  for (const std::string_view text : {"1", "1\n", "00001\r\n", "1\n\n\n", "1\r", "1\n\r\n"})
    CHECK(*parse_pid_text(text) == 1U);
  CHECK(*parse_pid_text("4194304") == 4194304U);
}

TEST_CASE("P04 P06 P07: what is refused, each with its reason", "[node_evidence]") {
  for (const char* file : {"pidfile-a", "pidfile-b", "pidfile-c"}) CHECK_FALSE(pid_in("P04", file));
  CHECK_FALSE(pid_in("P07", "pidfile-b"));
  for (const char* file : {"pidfile-a", "pidfile-b"}) {
    const auto pid = parse_pid_text(case_text("P06", file));
    REQUIRE_FALSE(pid);
    CHECK(pid.error().reason == "more than one line");
  }
  struct Refused {
    std::string_view text;
    std::string_view reason;
  };
  const Refused table[] = {
      {"", "it is empty"},
      {"\n", "it is empty"},
      {"\r\n", "it is empty"},
      {" ", "is not one number"},
      {" 123\n", "is not one number"},
      {"123 \n", "is not one number"},
      {"12 3", "is not one number"},
      {"\t123", "is not one number"},
      {std::string_view("123\0\n", 5), "\"123\\x00\" is not one number"},
      {"\ufeff123\n", "\"\\xef\\xbb\\xbf123\" is not one number"},
      {"0x7b", "is not one number"},
      {"123.", "is not one number"},
      {"\u0661\u0662", "is not one number"},
      {"\x1b[2J123", "\"\\x1b[2J123\" is not one number"},
      {"0", "is no process number"},
      {"0000", "is no process number"},
      {"4194305", "is no process number"},
      {"18446744073709551739", "is no process number"},  // 2^64 + 123
      {"12345678901234567890", "is no process number"},
      {"\n123", "more than one line"},
      {"123\n\n456\n", "more than one line"},
  };
  for (const Refused& row : table) {
    const auto pid = parse_pid_text(row.text);
    CAPTURE(row.text, row.reason);
    REQUIRE_FALSE(pid);
    CHECK(pid.error().reason.find(row.reason) != std::string::npos);
    CHECK(pid.error().reason.size() < 160);
  }
  CHECK(parse_pid_text(std::string(100000, 'x')).error().reason.size() < 160);
  CHECK(parse_pid_text(std::string(100000, '9')).error().reason.size() < 160);
}

TEST_CASE("the guest name is taken from -name alone", "[node_evidence]") {
  using Name = std::optional<std::string>;
  CHECK(guest_name(arguments({"qemu", "-name", "guest=srv1,debug-threads=on", "-smp", "8"})) == Name("srv1"));
  CHECK(guest_name(arguments({"qemu", "-name", "debug-threads=on,guest=srv1"})) == Name("srv1"));
  CHECK(guest_name(arguments({"qemu", "-name", "srv1,process=x"})) == Name("srv1"));
  CHECK(guest_name(arguments({"qemu", "--name", "srv1"})) == Name("srv1"));
  CHECK(guest_name(arguments({"qemu", "-name", "guest=a,,b,x=y"})) == Name("a,b"));
  CHECK(guest_name(arguments({"qemu", "-name", "debug-threads=on", "-name", "guest=srv2"})) == Name("srv2"));
  CHECK(guest_name(arguments({"qemu", "-name", "guest="})) == Name(""));
  CHECK_FALSE(guest_name(""));
  CHECK_FALSE(guest_name(arguments({"qemu"})));
  CHECK_FALSE(guest_name(arguments({"qemu", "-smp", "8"})));
  CHECK_FALSE(guest_name(arguments({"qemu", "-smp", "guest=srv1"})));
  CHECK_FALSE(guest_name(arguments({"qemu", "-name", "debug-threads=on"})));
  CHECK_FALSE(guest_name(arguments({"qemu", "-name", "process=guest=srv1"})));
  CHECK_FALSE(guest_name("qemu -name guest=srv1"));
}

TEST_CASE("a node's name is a word that a report can hold", "[node_evidence]") {
  for (const std::string_view name : {"srv1", "srv10", "a.b_c:d@e+f-g", "X"}) CHECK(is_node_name(name));
  for (const std::string_view name : {"", " ", "a b", "a\n", "../x", "a]", "<b>", "\u00e9", "\x1b[m"})
    CHECK_FALSE(is_node_name(name));
  CHECK(is_node_name(std::string(64, 'a')));
  CHECK_FALSE(is_node_name(std::string(65, 'a')));
}

TEST_CASE("a pid file is believed for a QEMU that lives and does not say otherwise", "[node_evidence]") {
  const auto nodes = resolve_nodes({file_of("srv1", 902)}, {qemu(902, "srv1")});
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].pid == 902U);
  CHECK(nodes[0].evidence == std::vector<std::string>{"pid file", "guest name"});
  CHECK(nodes[0].notes.empty());

  const auto unnamed = resolve_nodes({file_of("srv1", 902)}, {qemu(902, std::nullopt)});
  CHECK(unnamed[0].evidence == std::vector<std::string>{"pid file"});
}

TEST_CASE("a pid file is not believed for anything else", "[node_evidence]") {
  ProcessFacts kernel = qemu(8, std::nullopt);
  kernel.qemu = false;
  kernel.kernel_thread = true;
  ProcessFacts sshd = qemu(900, std::nullopt);
  sshd.qemu = false;
  sshd.comm = "ss\nhd";
  ProcessFacts zombie = qemu(901, std::nullopt);
  zombie.zombie = true;
  ProcessFacts young = qemu(902, std::nullopt);
  young.start_epoch_ns = 100 * k_ns_per_second;
  const auto nodes = resolve_nodes({file_of("a", 8),
                                    file_of("b", 900),
                                    file_of("c", 901),
                                    file_of("d", 902, 90 * k_ns_per_second),
                                    file_of("e", 903),
                                    file_of("f", 904),
                                    {"g", std::nullopt, 0, "ENOENT"}},
                                   {kernel, sshd, zombie, young, qemu(904, "other")});
  REQUIRE(nodes.size() == 8);
  const char* reasons[] = {"a kernel thread",           "(ss\\x0ahd), not a QEMU", "has ended",
                           "started 10.0 s after",      "no such process lives",   "guest name says other",
                           "no usable pid file: ENOENT"};
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(nodes[i].node, reasons[i]);
    CHECK_FALSE(nodes[i].pid);
    CHECK(nodes[i].evidence.empty());
    CHECK(mentions(nodes[i].notes, reasons[i]));
  }
  CHECK(nodes[7].node == "other");
  CHECK(nodes[7].pid == 904U);
}

TEST_CASE("a process that started just before its file was written is the node", "[node_evidence]") {
  ProcessFacts process = qemu(902, std::nullopt);
  process.start_epoch_ns = 100 * k_ns_per_second;
  for (const std::int64_t written : {99 * k_ns_per_second, 100 * k_ns_per_second, 5000 * k_ns_per_second}) {
    CHECK(resolve_nodes({file_of("srv1", 902, written)}, {process})[0].pid == 902U);
  }
  CHECK_FALSE(resolve_nodes({file_of("srv1", 902, 97 * k_ns_per_second)}, {process})[0].pid);
  process.guest = "srv1";  // then the guest name alone decides, and the stale file is named
  const auto renamed = resolve_nodes({file_of("srv1", 902, 97 * k_ns_per_second)}, {process});
  CHECK(renamed[0].pid == 902U);
  CHECK(renamed[0].evidence == std::vector<std::string>{"guest name"});
  CHECK(mentions(renamed[0].notes, "stale"));
}

TEST_CASE("without a pid file the guest name decides, if one process carries it", "[node_evidence]") {
  const auto nodes = resolve_nodes(
      {}, {qemu(901, "srv2"), qemu(902, "srv1"), qemu(910, "srv10"), qemu(911, "a b"), qemu(912, std::nullopt)});
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].node == "srv1");
  CHECK(nodes[0].pid == 902U);
  CHECK(nodes[1].node == "srv2");
  CHECK(nodes[2].node == "srv10");  // not matched by srv1, and behind srv2

  const auto twice = resolve_nodes({}, {qemu(901, "srv1"), qemu(902, "srv1")});
  REQUIRE(twice.size() == 1);
  CHECK_FALSE(twice[0].pid);
  CHECK(mentions(twice[0].notes, "901, 902"));

  const auto decided = resolve_nodes({file_of("srv1", 902)}, {qemu(901, "srv1"), qemu(902, "srv1")});
  CHECK(decided[0].pid == 902U);
  CHECK(mentions(decided[0].notes, "process 901 carries the same guest name"));
}

TEST_CASE("two pid files that name one process are believed for neither", "[node_evidence]") {
  const auto nodes = resolve_nodes({file_of("srv1", 902), file_of("srv2", 902), file_of("srv3", 903)},
                                   {qemu(902, std::nullopt), qemu(903, std::nullopt)});
  REQUIRE(nodes.size() == 3);
  CHECK_FALSE(nodes[0].pid);
  CHECK_FALSE(nodes[1].pid);
  CHECK(mentions(nodes[0].notes, "srv1, srv2"));
  CHECK(nodes[2].pid == 903U);

  const auto named = resolve_nodes({file_of("srv1", 902), file_of("srv2", 902)}, {qemu(902, "srv2")});
  CHECK_FALSE(named[0].pid);
  CHECK(named[1].pid == 902U);
}

TEST_CASE("nodes are in the order of their numbers, whatever they are called", "[node_evidence]") {
  std::vector<PidFile> files;
  for (const char* name : {"srv10", "srv2", "srv99999999999999999999", "10", "9", "a", "srv1"})
    files.push_back({name, std::nullopt, 0, "absent"});
  std::vector<std::string> order;
  for (const NodeEvidence& node : resolve_nodes(files, {})) order.push_back(node.node);
  CHECK(order == std::vector<std::string>{"9", "10", "a", "srv99999999999999999999", "srv1", "srv2", "srv10"});
}
