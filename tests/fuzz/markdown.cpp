#include "collector/render/markdown.hpp"

#include "collector/render/step_summary.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

void markdown(std::string_view bytes) {
  const std::string text = to_markdown(analysis_of_sections(bytes));
  require_harmless_text(text);
  // Beside a summary that has filled its file but for half of what is to come.
  const std::uint64_t room = text.size() / 2 + 300;
  if (room >= k_step_summary_limit) return;
  const auto part = fit_step_summary(text, k_step_summary_limit - room);
  if (!part) return;
  require(part->size() <= room, "what is appended has room");
  require_harmless_text(*part);
}

}  // namespace cozy::fuzz
