#include "cgroup_path.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_deleted = " (deleted)";
constexpr std::size_t k_most_mounts = 4096;
constexpr std::size_t k_most_cgroup_mounts = 64;

std::vector<std::string> members(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split_at(list, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

bool has_member(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "\040" is a blank: mangle() of fs/proc_namespace.c writes blank, tab, newline, backslash and # so.
std::string unmangle(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3' &&
                         octal(text[i + 2]) && octal(text[i + 3]);
    if (!escaped) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

/// A path that may be joined to a mount: absolute, and no component of it means another directory.
bool is_plain(std::string_view path) {
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  const auto parts = split_at(path.substr(1), '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

bool leads_outside(std::string_view path) {
  const auto parts = split_at(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

/// What of a path stands below a directory, by components; none where it does not.
std::optional<std::string_view> below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path == "/" ? path.substr(1) : path;
  const auto rest = after_prefix(path, directory);
  if (!rest || (!rest->empty() && rest->front() != '/')) return std::nullopt;
  return rest;
}

/// One line of mountinfo: "34 30 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu".
struct MountLine {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::string root;
  std::string point;
  std::string_view type;
  std::string_view options;  ///< of the file system
};

std::optional<MountLine> parse_mount(std::string_view line) {
  const auto words = split_at(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (dash - words.begin() < 6 || words.end() - dash < 4) return std::nullopt;
  const auto id = parse_u64(words[0]);
  const auto parent = parse_u64(words[1]);
  if (!id || !parent) return std::nullopt;
  return MountLine{*id, *parent, unmangle(words[3]), unmangle(words[4]), dash[1], words.back()};
}

/// The lines of mountinfo, in its order.
class MountTable {
 public:
  explicit MountTable(std::string_view mountinfo) {
    for (const std::string_view line : split_lines(mountinfo)) {
      auto mount = parse_mount(line);
      if (!mount || mounts_.size() == k_most_mounts) continue;
      parents_.emplace(mount->id, mount->parent);
      mounts_.push_back(std::move(*mount));
    }
  }

  [[nodiscard]] const std::vector<MountLine>& mounts() const { return mounts_; }

  /// A later mount on the same point, or on a directory above it, covers a mount that does not stand on it.
  [[nodiscard]] bool is_covered(std::size_t i) const {
    for (std::size_t later = i + 1; later < mounts_.size(); ++later) {
      if (below(mounts_[i].point, mounts_[later].point) && !stands_on(mounts_[i], mounts_[later].id)) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool stands_on(const MountLine& upper, std::uint64_t lower) const {
    constexpr int k_deepest = 64;
    std::uint64_t at = upper.parent;
    for (int depth = 0; depth < k_deepest; ++depth) {
      if (at == lower) return true;
      const auto above = parents_.find(at);
      if (above == parents_.end()) return false;
      at = above->second;
    }
    return false;
  }

  std::vector<MountLine> mounts_;
  std::unordered_map<std::uint64_t, std::uint64_t> parents_;
};

constexpr std::array<std::pair<PlaceState, std::string_view>, 6> k_state_names{{
    {PlaceState::found, "found"},
    {PlaceState::no_hierarchy, "in no hierarchy with the controller"},
    {PlaceState::deleted, "removed"},
    {PlaceState::outside_namespace, "outside of this cgroup namespace"},
    {PlaceState::not_mounted, "not mounted here"},
    {PlaceState::outside_mount, "outside of what is mounted of its hierarchy"},
}};

const CgroupLine* line_of(const std::vector<CgroupLine>& lines, std::string_view controller) {
  const CgroupLine* unified = nullptr;
  for (const CgroupLine& line : lines) {
    if (line.hierarchy != 0 && has_member(line.controllers, controller)) return &line;
    if (line.hierarchy == 0 && line.controllers.empty() && unified == nullptr) unified = &line;
  }
  return unified;
}

bool shows(const CgroupMount& mount, int version, std::string_view controller) {
  return mount.version == version && (version == 2 || has_member(mount.controllers, controller));
}

}  // namespace

std::vector<CgroupLine> parse_cgroup_lines(std::string_view text) {
  std::vector<CgroupLine> lines;
  for (const std::string_view line : split_lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto hierarchy = parse_u64(line.substr(0, first));
    std::string_view path = line.substr(second + 1);
    if (!hierarchy || !path.starts_with('/')) continue;
    const bool deleted = path.ends_with(k_deleted);
    if (deleted) path.remove_suffix(k_deleted.size());
    lines.push_back({*hierarchy, members(line.substr(first + 1, second - first - 1)), std::string(path), deleted});
  }
  return lines;
}

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  const MountTable table(mountinfo);
  std::vector<CgroupMount> found;
  for (std::size_t i = 0; i < table.mounts().size() && found.size() < k_most_cgroup_mounts; ++i) {
    const MountLine& mount = table.mounts()[i];
    const bool unified = mount.type == "cgroup2";
    if ((!unified && mount.type != "cgroup") || !is_plain(mount.point) || table.is_covered(i)) continue;
    found.push_back(
        {unified ? 2 : 1, mount.point, mount.root, unified ? std::vector<std::string>() : members(mount.options)});
  }
  return found;
}

std::string_view place_state_name(PlaceState state) {
  for (const auto& [known, name] : k_state_names) {
    if (known == state) return name;
  }
  return "not known";
}

CgroupPlace locate_cgroup(const std::vector<CgroupLine>& lines, const std::vector<CgroupMount>& mounts,
                          std::string_view controller) {
  CgroupPlace place;
  const CgroupLine* line = line_of(lines, controller);
  if (line == nullptr) return place;
  place.version = line->hierarchy == 0 ? 2 : 1;
  place.hierarchy = line->hierarchy;
  place.path = line->path;
  place.state = PlaceState::outside_namespace;
  if (leads_outside(place.path)) return place;
  place.state = PlaceState::deleted;
  if (line->deleted) return place;
  place.state = PlaceState::not_mounted;
  const CgroupMount* best = nullptr;
  for (const CgroupMount& mount : mounts) {
    if (!shows(mount, place.version, controller)) continue;
    if (place.state == PlaceState::not_mounted) place.state = PlaceState::outside_mount;
    if (!is_plain(place.path) || !below(place.path, mount.root)) continue;
    if (best == nullptr || mount.root.size() < best->root.size()) best = &mount;
  }
  if (best == nullptr) return place;
  place.state = PlaceState::found;
  place.below = *below(place.path, best->root);
  place.mount = best->point;
  place.directory = (best->point == "/" ? "" : best->point) + place.below;
  return place;
}

CgroupPlace parent_of(const CgroupPlace& place) {
  CgroupPlace above;
  if (place.state != PlaceState::found || place.below.empty()) return above;
  above = place;
  const auto cut = [](std::string& path) { path.resize(path.rfind('/')); };
  cut(above.below);
  cut(above.directory);
  cut(above.path);
  if (above.path.empty()) above.path = "/";
  return above;
}

}  // namespace cozy
