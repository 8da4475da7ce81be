#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/cli.hpp"

namespace cozy {

/// The texts of the options about tenant workers.
struct TenantTexts {
  const std::vector<std::string>& pods;
  const std::vector<std::string>& labels;
  const std::string& max_pods;
  const std::string& kubectl;
};

/// Turns the texts of options and environment variables into an invocation. An option that is given beats the
/// variable, and that beats what stands in the place. The first refusal of an option stays; a variable that is
/// refused is a warning.
class OptionReader {
 public:
  explicit OptionReader(Invocation& invocation) : invocation_(invocation) {}

  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  void text(const std::string& option, const char* variable, std::string& place);
  void folder(const std::string& option, const char* variable, std::string& place);
  void seconds(const char* flag, const std::string& option, const char* variable, bool zero, std::int64_t& place);
  /// Of the timeline: 0, or not shorter than a tenth of a second.
  void interval(const std::string& option, std::int64_t& place);
  /// Of a recorder: longer than its interval.
  void max_duration(const std::string& option, std::int64_t interval_ns, std::int64_t& place);
  /// The number of a process, or 0 for none.
  void pid(const char* flag, const std::string& option, std::optional<pid_t>& place);
  void nodes(const std::vector<std::string>& given, std::vector<NodeSpec>& place);
  void only(const std::string& given, std::vector<std::string>& place);
  void tenants(const TenantTexts& given, TenantOptions& place);
  void format(const std::string& given, std::span<const Format> formats, Format& place);
  void refuse(const std::string& what, const Error& error, const std::string& way_out);

  static std::string probe_names();

 private:
  void ignore(const char* variable, const Error& error, const std::string& used);

  Invocation& invocation_;
  std::string refusal_;
};

}  // namespace cozy
