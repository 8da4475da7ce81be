#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

// Every target over its seeds, once, without a fuzzer:  all_targets SEEDS
// One target over some files, such as an input that hack/fuzz has kept:  all_targets TARGET FILE...

namespace {

using cozy::Probe;

struct Target {
  std::string name;
  std::string seeds;
  std::function<void(std::string_view)> run;
};

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  for (const Probe& probe : cozy::probes()) {
    std::string name(probe.name);
    std::replace(name.begin(), name.end(), '-', '_');
    targets.push_back({name, "text", [&probe](std::string_view bytes) { cozy::fuzz::probe_text(probe, bytes); }});
  }
#define FUZZ(name, seeds) targets.push_back({#name, #seeds, cozy::fuzz::name});
#include "tests/fuzz/targets.def"
#undef FUZZ
  return targets;
}

bool run_file(const Target& target, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::fprintf(stderr, "%s: %s\n", target.name.c_str(), path.c_str());  // the last line names what ended it
  target.run(bytes);
  return true;
}

int run_seeds(const std::filesystem::path& directory) {
  for (const Target& target : all_targets()) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory / target.seeds, error)) {
      if (!run_file(target, entry.path())) return 1;
      ++count;
    }
    target.run("");
    std::printf("%s: %zu seeds\n", target.name.c_str(), count);
    if (count == 0) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1) return run_seeds(arguments.front());
  const std::vector<Target> targets = all_targets();
  const auto named = [&](const Target& target) { return !arguments.empty() && target.name == arguments.front(); };
  const auto target = std::find_if(targets.begin(), targets.end(), named);
  if (target == targets.end()) {
    std::fprintf(stderr, "usage: %s SEEDS | TARGET FILE...\n", *argv);
    return 2;
  }
  const bool read = std::all_of(arguments.begin() + 1, arguments.end(),
                                [&](const std::string& file) { return run_file(*target, file); });
  return read ? 0 : 1;
}
