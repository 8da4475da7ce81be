#include "tests/probes/support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cozy::test {

std::string case_path(std::string_view id, std::string_view file) {
  return std::string(COZY_FIXTURES) + "/cases/" + std::string(id) + "/" + std::string(file);
}

std::string case_text(std::string_view id, std::string_view file) {
  const auto text = read_file(FileCalls::system(), case_path(id, file), FileShape::stream, 1UL << 24U);
  return text ? text->text : "no such file: " + text.error().text();
}

TemporaryTree::TemporaryTree() {
  std::string name = std::filesystem::temp_directory_path() / "cozy-test-XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) directory_ = name;
}

TemporaryTree::~TemporaryTree() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::string TemporaryTree::path(std::string_view relative) const { return directory_ + "/" + std::string(relative); }

void TemporaryTree::write(std::string_view relative, std::string_view text) const {
  const std::filesystem::path file = path(relative);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

Watchdog::Bounds patient() { return {60 * k_ns_per_second, 120 * k_ns_per_second}; }
Watchdog::Bounds impatient() { return {400 * k_ns_per_ms, 120 * k_ns_per_second}; }

ProbeRun run_on(std::string_view probe, const std::string& root, FakeCalls& calls, Watchdog::Bounds bounds) {
  const Probe* found = find_probe(probe);
  ProbeRun run;
  if (found == nullptr) return run;
  StringSink sink;
  Watchdog watchdog(calls, bounds);
  found->run({Root(root), root + "/sandbox", {}, calls, watchdog}, sink);
  sink.flush();
  run.text = sink.content;
  run.reading = found->parse(run.text);
  run.abandoned = watchdog.abandoned();
  return run;
}

ProbeRun run_on(std::string_view probe, const std::string& root) {
  FakeCalls calls(root);
  return run_on(probe, root, calls);
}

bool mentions(const std::vector<std::string>& words, std::string_view part) {
  for (const std::string& word : words) {
    if (word.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string stat_line(std::string_view tid, std::string_view comm, std::string_view utime, std::string_view start,
                      std::string_view flags) {
  return std::string(tid) + " (" + std::string(comm) + ") S 1 30 30 0 -1 " + std::string(flags) + " 912 0 0 0 " +
         std::string(utime) + " 3 0 0 20 0 4 0 " + std::string(start) +
         " 26843545600 3145728 18446744073709551615 1 1 0 0 0 0 0 4096 17442 0 0 0 -1 3 0 0 0 7 0 0 0 0 0 0 0 0 0\n";
}

}  // namespace cozy::test
