#include "probes/cgroup_path.hpp"

#include <optional>

#include "probes/text.hpp"
#include "tests/catch.hpp"
#include "tests/probes/support.hpp"

using namespace cozy;
using namespace cozy::test;

namespace {

const CgroupLine* line_of(const std::vector<CgroupLine>& lines, std::uint64_t hierarchy) {
  for (const CgroupLine& line : lines) {
    if (line.hierarchy == hierarchy) return &line;
  }
  return nullptr;
}

CgroupPlace cpu_of(std::string_view cgroup, std::string_view mountinfo) {
  return locate_cgroup(parse_cgroup_lines(cgroup), parse_cgroup_mounts(mountinfo), "cpu");
}

CgroupPlace cpu_of_case(std::string_view id, std::string_view cgroup, std::string_view mountinfo) {
  return cpu_of(case_text(id, cgroup), case_text(id, mountinfo));
}

constexpr std::string_view k_unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

}  // namespace

TEST_CASE("G06: a path holds all behind the second colon", "[cgroup]") {
  const auto a = parse_cgroup_lines(case_text("G06", "cgroup-a.txt"));
  REQUIRE(a.size() == 1);
  CHECK(a[0].hierarchy == 8);
  CHECK(a[0].controllers == std::vector<std::string>{"memory"});
  CHECK(a[0].path == "/foo:bar");
  const auto b = parse_cgroup_lines(case_text("G06", "cgroup-b.txt"));
  REQUIRE(line_of(b, 0) != nullptr);
  CHECK(line_of(b, 0)->controllers.empty());
  CHECK(line_of(b, 0)->path == "/system.slice/kubepods-burstable-pod0123abcd_4567.slice:cri-containerd:89ef00112233");
  const auto c = parse_cgroup_lines(case_text("G06", "cgroup-c.txt"));
  REQUIRE(c.size() == 2);
  CHECK(c[0].controllers == std::vector<std::string>{"name=systemd"});
  CHECK(c[0].path == "/a:b:c");
  CHECK(c[1].path == "/x::y:");
}

TEST_CASE("cgroup lines that are none are left out", "[cgroup]") {
  for (const char* text :
       {"", "\n", "0", "0:", "0::", "x::/a\n", "-1::/a\n", "0::a\n", "4:cpu\n", "::/a\n", "4:/a\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_lines(text).empty());
  }
  CHECK(parse_cgroup_lines("0::/a").size() == 1);  // without its newline
  const auto odd = parse_cgroup_lines("0::/a \x1b[31m\xff\n");
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].path == "/a \x1b[31m\xff");
}

TEST_CASE("G08: a path from outside of the namespace is joined to nothing", "[cgroup]") {
  for (const char* variant : {"cgroup-a.txt", "cgroup-b.txt", "cgroup-c.txt"}) {
    CAPTURE(variant);
    const CgroupPlace place = cpu_of(case_text("G08", variant), k_unified);
    CHECK(place.state == PlaceState::outside_namespace);
    CHECK(place.directory.empty());
    CHECK(parent_of(place).state == PlaceState::no_hierarchy);
  }
  const CgroupPlace d = cpu_of(case_text("G08", "cgroup-d.txt"), k_unified);
  CHECK(d.state == PlaceState::found);
  CHECK(d.path == "/..a/b..");
  CHECK(d.directory == "/sys/fs/cgroup/..a/b..");
}

TEST_CASE("G09: the hierarchy that carries the CPU controller", "[cgroup]") {
  const CgroupPlace a = cpu_of_case("G09", "cgroup-a.txt", "mountinfo-a.txt");
  CHECK(a.state == PlaceState::found);
  CHECK(a.version == 1);
  CHECK(a.hierarchy == 4);
  CHECK(a.path == "/lane/vm1");
  CHECK(a.directory == "/sys/fs/cgroup/cpu,cpuacct/lane/vm1");
  const CgroupPlace b = cpu_of_case("G09", "cgroup-b.txt", "mountinfo-b.txt");
  CHECK(b.version == 2);
  CHECK(b.path == "/lane.slice/vm1.scope");
  CHECK(b.directory == "/sys/fs/cgroup/unified/lane.slice/vm1.scope");
  const CgroupPlace c = cpu_of_case("G09", "cgroup-c.txt", "mountinfo-c.txt");
  CHECK(c.version == 2);
  CHECK(c.directory == "/sys/fs/cgroup/lane.slice/vm1.scope");
  const CgroupPlace d = cpu_of_case("G09", "cgroup-d.txt", "mountinfo-a.txt");
  CHECK(d.version == 1);
  CHECK(d.directory == "/sys/fs/cgroup/cpu,cpuacct");
  CHECK(parent_of(d).state == PlaceState::no_hierarchy);
}

TEST_CASE("G10: a controller is a whole member of the list", "[cgroup]") {
  const auto in = [](const char* file) { return locate_cgroup(parse_cgroup_lines(case_text("G10", file)), {}, "cpu"); };
  CHECK(in("cgroup-a.txt").path == "/x");
  CHECK(in("cgroup-a.txt").hierarchy == 4);
  CHECK(in("cgroup-b.txt").path == "/x");
  CHECK(in("cgroup-c.txt").path == "/only");
  CHECK(in("cgroup-c.txt").hierarchy == 3);
  CHECK(in("cgroup-c.txt").state == PlaceState::not_mounted);
  CHECK(in("cgroup-d.txt").state == PlaceState::no_hierarchy);
  CHECK(in("cgroup-d.txt").path.empty());
  CHECK(in("cgroup-e.txt").state == PlaceState::no_hierarchy);
}

TEST_CASE("a removed cgroup is named so, and not opened", "[cgroup]") {
  const CgroupPlace place = cpu_of("0::/vm 1.scope (deleted)\n", k_unified);
  CHECK(place.state == PlaceState::deleted);
  CHECK(place.path == "/vm 1.scope");
  CHECK(place.directory.empty());
  CHECK(cpu_of("0::/a (deleted)/b\n", k_unified).path == "/a (deleted)/b");
}

TEST_CASE("the escapes of mountinfo are taken back", "[cgroup]") {
  const auto mounts = parse_cgroup_mounts(
      "30 23 0:26 /a\\040b /mnt/c\\011g\\134roup\\012x\\043 rw shared:1 master:2 - cgroup2 none rw\n");
  REQUIRE(mounts.size() == 1);
  CHECK(mounts[0].root == "/a b");
  CHECK(mounts[0].point == "/mnt/c\tg\\roup\nx#");
  CHECK(parse_cgroup_mounts("30 23 0:26 / /mnt/\\04 rw - cgroup2 none rw\n")[0].point == "/mnt/\\04");
}

TEST_CASE("only a part of the hierarchy is mounted", "[cgroup]") {
  const char* mountinfo = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  CHECK(cpu_of("0::/docker/abc/vm1\n", mountinfo).directory == "/sys/fs/cgroup/vm1");
  CHECK(cpu_of("0::/docker/abc\n", mountinfo).directory == "/sys/fs/cgroup");
  CHECK(cpu_of("0::/docker/abcd\n", mountinfo).state == PlaceState::outside_mount);
  CHECK(cpu_of("0::/\n", mountinfo).state == PlaceState::outside_mount);
  CHECK(cpu_of("0::/x\n", "30 23 0:26 /.. /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n").state ==
        PlaceState::outside_mount);
  const CgroupPlace vm = cpu_of("0::/docker/abc/vm1\n", mountinfo);
  CHECK(parent_of(vm).directory == "/sys/fs/cgroup");
  CHECK(parent_of(vm).path == "/docker/abc");
  CHECK(parent_of(parent_of(vm)).state == PlaceState::no_hierarchy);
}

TEST_CASE("of several mounts the one that shows the most ancestors is taken, and none that is covered", "[cgroup]") {
  const std::string part = "40 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  const std::string whole = "41 23 0:26 / /host/cgroup rw - cgroup2 cgroup2 rw\n";
  CHECK(cpu_of("0::/docker/abc/vm1\n", part + whole).directory == "/host/cgroup/docker/abc/vm1");
  CHECK(cpu_of("0::/docker/abc/vm1\n", whole + part).directory == "/host/cgroup/docker/abc/vm1");
  SECTION("a later mount on the same point") {
    const std::string over = "42 41 0:50 / /host/cgroup rw - tmpfs tmpfs rw\n";
    CHECK(cpu_of("0::/docker/abc/vm1\n", whole + over + part).directory == "/sys/fs/cgroup/vm1");
  }
  SECTION("a later mount above") {
    const std::string over = "42 23 0:50 / /host rw - tmpfs tmpfs rw\n";
    CHECK(cpu_of("0::/docker/abc/vm1\n", whole + over + part).directory == "/sys/fs/cgroup/vm1");
  }
  SECTION("a mount that stands on the one above it, wherever its line is") {
    const std::string stands = "41 42 0:26 / /host/cgroup rw - cgroup2 cgroup2 rw\n";
    const std::string below = "42 23 0:50 / /host rw - tmpfs tmpfs rw\n";
    CHECK(cpu_of("0::/a\n", stands + below).directory == "/host/cgroup/a");
  }
  SECTION("a neighbour whose name begins alike covers nothing") {
    const std::string beside = "42 23 0:50 / /host/cg rw - tmpfs tmpfs rw\n";
    CHECK(cpu_of("0::/a\n", whole + beside).directory == "/host/cgroup/a");
  }
}

TEST_CASE("version 1 and its controllers", "[cgroup]") {
  const char* mountinfo =
      "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
      "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
  const char* cgroup = "2:cpuacct:/usage\n1:cpu:/quota\n0::/unified\n";
  const auto place = [&](const char* controller) {
    return locate_cgroup(parse_cgroup_lines(cgroup), parse_cgroup_mounts(mountinfo), controller).directory;
  };
  CHECK(place("cpu") == "/sys/fs/cgroup/cpu/quota");
  CHECK(place("cpuacct") == "/sys/fs/cgroup/cpuacct/usage");
  CHECK(place("memory") == "/sys/fs/cgroup/unified/unified");
}

TEST_CASE("paths that no kernel writes are not joined", "[cgroup]") {
  for (const char* path : {"0:://a\n", "0::/a//b\n", "0::/a/\n", "0::/a/./b\n"}) {
    CAPTURE(path);
    CHECK(cpu_of(path, k_unified).directory.empty());
  }
}

TEST_CASE("mountinfo that is none gives no mount, and any number of lines has an end", "[cgroup]") {
  for (const char* text : {"", "\n", "- cgroup2\n", "1 2 0:1 / /a rw - cgroup2\n", "a b 0:1 / /a rw - cgroup2 c rw\n",
                           "1 2 0:1 / a rw - cgroup2 c rw\n", "1 2 0:1 / /a/../b rw - cgroup2 c rw\n"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_mounts(text).empty());
  }
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = std::to_string(i + 1);
    many += id + " " + std::to_string(i) + " 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  }
  CHECK(parse_cgroup_mounts(many).size() <= 64);
}
