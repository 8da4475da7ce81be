#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collector/policy/pod_cpu.hpp"
#include "collector/render/json_object.hpp"

/// The answers of `cozybracket policy`.
namespace cozy {

/// A file of a cgroup and what is written into it.
using KnobFile = std::pair<std::string, std::string>;

/// In the order in which they are to be written: who weighs comes before what bounds.
std::vector<KnobFile> knob_files_of(const PodKnobs& knobs, int version);

/// A line per number, its name in front: "quota  200000 us". Then a line per file: "v2  cpu.weight  20".
std::string policy_to_text(const PodCpu& pod, const PodKnobs& knobs);

/// What a JSON answer begins with.
JsonObject policy_object(const PodCpu& pod, const PodKnobs& knobs);

std::string policy_to_json(const PodCpu& pod, const PodKnobs& knobs);

}  // namespace cozy
