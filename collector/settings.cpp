#include "collector/settings.hpp"

#include <algorithm>

#include "probes/clock.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::uint64_t k_longest_s = 86400;

Error refuse(const std::string& text, const std::string& reason) {
  return Error{"\"" + escape(text) + "\"", reason, 0};
}

Result<std::int64_t> checked(const std::string& text, std::int64_t ns, bool zero) {
  if (ns == 0 && !zero) return refuse(text, "must be above 0: without a bound nothing is read");
  if (ns > static_cast<std::int64_t>(k_longest_s) * k_ns_per_second) return refuse(text, "is more than a day");
  return ns;
}

}  // namespace

Result<std::int64_t> parse_seconds(const std::string& text, bool zero) {
  const auto parts = split_at(text, '.');
  const auto whole = parse_u64(parts.front());
  std::string fraction = parts.size() == 2 ? std::string(parts[1]) : "";
  const bool bad_fraction = parts.size() == 2 && (fraction.empty() || fraction.size() > 9);
  fraction.resize(9, '0');
  const auto nanoseconds = parse_u64(fraction);
  if (!whole || parts.size() > 2 || bad_fraction || !nanoseconds) return refuse(text, "is not a number of seconds");
  if (*whole > k_longest_s) return refuse(text, "is more than a day");
  return checked(text, static_cast<std::int64_t>(*whole) * k_ns_per_second + static_cast<std::int64_t>(*nanoseconds),
                 zero);
}

Result<std::int64_t> parse_environment_seconds(const std::string& text, bool zero) {
  if (text.find_first_not_of("0123456789") != std::string::npos || text.empty()) {
    return refuse(text, "is not a whole number of seconds");
  }
  if (text.size() > 1 && text.front() == '0') return refuse(text, "has a leading zero");
  const auto seconds = parse_u64(text);
  if (!seconds || *seconds > k_longest_s) return refuse(text, "is more than a day");
  return checked(text, static_cast<std::int64_t>(*seconds) * k_ns_per_second, zero);
}

Result<std::string> parse_folder_name(const std::string& text) {
  constexpr std::size_t k_longest = 100;
  if (text.empty()) return refuse(text, "is empty");
  if (text == "." || text == ".." || text.find('/') != std::string::npos)
    return refuse(text, "is no name of one folder");
  if (text.size() > k_longest) return refuse(text, "is longer than " + std::to_string(k_longest) + " bytes");
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control) return refuse(text, "holds control characters");
  return text;
}

}  // namespace cozy
