#include "probes/thread_stat.hpp"

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

void thread_stat(std::string_view bytes) {
  const std::string line = thread_stat_line(bytes);
  require_harmless_line(line);
  if (const auto vcpu = vcpu_of_name(bytes)) {
    require(bytes == "CPU " + std::to_string(*vcpu) + "/KVM", "a vCPU's number has one name");
  }
  const auto stat = parse_thread_stat(bytes);
  if (!stat) return require_harmless_line(stat.error().text());
  require(bytes.find("(" + stat->comm + ")") != std::string_view::npos, "the name stands in the text");
  // As a line of a capture, where the name is escaped, it says the same.
  const auto again = parse_thread_stat(line + "\n");
  require(again.ok(), "the line of a capture can be parsed");
  require(unescape(again->comm) == stat->comm, "the line of a capture has the name");
  require(again->tid == stat->tid && again->flags == stat->flags && again->utime_ticks == stat->utime_ticks &&
              again->stime_ticks == stat->stime_ticks && again->start_ticks == stat->start_ticks,
          "the line of a capture has the numbers");
}

}  // namespace cozy::fuzz
