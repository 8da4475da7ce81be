#pragma once

#include <string>
#include <vector>

namespace cozy {

/// The texts of the options as they were given, before they are looked at.
struct Given {
  std::string report_dir;
  std::string snapshot;
  std::string sandbox;
  std::vector<std::string> nodes;
  std::string read_timeout;
  std::string read_grace;
  std::string only;
  std::string interval;
  std::string max_duration;
  std::string while_pid;
  std::string root;
  std::string output;
  std::string sample;
  std::string probe;
  std::string report;
  std::string green;
  std::string red;
  std::string one_snapshot;
  std::string format;
  bool explain = false;
  bool once = false;
  bool no_summary = false;
  std::string request;
  std::string limit;
  std::string formula;
  std::string audit;
  std::vector<std::string> pods;
  std::vector<std::string> labels;
  std::string max_pods;
  std::string kubectl;
};

}  // namespace cozy
