// wait_for_line FILE LINE SECONDS: waits until a file holds a line. 0 found, 124 not by the deadline, 2 usage.
// Linked statically, as a command for `cozybracket run` in a root that holds no shell.

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

bool holds(const char* file, const std::string& wanted) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line == wanted) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: wait_for_line FILE LINE SECONDS\n";
    return 2;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  while (!holds(argv[1], argv[2])) {
    if (std::chrono::steady_clock::now() > deadline) return 124;
    ::usleep(100'000);
  }
  std::cout << "found: " << argv[2] << '\n';
  return 0;
}
