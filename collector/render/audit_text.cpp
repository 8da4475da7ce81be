#include "collector/render/audit_text.hpp"

#include <utility>
#include <vector>

#include "collector/render/json_object.hpp"
#include "collector/render/neutral.hpp"
#include "collector/render/policy_text.hpp"
#include "collector/render/text_layout.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr double k_cpus_steps = 1e6;

std::string text_of(const std::optional<Value>& value) { return value ? value_text(*value) : "-"; }

std::string process_text(const NodeAudit& node) {
  return node.pid ? "process " + std::to_string(*node.pid) : "no live process";
}

/// Where a node's cgroup is, or why it is not known.
std::string place_text(const NodeAudit& node) {
  if (!node.unread.empty()) return node.node + "  " + process_text(node) + "  not read: " + node.unread;
  std::string text =
      node.node + "  " + process_text(node) + "  cgroup v" + std::to_string(node.version) + " " + escape(node.path);
  if (!node.tightest.empty() && node.tightest != node.path) text += "  tightest " + escape(node.tightest);
  return text;
}

std::vector<std::string> knob_lines(const Audit& audit) {
  std::vector<std::vector<std::string>> rows{{"node", "knob", "expected", "actual", "effective", "state"}};
  for (const NodeAudit& node : audit.nodes) {
    for (const KnobCheck& check : node.checks) {
      rows.push_back({node.node, check.knob, text_of(check.expected), text_of(check.actual), text_of(check.effective),
                      std::string(knob_state_name(check.state))});
    }
  }
  return rows.size() > 1 ? aligned(rows, true) : std::vector<std::string>();
}

std::string answer_of(const Audit& audit) {
  if (audit.nodes.empty()) return "there is no node to look at: start the nodes first, or name a pid file with --node";
  std::vector<std::string> bad;
  for (const NodeAudit& node : audit.nodes) {
    if (!node.as_asked()) bad.push_back(node.node);
  }
  if (!bad.empty()) return "not as asked: " + join(bad, ", ");
  if (!audit.breaches.empty()) return "not as asked, among the nodes";
  return "as asked: " + std::to_string(audit.nodes.size()) + (audit.nodes.size() == 1 ? " node" : " nodes");
}

std::vector<JsonObject> breaches_to_json(const std::vector<Breach>& breaches) {
  std::vector<JsonObject> list;
  for (const Breach& breach : breaches) {
    JsonObject json;
    json.text("name", breach.name);
    json.text("words", breach.words);
    list.push_back(std::move(json));
  }
  return list;
}

JsonObject check_to_json(const KnobCheck& check) {
  JsonObject json;
  json.text("knob", check.knob);
  json.value("expected", check.expected);
  json.value("actual", check.actual);
  json.value("effective", check.effective);
  json.text("state", knob_state_name(check.state));
  return json;
}

JsonObject node_to_json(const NodeAudit& node) {
  JsonObject json;
  json.text("node", node.node);
  json.count("pid", node.pid);
  json.boolean("as_asked", node.as_asked());
  json.text("unread", node.unread);
  if (node.unread.empty()) json.integer("version", node.version);
  json.bytes("path", node.path);
  json.bytes("tightest", node.tightest);
  json.number("expected_cpus", node.expected_cpus, k_cpus_steps);
  json.number("effective_cpus", node.effective_cpus, k_cpus_steps);
  std::vector<JsonObject> checks;
  for (const KnobCheck& check : node.checks) checks.push_back(check_to_json(check));
  json.objects("knobs", std::move(checks));
  json.objects("breaks", breaches_to_json(node.breaches));
  json.texts("notes", node.notes);
  return json;
}

}  // namespace

std::string audit_to_text(const Audit& audit) {
  std::vector<std::string> lines;
  for (const NodeAudit& node : audit.nodes) lines.push_back(place_text(node));
  for (std::string& line : knob_lines(audit)) lines.push_back(std::move(line));
  for (const NodeAudit& node : audit.nodes) {
    for (const Breach& breach : node.breaches)
      lines.push_back(node.node + "  breaks " + breach.name + ": " + breach.words);
    for (const std::string& note : node.notes) lines.push_back(node.node + "  note: " + note);
  }
  for (const Breach& breach : audit.breaches) lines.push_back("nodes  breaks " + breach.name + ": " + breach.words);
  for (const std::string& note : audit.notes) lines.push_back("note: " + note);
  lines.push_back("audit: " + answer_of(audit));
  std::string text;
  for (const std::string& line : lines) text += neutral_escaped(make_line(line)) + "\n";
  return text;
}

std::string audit_to_json(const PodCpu& pod, const PodKnobs& knobs, const Audit& audit) {
  JsonObject json = policy_object(pod, knobs);
  JsonObject inner;
  inner.boolean("as_asked", audit.as_asked());
  std::vector<JsonObject> nodes;
  for (const NodeAudit& node : audit.nodes) nodes.push_back(node_to_json(node));
  inner.objects("nodes", std::move(nodes));
  inner.objects("breaks", breaches_to_json(audit.breaches));
  inner.texts("notes", audit.notes);
  json.object("audit", std::move(inner));
  return json.dump();
}

}  // namespace cozy
