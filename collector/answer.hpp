#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/result.hpp"

namespace cozy {

/// Whose answer it is and where it goes.
struct AnswerTo {
  std::string command;               ///< "analyze"
  std::vector<std::string> reports;  ///< what is read; "-" is standard input
  std::string output;                ///< a file, which is written whole or left as it was; "" for stdout
};

/// Makes a text in a process of its own and delivers it, both within a bound. 0, or 1 where there is no answer or it
/// is not taken; the words why, which may be raw, go to the log.
int answer(const AnswerTo& to, const std::function<Result<std::string>()>& work);

}  // namespace cozy
