#include "collector/render/policy_text.hpp"

#include "collector/policy/quantity.hpp"
#include "collector/render/text_layout.hpp"

namespace cozy {

namespace {

using Cells = std::vector<std::string>;

std::string asked(const std::optional<std::uint64_t>& milli) { return milli ? cpu_quantity_text(*milli) : "-"; }

std::string number_or_dash(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string vcpus_origin(const PodCpu& pod) {
  if (pod.limit()) return "the limit in whole CPUs";
  return pod.request() ? "the request in whole CPUs" : "not given: the pod says neither request nor limit";
}

std::string weight_origin(const PodCpu& pod) {
  if (pod.request()) return "of the request";
  return pod.limit() ? "of the limit, since there is no request" : "best effort: the least";
}

std::string class_name(const PodCpu& pod) {
  if (pod.is_best_effort()) return "best effort";
  if (pod.is_burstable()) return "burstable";
  return pod.request() > pod.limit() ? "none: the request is above the limit" : "guaranteed";
}

JsonObject files_to_json(const PodKnobs& knobs, int version) {
  JsonObject json;
  for (const auto& [file, content] : knob_files_of(knobs, version)) json.text(file, content);
  return json;
}

}  // namespace

std::vector<KnobFile> knob_files_of(const PodKnobs& knobs, int version) {
  const std::string period = std::to_string(knobs.period_usec.value_or(k_policy_period_usec));
  if (version == 2) {
    return {{"cpu.weight", std::to_string(knobs.weight)},
            {"cpu.max", (knobs.quota_usec ? std::to_string(*knobs.quota_usec) : "max") + " " + period}};
  }
  return {{"cpu.shares", std::to_string(knobs.shares)},
          {"cpu.cfs_period_us", period},
          {"cpu.cfs_quota_us", knobs.quota_usec ? std::to_string(*knobs.quota_usec) : "-1"}};
}

std::string policy_to_text(const PodCpu& pod, const PodKnobs& knobs) {
  const std::string formula(formula_name(knobs.formula));
  const std::string us = knobs.quota_usec ? " us" : "";
  const std::vector<Cells> rows{
      {"request", asked(pod.request_milli), "CPU"},
      {"limit", asked(pod.limit_milli), "CPU"},
      {"class", class_name(pod), "by CPU alone"},
      {"vcpus", number_or_dash(knobs.vcpus), vcpus_origin(pod)},
      {"quota", number_or_dash(knobs.quota_usec) + us, knobs.quota_usec ? "of the limit" : "no limit, so no quota"},
      {"period", number_or_dash(knobs.period_usec) + us, knobs.quota_usec ? "" : "goes with a quota"},
      {"shares", std::to_string(knobs.shares), weight_origin(pod)},
      {"weight", std::to_string(knobs.weight), formula}};
  std::string text;
  for (const std::string& line : aligned_left(rows)) text += line + "\n";
  std::vector<Cells> files;
  for (const int version : {2, 1}) {
    for (const auto& [file, content] : knob_files_of(knobs, version))
      files.push_back({"v" + std::to_string(version), file, content});
  }
  for (const std::string& line : aligned_left(files)) text += line + "\n";
  for (const std::string& note : knobs.notes) text += "note    " + note + "\n";
  return text;
}

JsonObject policy_object(const PodCpu& pod, const PodKnobs& knobs) {
  JsonObject json;
  json.text("schema", "cozybracket.policy/1");
  json.count("request_milli", pod.request_milli);
  json.count("limit_milli", pod.limit_milli);
  json.text("class", class_name(pod));
  json.count("vcpus", knobs.vcpus);
  json.count("quota_usec", knobs.quota_usec);
  json.count("period_usec", knobs.period_usec);
  json.count("shares", knobs.shares);
  json.count("weight", knobs.weight);
  json.text("formula", formula_name(knobs.formula));
  json.object("v2", files_to_json(knobs, 2));
  json.object("v1", files_to_json(knobs, 1));
  json.texts("notes", knobs.notes);
  return json;
}

std::string policy_to_json(const PodCpu& pod, const PodKnobs& knobs) { return policy_object(pod, knobs).dump(); }

}  // namespace cozy
