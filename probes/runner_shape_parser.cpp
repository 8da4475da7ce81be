#include "facts.hpp"

namespace cozy {

Reading parse_runner_shape(std::string_view text) { return parse_facts(text); }

}  // namespace cozy
