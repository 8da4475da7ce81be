#include "collector/option_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "collector/settings.hpp"
#include "probes/node_evidence.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

const char* from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

void OptionReader::text(const std::string& option, const char* variable, std::string& place) {
  if (!option.empty()) {
    place = option;
  } else if (const char* value = from_environment(variable)) {
    place = value;
  }
}

void OptionReader::folder(const std::string& option, const char* variable, std::string& place) {
  if (!option.empty()) {
    const auto name = parse_folder_name(option);
    if (name)
      place = *name;
    else
      refuse("--snapshot", name.error(), "give a plain name, such as --snapshot kubernetes-latest");
  } else if (const char* value = from_environment(variable)) {
    const auto name = parse_folder_name(value);
    if (name)
      place = *name;
    else
      ignore(variable, name.error(), place);
  }
}

void OptionReader::seconds(const char* flag, const std::string& option, const char* variable, bool zero,
                           std::int64_t& place) {
  if (!option.empty()) {
    const auto value = parse_seconds(option, zero);
    if (value)
      place = *value;
    else
      refuse(flag, value.error(), std::string("give seconds, such as ") + flag + " 20");
  } else if (const char* value = from_environment(variable)) {
    const auto parsed = parse_environment_seconds(value, zero);
    if (parsed)
      place = *parsed;
    else
      ignore(variable, parsed.error(), std::to_string(place / k_ns_per_second));
  }
}

void OptionReader::interval(const std::string& option, std::int64_t& place) {
  constexpr std::int64_t k_shortest_ns = 100 * k_ns_per_ms;
  seconds("--interval", option, "COZY_INTERVAL", true, place);
  if (place != 0 && place < k_shortest_ns) {
    refuse("--interval", Error{"\"" + escape(option) + "\"", "is shorter than 0.1", 0},
           "give seconds, such as --interval 1, or 0 for no timeline");
  }
}

void OptionReader::max_duration(const std::string& option, std::int64_t interval_ns, std::int64_t& place) {
  if (option.empty()) return;
  const auto value = parse_seconds(option, false);
  const Error error = value ? Error{"\"" + escape(option) + "\"", "is not longer than the interval", 0} : value.error();
  if (!value || *value <= interval_ns)
    refuse("--max-duration", error, "give seconds, such as --max-duration 3600");
  else
    place = *value;
}

void OptionReader::pid(const char* flag, const std::string& option, std::optional<pid_t>& place) {
  constexpr std::uint64_t k_highest = 1UL << 22U;
  if (option.empty()) return;
  const auto number = parse_u64(option);
  if (number && *number <= k_highest)
    place = static_cast<pid_t>(*number);
  else
    refuse(flag, Error{"\"" + escape(option) + "\"", "is no number of a process", 0},
           std::string("give one such as ") + flag + " \"$PPID\", or 0 for none");
}

void OptionReader::nodes(const std::vector<std::string>& given, std::vector<NodeSpec>& place) {
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size() || !is_node_name(name)) {
      refuse("--node", Error{"\"" + escape(text) + "\"", "is not NAME=PIDFILE", 0},
             "give one such as --node srv1=/workspace/srv1/qemu.pid");
      return;
    }
    place.push_back({name, text.substr(equals + 1)});
  }
}

void OptionReader::only(const std::string& given, std::vector<std::string>& place) {
  if (given.empty()) return;
  for (const std::string_view name : split_at(given, ',')) {
    const Probe* probe = find_probe(name);
    if (probe == nullptr && name == k_tenant_capture) {
      place.emplace_back(name);
      continue;
    }
    if (probe == nullptr) {
      refuse("--only", Error{"\"" + escape(name) + "\"", "is no probe", 0}, "the probes are " + probe_names());
      return;
    }
    place.emplace_back(probe->name);
  }
}

void OptionReader::tenants(const TenantTexts& given, TenantOptions& place) {
  for (const std::string& text : given.pods) {
    const auto pod = parse_pod_target(text);
    if (!pod) return refuse("--pod", pod.error(), "give one such as --pod tenant-test/virt-launcher-worker-x7k2p");
    place.pods.push_back(*pod);
  }
  for (const std::string& text : given.labels) {
    const auto label = parse_pod_label(text);
    if (!label) {
      return refuse("--pods-by-label", label.error(),
                    "give one such as --pods-by-label tenant-test/kubevirt.io=virt-launcher");
    }
    place.labels.push_back(*label);
  }
  if (!given.max_pods.empty()) {
    const auto number = parse_u64(given.max_pods);
    if (!number || *number < 1 || *number > k_most_pods) {
      return refuse("--max-pods", Error{"\"" + escape(given.max_pods) + "\"", "is no number of pods", 0},
                    "it is a whole number from 1 to " + std::to_string(k_most_pods));
    }
    place.max_pods = static_cast<std::size_t>(*number);
  }
  text(given.kubectl, "COZY_KUBECTL", place.kubectl);
}

void OptionReader::refuse(const std::string& what, const Error& error, const std::string& way_out) {
  if (refusal_.empty())
    refusal_ = what + " " + (error.subject.empty() ? "" : error.subject + " ") + error.reason + "; " + way_out;
}

std::string OptionReader::probe_names() {
  std::vector<std::string> names;
  for (const Probe& probe : probes()) names.emplace_back(probe.name);
  return join(names, ", ");
}

void OptionReader::format(const std::string& given, std::span<const Format> formats, Format& place) {
  if (given.empty()) return;
  std::vector<std::string> names;
  for (const Format format : formats) {
    names.emplace_back(format_name(format));
    if (names.back() == given) place = format;
  }
  if (std::find(names.begin(), names.end(), given) != names.end()) return;
  const std::string last = names.back();
  names.pop_back();
  refuse("--format", Error{"\"" + escape(given) + "\"", "is no format of this command", 0},
         "it is " + join(names, ", ") + " or " + last);
}

void OptionReader::ignore(const char* variable, const Error& error, const std::string& used) {
  invocation_.warnings.push_back(std::string("WARNING: ignoring ") + variable + "=" + error.text() + "; the default " +
                                 used + " is used");
}

}  // namespace cozy
