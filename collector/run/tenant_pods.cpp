#include "collector/run/tenant_pods.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "probes/text.hpp"

namespace cozy {

namespace {

std::string first_message(const ChildOutput& output) {
  constexpr std::size_t k_longest = 300;
  for (const std::string_view line : split_lines(output.messages)) {
    const std::string_view words = trim(line);
    if (!words.empty()) return ": " + make_line(words.substr(0, k_longest));
  }
  return "";
}

std::vector<std::string> list_command(const std::string& kubectl, const PodLabel& label) {
  return {kubectl,
          "get",
          "pods",
          "--namespace=" + label.space,
          "--selector=" + label.selector,
          "--field-selector=status.phase=Running",
          "--output=name"};
}

}  // namespace

std::string unreached_words(const ChildOutput& output, std::int64_t timeout_ns) {
  const std::string message = first_message(output);
  const std::string seconds = fixed(static_cast<double>(timeout_ns) / 1e9, timeout_ns % k_ns_per_second == 0 ? 0 : 3);
  if (const auto* exited = std::get_if<Exited>(&output.end)) {
    if (exited->status == 0) return "answered nothing: kubectl exited 0 and not one line came" + message;
    if (exited->status == 126 || exited->status == 127)
      return "not run: kubectl exited " + std::to_string(exited->status) +
             ", as where the container has no sh that can be run" + message;
    return "not reached: kubectl exited " + std::to_string(exited->status) + message;
  }
  if (const auto* ended = std::get_if<EndedHere>(&output.end); ended && ended->why == EndedHere::Why::deadline)
    return "not reached: no answer within " + seconds + " s" + message;
  if (const auto* missing = std::get_if<NotStarted>(&output.end))
    return "not reached: kubectl was not started: " + missing->error.text();
  return "not reached: kubectl " + child_end_words(output.end) + message;
}

std::vector<PodTarget> parse_pod_names(const std::string& space, std::string_view text) {
  std::vector<PodTarget> pods;
  for (const std::string_view line : split_lines(text)) {
    const auto name = after_prefix(trim(line), "pod/");
    if (name && is_dns_subdomain(*name)) pods.push_back({space, std::string(*name)});
  }
  return pods;
}

void choose(const std::vector<PodTarget>& found, std::size_t most, ChosenPods& chosen) {
  constexpr std::size_t k_most_left_out = 4096;
  const auto has = [](const auto& list, const PodTarget& pod) {
    return std::find(list.begin(), list.end(), pod) != list.end();
  };
  for (const PodTarget& pod : found) {
    if (has(chosen.pods, pod) || has(chosen.left_out, pod)) continue;
    if (chosen.pods.size() < most)
      chosen.pods.push_back(pod);
    else if (chosen.left_out.size() < k_most_left_out)
      chosen.left_out.push_back(pod);
  }
}

ChosenPods choose_pods(const TenantOptions& options, const std::string& kubectl, const ChildBound& bound) {
  ChosenPods chosen;
  choose(options.pods, options.max_pods, chosen);
  std::vector<std::vector<std::string>> commands;
  for (const PodLabel& label : options.labels) commands.push_back(list_command(kubectl, label));
  std::vector<ChildOutput> lists(commands.size());
  run_children(commands, bound, [&](std::size_t i, ChildOutput output) { lists[i] = std::move(output); });
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const PodLabel& label = options.labels[i];
    const std::string what = "pods of " + label.space + "/" + label.selector + ": ";
    const auto* exited = std::get_if<Exited>(&lists[i].end);
    const bool answered = exited != nullptr && exited->status == 0;
    const std::vector<PodTarget> found = parse_pod_names(label.space, lists[i].text);
    if (!answered)
      chosen.shortfalls.push_back(what + unreached_words(lists[i], bound.timeout_ns));
    else if (found.empty())
      chosen.shortfalls.push_back(what + "the cluster answered, and no Running pod has these labels");
    choose(found, options.max_pods, chosen);
  }
  return chosen;
}

}  // namespace cozy
