#pragma once

#include <string>
#include <vector>

#include "collector/run/sampler.hpp"

namespace cozy {

/// One line of the doctor's table.
struct Diagnosis {
  std::string source;
  std::string readable;  ///< "yes", "partly", "none", "no"
  std::string why;
  std::string advice;  ///< what to do; "-" where there is nothing to do
};

/// What a read capture says about its source, and what a person can do about it. Pure.
std::vector<Diagnosis> diagnose(const ReadCapture& read);

/// Reads every source once, without writing a report, and prints the table. 0 when every source holds data.
int examine(const SampleOptions& options);

}  // namespace cozy
