#include <cerrno>
#include <string>
#include <vector>

#include "probe.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_resources[] = {"cpu", "memory", "io"};

/// A kernel that was built without PSI has no such file; one that was told psi=0 has it and refuses every read.
bool is_off(const Watchdog::Answer& answer) {
  return answer.state == Watchdog::State::failed && (answer.error.code == ENOENT || answer.error.code == EOPNOTSUPP);
}

}  // namespace

/// /proc/pressure/{cpu,memory,io}, verbatim. Documentation/accounting/psi.rst.
void run_runner_pressure(const ProbeContext& context, Sink& sink) {
  constexpr std::size_t k_cap = 4096;
  std::vector<Watchdog::Request> requests;
  for (const std::string_view resource : k_resources) {
    requests.push_back({context.root.path("proc/pressure/" + std::string(resource)), Watchdog::What::record, k_cap});
  }
  const std::vector<Watchdog::Answer> answers = context.watchdog.read(std::move(requests));
  std::vector<std::string> off;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string path = "/proc/pressure/" + std::string(k_resources[i]);
    const Watchdog::Answer& answer = answers[i];
    if (is_off(answer)) {
      off.push_back(path + ": " + (answer.error.code == ENOENT ? "no such file" : errno_text(answer.error.code)));
    } else if (!answer.ok()) {
      sink.not_read(path, answer);
    } else {
      sink.line("[" + path + "]");
      sink.text(answer.file.text);
      if (!answer.file.text.empty() && answer.file.text.back() != '\n') sink.line("");
      if (answer.file.cut) sink.line("[walk cut: " + path + " is longer than " + std::to_string(k_cap) + " bytes]");
    }
  }
  if (off.empty()) return;
  const std::string words = "PSI is off: " + join(off, "; ");
  if (off.size() == answers.size())
    sink.line("NO-PSI: " + words);
  else
    sink.note(words);
}

}  // namespace cozy
