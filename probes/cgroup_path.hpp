#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Where a process's cgroup is, cgroups(7) and Documentation/admin-guide/cgroup-v2.rst. All of it is pure.
namespace cozy {

/// One line of /proc/PID/cgroup: "4:cpu,cpuacct:/lane/vm1", "0::/lane.slice/vm1.scope". Only the first two
/// colons separate: names of cgroups hold colons as well.
struct CgroupLine {
  std::uint64_t hierarchy = 0;           ///< 0 is version 2
  std::vector<std::string> controllers;  ///< of version 1; "name=systemd" has no controller
  std::string path;                      ///< raw bytes, without the kernel's " (deleted)"
  bool deleted = false;                  ///< the cgroup was removed and the process is still counted in it
};

/// Lines that are none are left out.
std::vector<CgroupLine> parse_cgroup_lines(std::string_view text);

/// A cgroup file system that can be reached, from a line of /proc/PID/mountinfo, proc_pid_mountinfo(5).
struct CgroupMount {
  int version = 2;
  std::string point;  ///< raw bytes, the octal escapes taken back
  std::string root;   ///< which directory of the hierarchy is mounted there
  std::vector<std::string> controllers;
};

/// The cgroup mounts in the order of the text, without those that a later mount covers.
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

enum class PlaceState {
  found,
  no_hierarchy,       ///< no line for the controller
  deleted,            ///< the directory was removed
  outside_namespace,  ///< begins with "/..": seen from a cgroup namespace below it
  not_mounted,        ///< no mount shows the hierarchy
  outside_mount,      ///< what is mounted of the hierarchy does not hold the path
};

/// "found", "removed", "outside of the cgroup namespace" ...
std::string_view place_state_name(PlaceState state);

/// The cgroup that carries a controller for a process.
struct CgroupPlace {
  PlaceState state = PlaceState::no_hierarchy;
  int version = 2;
  std::uint64_t hierarchy = 0;
  std::string path;       ///< as the kernel gives it, raw bytes
  std::string below;      ///< the part of the path below the mount: "" for the mount itself, "/a/b"
  std::string mount;      ///< where the hierarchy is mounted
  std::string directory;  ///< mount and below; empty unless found
};

/// By the hierarchy that carries the controller: version 1 where a numbered line names it as a whole member of its
/// list, else version 2. Of several mounts the one that shows the most ancestors counts.
CgroupPlace locate_cgroup(const std::vector<CgroupLine>& lines, const std::vector<CgroupMount>& mounts,
                          std::string_view controller);

/// The cgroup above, up to the mount; state no_hierarchy when there is none that can be seen.
CgroupPlace parent_of(const CgroupPlace& place);

}  // namespace cozy
