#include "collector/render/page_template.hpp"

#include <array>

#include "collector/report/inflate.hpp"

namespace cozy {

Result<std::string> page_template(const EmbeddedPage& page) {
  constexpr std::size_t k_step = 64UL * 1024;
  if (page.packed.empty()) {
    return Error{"--format html",
                 "this cozybracket was built without the page: " + std::string(page.missing) +
                     "; build it where npm works (hack/setup --build, then hack/build-static), or "
                     "take --format markdown, which has the same analysis",
                 0};
  }
  Inflater inflater(Inflater::Format::gzip);
  std::string text;
  std::string_view rest = page.packed;
  std::array<char, k_step> room{};
  while (inflater.state() == Inflater::State::open) {
    const Inflater::Step step = inflater.step(rest, room.data(), room.size());
    rest.remove_prefix(step.taken);
    text.append(room.data(), step.made);
  }
  if (inflater.state() == Inflater::State::damaged) return Error{"the page built in", inflater.error(), 0};
  return text;
}

}  // namespace cozy
