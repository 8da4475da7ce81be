#include "collector/run/pod_name.hpp"

#include <algorithm>
#include <string_view>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_longest_label = 63;
constexpr std::size_t k_longest_subdomain = 253;
constexpr std::string_view k_small = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view k_large = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view k_digits = "0123456789";

Error refused(const std::string& text, const std::string& reason) {
  return Error{"\"" + escape(text) + "\"", reason, 0};
}

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_alphanumeric(char c) { return is_one_of(c, k_small) || is_one_of(c, k_large) || is_one_of(c, k_digits); }

/// The name of a label, or its value: 63 bytes at most, a letter or a digit at both ends.
bool is_label_word(std::string_view text) {
  if (text.empty() || text.size() > k_longest_label) return false;
  if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || is_one_of(c, "-_."); });
}

/// "kubevirt.io/domain"
bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_word(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_label_word(text.substr(slash + 1));
}

bool is_requirement(std::string_view text) {
  if (const auto absent = after_prefix(text, "!")) return is_label_key(*absent);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return is_label_key(text);
  std::string_view key = text.substr(0, equals);
  std::string_view value = text.substr(equals + 1);
  if (key.ends_with('!'))
    key.remove_suffix(1);
  else if (value.starts_with('='))
    value.remove_prefix(1);
  return is_label_key(key) && (value.empty() || is_label_word(value));
}

}  // namespace

std::string PodTarget::text() const {
  return space + "/" + pod + (container == PodTarget{}.container ? "" : "/" + container);
}

bool is_dns_label(std::string_view text) {
  if (text.empty() || text.size() > k_longest_label || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_one_of(c, k_small) || is_one_of(c, k_digits) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > k_longest_subdomain) return false;
  const auto labels = split_at(text, '.');
  // Of a subdomain only the whole has a longest length, but for what this tool is told that is no matter.
  return std::all_of(labels.begin(), labels.end(), is_dns_label);
}

Result<PodTarget> parse_pod_target(const std::string& text) {
  const auto parts = split_at(text, '/');
  if (parts.size() != 2 && parts.size() != 3) return refused(text, "is not NAMESPACE/POD or NAMESPACE/POD/CONTAINER");
  PodTarget target;
  target.space = parts[0];
  target.pod = parts[1];
  if (parts.size() == 3) target.container = parts[2];
  if (!is_dns_label(target.space)) return refused(target.space, "is no name of a namespace");
  if (!is_dns_subdomain(target.pod)) return refused(target.pod, "is no name of a pod");
  if (!is_dns_label(target.container)) return refused(target.container, "is no name of a container");
  return target;
}

Result<PodLabel> parse_pod_label(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return refused(text, "is not NAMESPACE/LABELS");
  const PodLabel label{text.substr(0, slash), text.substr(slash + 1)};
  if (!is_dns_label(label.space)) return refused(label.space, "is no name of a namespace");
  for (const std::string_view requirement : split_at(label.selector, ',')) {
    if (!is_requirement(requirement)) return refused(std::string(requirement), "is no label, such as KEY=VALUE");
  }
  return label;
}

}  // namespace cozy
