#include "collector/render/json.hpp"

#include <limits>

#include "tests/analyse/case_files.hpp"
#include "tests/render/json_schema.hpp"
#include "tests/render/rendered.hpp"

namespace cozy {

namespace {

using json_schema::Json;

const Json& schema() {
  static const Json k_schema =
      Json::parse(rendered::content(std::filesystem::path(COZY_FIXTURES).parent_path().parent_path() / "collector" /
                                    "render" / "analysis.schema.json"));
  return k_schema;
}

/// Parsed, and held against the schema.
Json checked(const std::string& text) {
  CHECK(rendered::is_valid_utf8(text));
  CHECK_FALSE(rendered::has_control_bytes(text));
  Json json = Json::parse(text, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  for (const std::string& fault : json_schema::Validator(schema()).faults(json)) {
    INFO(fault);
    CHECK(fault.empty());
  }
  return json;
}

Json checked(const ReportAnalysis& report) { return checked(to_json(report)); }

/// A number below every place of a JSON text that is null, empty text or no number.
std::size_t empty_places(const Json& json) {
  if (json.is_null() || (json.is_string() && json.get<std::string>().empty())) return 1;
  std::size_t count = 0;
  if (json.is_structured()) {
    for (const auto& item : json) count += empty_places(item);
  }
  return count;
}

Json first_node(const Json& json) { return json.at("snapshots").at(0).at("nodes").at(0); }

}  // namespace

TEST_CASE("json: every golden is as the schema says", "[render][json]") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(rendered::golden_folder())) {
    const std::string text = entry.path().extension() == ".json" ? rendered::content(entry.path()) : "";
    if (text.find("\"cozybracket.analysis/1\"") == std::string::npos) continue;
    INFO(entry.path().string());
    CHECK(empty_places(checked(text)) == 0);
    ++count;
  }
  CHECK(count >= 4);
}

TEST_CASE("json: the validator of this test finds faults", "[render][json]") {
  Json json = checked(rendered::fixture("waited"));
  const auto faults = [&json] { return json_schema::Validator(schema()).faults(json).size(); };
  CHECK(faults() == 0);
  SECTION("a share above 1") { json["snapshots"][0]["nodes"][0]["waited_share"] = 1.01; }
  SECTION("a key that is not described") { json["snapshots"][0]["nodes"][0]["wating_share"] = 0.1; }
  SECTION("an empty text") { json["snapshots"][0]["verdict"] = ""; }
  SECTION("a word for a number") { json["snapshots"][0]["window"]["seconds"] = "412"; }
  SECTION("a key that is missing") { json["snapshots"][0].erase("findings"); }
  SECTION("another schema") { json["schema"] = "cozybracket.analysis/2"; }
  CHECK(faults() == 1);
}

TEST_CASE("json: the contract's keys and numbers", "[render][json]") {
  const Json json = checked(rendered::fixture("waited"));
  CHECK(json["schema"] == "cozybracket.analysis/1");
  CHECK(json["report"] == Json{{"path", "waited"}, {"origin", "cozybracket"}, {"truncated", false}});
  const Json& snapshot = json["snapshots"][0];
  CHECK(snapshot["name"] == "kubernetes");
  CHECK(snapshot["window"]["seconds"] == 60.0);
  CHECK(snapshot["runner"]["cpus"] == 4);
  CHECK(snapshot["runner"]["cpu_seconds"]["user"] == 156.0);
  CHECK(snapshot["runner"]["steal"]["verdict"] == "proved");
  CHECK(snapshot["captures"][0]["begin_boottime_ns"] == 1000000000000);
  CHECK(snapshot["captures"][0]["file"] == "snapshots/kubernetes/runner-kernel-cpu-time/sample-1/proc-stat.txt");
  const Json node = first_node(json);
  CHECK(node["name"] == "srv1");
  CHECK(node["pid"] == 902);
  CHECK(node["evidence"] == Json{"pid file", "guest name"});
  CHECK(node["waited_share"] == 0.33);
  CHECK(node["vcpus"][1]["index"] == 1);
  CHECK(node["vcpus"][1]["waited_seconds"] == 19.8);
  CHECK(node["vcpus"][1]["ran_seconds"] == 33.0);
  CHECK(node["other_threads"].size() == 3);
  CHECK(node["kvm"]["vm"] == "902-12");
  CHECK(node["kvm"]["values"] == Json{{"pages_4k", 5100}});
  CHECK(node["kvm"]["rates"]["exits"].get<double>() > 28'000);
  CHECK(snapshot["findings"][0]["id"] == "nodes-waited");
  CHECK(snapshot["findings"][0]["evidence"][0]["before"] == 500000000);
}

TEST_CASE("json: what a report of the shell has beside", "[render][json]") {
  ReportAnalysis report = rendered::fixture("shell");
  report.truncated = true;
  report.truncated_why = "the gzip stream ends early";
  const Json json = checked(report);
  CHECK(json["report"] == Json{{"path", "shell"},
                               {"origin", "shell"},
                               {"truncated", true},
                               {"truncated_why", "the gzip stream ends early"}});
  const Json& snapshot = json["snapshots"][0];
  CHECK(snapshot["markers"] == Json{"SOFT-RED-node-join.txt"});
  CHECK(snapshot["window"]["wall_clock"] == true);
  CHECK_FALSE(snapshot["captures"][0].contains("begin_boottime_ns"));
  const Json& arm = snapshot["canary"][1]["arms"][0];
  CHECK(arm["name"] == "compute");
  CHECK(arm["rate_per_second"] == 2380952);
  CHECK(arm["below_floor"] == true);
  CHECK_FALSE(snapshot["canary"][1]["arms"][1].contains("below_floor"));
}

TEST_CASE("json: what is absent is left out, never 0 or an empty text", "[render][json]") {
  SECTION("nothing was read") {
    Analysis analysis;
    analysis.snapshot = "kubernetes";
    const Json json = checked(rendered::report_of(analysis));
    const Json& snapshot = json["snapshots"][0];
    for (const char* key : {"window", "verdict", "runner", "nodes", "kvm", "canary"}) {
      INFO(key);
      CHECK_FALSE(snapshot.contains(key));
    }
    CHECK(snapshot["findings"] == Json::array());
  }
  SECTION("halts were not measured: the rest is named so") {
    const Json node =
        first_node(checked(rendered::report_of(hand_made::analysis_of({hand_made::node("srv1", {0.5, 0.2})}))));
    for (const char* key : {"halted_share", "other_share", "guest_share", "exits_per_second", "kvm", "cgroup"}) {
      INFO(key);
      CHECK_FALSE(node.contains(key));
    }
    CHECK(node["halted_or_other_share"] == 0.3);
    CHECK_FALSE(node["vcpus"][0].contains("halt_in_progress"));
  }
  SECTION("halts were measured") {
    const Json node =
        first_node(checked(rendered::report_of(hand_made::analysis_of({hand_made::node("srv1", {0.5, 0.2, 0.2})}))));
    CHECK(node["halted_share"] == 0.2);
    CHECK(node["other_share"] == 0.1);
    CHECK(node["vcpus"][0]["halt_in_progress"] == false);
  }
  SECTION("no schedstat, no stamps") {
    NodeBudget node = hand_made::node("srv1", {0.5, std::nullopt});
    node.vcpus[0].window.reset();
    const Json json = first_node(checked(rendered::report_of(hand_made::analysis_of({node}))));
    CHECK_FALSE(json.contains("waited_share"));
    CHECK_FALSE(json["vcpus"][0].contains("window_seconds"));
    CHECK_FALSE(json["vcpus"][0].contains("waited_or_halted_or_other_seconds"));
  }
  SECTION("a node that left has no list of threads") {
    NodeBudget node = hand_made::node("srv1", {});
    node.state = NodeState::left;
    node.pid_after.reset();
    const Json json = first_node(checked(rendered::report_of(hand_made::analysis_of({node}))));
    CHECK(json["state"] == "left");
    CHECK(json["pid"] == 899);
    CHECK_FALSE(json.contains("vcpus"));
  }
}

TEST_CASE("json: cgroup, pressure and vCPU statistics, where they were read", "[render][json]") {
  NodeBudget node = hand_made::node("srv1", {0.5, 0.2});
  node.cgroup = hand_made::throttled_at("/kubepods/a b", 61.5, 3.98);
  node.kvm = NodeKvm{"vcpu stats",
                     "",
                     "id kvm-900",
                     {{"exits", 28.5}, {"exits", 99.0}},
                     {{"blocking", std::nullopt, Value(std::uint64_t{1})}}};
  Analysis analysis = hand_made::analysis_of({node});
  analysis.pressure = Pressure{{0.43, {}, "3.21"}, {}, {0.0, 0.0, {}}};
  analysis.shape = {{"machine", "kernel-release", Value("6.8"), Kind::instant}};
  const Json json = checked(rendered::report_of(analysis));
  CHECK(json["snapshots"][0]["runner"]["pressure"] ==
        Json{{"cpu_some", 0.43}, {"cpu_avg10", "3.21"}, {"memory_some", 0.0}, {"memory_full", 0.0}});
  CHECK(json["snapshots"][0]["runner"]["shape"] == Json{{"kernel-release", "6.8"}});
  const Json said = first_node(json);
  CHECK(said["cgroup"]["throttled_seconds"] == 3.98);
  CHECK_FALSE(said["cgroup"].contains("weight"));
  CHECK(said["kvm"]["rates"] == Json{{"exits", 28.5}});
  CHECK(said["kvm"]["values"] == Json{{"blocking", 1}});
  CHECK_FALSE(said["kvm"].contains("vm"));
}

TEST_CASE("json: numbers are finite, whatever a calculation came to", "[render][json]") {
  NodeBudget node = hand_made::node("srv1", {0.5, 0.2});
  node.exits_per_second = std::numeric_limits<double>::infinity();
  node.vcpus[0].exits_per_second = std::numeric_limits<double>::quiet_NaN();
  node.vcpus[1].exits_per_second = 1e300;
  node.others = {{ThreadKind::main, "q", 1, std::nullopt, -0.0, std::nullopt}};
  Analysis analysis = hand_made::analysis_of({node});
  analysis.findings = {{"x",
                        Level::info,
                        "",
                        "says",
                        {{"c", "s", "f", Value(std::numeric_limits<std::uint64_t>::max()),
                          Value(std::numeric_limits<std::int64_t>::min())}},
                        "",
                        0}};
  const std::string text = to_json(rendered::report_of(analysis));
  const Json said = first_node(checked(text));
  CHECK_FALSE(said.contains("exits_per_second"));
  CHECK_FALSE(said["vcpus"][0].contains("exits_per_second"));
  CHECK(said["vcpus"][1]["exits_per_second"] == 1e300);
  for (const char* never : {": nan", ": inf", ": -inf", ": null", ": -0.0"})
    CHECK(text.find(never) == std::string::npos);
  CHECK(text.find("18446744073709551615") != std::string::npos);
  CHECK(text.find("-9223372036854775808") != std::string::npos);
}

TEST_CASE("json: bytes from outside", "[render][json]") {
  const std::string text = to_json(rendered::with_names(rendered::hostile_names()));
  const Json json = checked(text);
  CHECK(rendered::commands_in(text).empty());
  CHECK(text.find("::") == std::string::npos);
  CHECK(text.find('<') == std::string::npos);
  std::size_t at = 0;
  for (const std::string& name : rendered::hostile_names()) {
    INFO(escape(name));
    CHECK(unescape(json["snapshots"][0]["nodes"][at].value("name", "")) == name);
    at += 2;
  }
}

TEST_CASE("T04: a name that is not UTF-8 loses nothing", "[render][json]") {
  for (const char* variant : {"a", "b", "c"}) {
    const std::string stat = cases::file("T04", std::string("stat-") + variant + ".txt");
    const std::string name = stat.substr(stat.find('(') + 1, stat.rfind(')') - stat.find('(') - 1);
    ReportAnalysis report = rendered::with_names({name});
    const Json json = checked(report);
    CHECK(unescape(first_node(json)["other_threads"][0]["name"].get<std::string>()) == name);
  }
  const std::string text = to_json(rendered::with_names({"caf\xc3", "caf\xc3\xa9 \xe6\x9d\xb1\xe4\xba\xac"}));
  CHECK(text.find(R"("caf\\xc3")") != std::string::npos);
  CHECK(text.find("\"caf\xc3\xa9 \xe6\x9d\xb1\xe4\xba\xac\"") != std::string::npos);
}

TEST_CASE("json: keys stand in one order, and fields that a capture invents have an end", "[render][json]") {
  const std::string text = to_json(rendered::fixture("waited"));
  CHECK(text == to_json(rendered::fixture("waited")));
  CHECK(text.find("\"schema\"") < text.find("\"report\""));
  CHECK(text.find("\"window\"") < text.find("\"captures\""));
  CHECK(text.find("\"nodes\"") < text.find("\"findings\""));
  CHECK(text.ends_with("}\n"));
  Analysis analysis = hand_made::analysis_of({});
  analysis.kvm = KvmRates{{{"1-2", Change::rate, 1.0, {}, {}}}, false, false};
  for (int i = 0; i < 100'000; ++i) analysis.kvm->vms[0].rates.push_back({"field" + std::to_string(i), 1.0});
  const Json json = checked(rendered::report_of(analysis));
  CHECK(json["snapshots"][0]["kvm"]["vms"][0]["rates"].size() == 512);
  CHECK(json["snapshots"][0]["kvm"]["vms"][0]["fields_left_out"] == true);
}

}  // namespace cozy
