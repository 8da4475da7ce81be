#include "probes/cgroup_path.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace cozy::fuzz {

/// The lines of a process's cgroup file and of mountinfo, in one text: each reader leaves the other's alone.
void cgroup_path(std::string_view bytes) {
  const auto lines = parse_cgroup_lines(bytes);
  const auto mounts = parse_cgroup_mounts(bytes);
  for (const std::string_view controller : {"cpu", "cpuacct", ""}) {
    CgroupPlace place = locate_cgroup(lines, mounts, controller);
    for (std::size_t levels = 0; place.state == PlaceState::found; ++levels) {
      require(place.mount == "/" || place.directory.starts_with(place.mount),
              "a cgroup lies below the mount that shows it");
      require(place.directory.find("/../") == std::string::npos, "no path leads out of the mount");
      require(levels <= bytes.size(), "the way up ends");
      place = parent_of(place);
    }
    require(place.directory.empty(), "only what was found has a directory");
  }
}

}  // namespace cozy::fuzz
