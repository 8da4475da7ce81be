#include "collector/render/openmetrics.hpp"

#include <set>

#include "probes/text.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

/// Every line is a comment or a sample, the lines of a metric stand together, and no series has a second twice.
void openmetrics(std::string_view bytes) {
  const std::string text = to_openmetrics(analysis_of_sections(bytes));
  require_harmless_text(text);
  require(text.ends_with("# EOF\n"), "the last line says that it is the last");
  std::set<std::string_view> finished;
  std::set<std::string> samples;
  std::string_view current;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("# ")) continue;
    const std::string_view name = line.substr(0, line.find('{'));
    const bool known = name.starts_with("container_cpu_") || name.starts_with("cozybracket_");
    require_for(known && name.size() < line.size(), "a line is a comment or a sample", line);
    if (name != current) {
      require_for(finished.insert(name).second, "a metric's lines stand together", line);
      current = name;
    }
    const std::size_t close = line.rfind('}');
    const auto words = split_words(line.substr(close + 1));
    require_for(words.size() == 1 || words.size() == 2, "a sample has a value and perhaps a time", line);
    require_for(words.size() == 1 || parse_u64(words[1]), "a time is a whole second", line);
    const std::string second(words.size() == 2 ? words[1] : "");
    require_for(samples.insert(std::string(line.substr(0, close)) + second).second, "no second stands twice", line);
  }
}

}  // namespace cozy::fuzz
