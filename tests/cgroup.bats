#!/usr/bin/env bats
# The nodes' cgroups on this machine, with quotas of our own on real guests.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  lane_setup
  CGROUPS=()
}

teardown() {
  lane_teardown
  cozy_teardown
  local i
  for ((i = ${#CGROUPS[@]} - 1; i >= 0; i--)); do eventually rmdir "${CGROUPS[i]}"; done
}

# Where the CPU controller is: version 1, else version 2 where it can be given to a cgroup of ours.
cpu_hierarchy() {
  need_root "a CPU quota"
  CPU=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
  VERSION=1
  [[ -z $CPU ]] || return 0
  VERSION=2
  CPU=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  grep -qw cpu "$CPU/cgroup.controllers" 2>/dev/null || skip "no CPU controller to set a quota with"
  grep -qw cpu "$CPU/cgroup.subtree_control" || skip "the CPU controller is not given to cgroups here"
}

make_cgroup() { # PATH-BELOW-THE-MOUNT
  mkdir "$CPU/$1" 2>/dev/null || skip "no cgroup can be made here"
  CGROUPS+=("$CPU/$1")
}

set_quota() { # PATH-BELOW-THE-MOUNT USEC
  if [[ $VERSION == 1 ]]; then
    echo "$2" >"$CPU/$1/cpu.cfs_quota_us"
  else
    echo "$2 100000" >"$CPU/$1/cpu.max" || skip "no CPU controller to set a quota with"
  fi
}

bracket() { # SHELL-WORDS
  run -0 --separate-stderr "$COZYBRACKET" run --sandbox "$SANDBOX" --report-dir "$REPORT" -- sh -c "$1"
  log=$stderr
}

node_json() { # NAME
  "$COZYBRACKET" analyze "$REPORT" --format json | awk -v name="$1" '
    index($0, "\"name\": \"" name "\"") { on = 1 }
    on && /"name": "srv/ && !index($0, "\"" name "\"") { on = 0 }
    on { print }'
}

@test "a quota on one node: it was throttled, in its periods, and no other node was" {
  cpu_hierarchy
  nodes --nodes 3 --roles halt,spin,halt
  local name=cozy-cgroup-$$ line
  make_cgroup "$name"
  set_quota "$name" 30000
  pid_of srv2 >"$CPU/$name/cgroup.procs"
  bracket 'sleep 4'
  line=$(grep '^cozybracket: finding node-throttled' <<<"$log") || fail "$log"
  [[ $line =~ 'srv2 was throttled by its CPU quota in '([0-9]+)' of '([0-9]+)' periods (quota 30000 us per 100000 us)' ]] ||
    fail "$line"
  # 4 s of periods of 100 ms, and the guest spins in all of them; the machine can be busy with other things.
  [[ ${BASH_REMATCH[2]} -ge 20 && ${BASH_REMATCH[1]} -ge 10 && ${BASH_REMATCH[1]} -le ${BASH_REMATCH[2]} ]] ||
    fail "$line"
  assert_equal "$(grep -c '^cozybracket: finding node-throttled' <<<"$log")" 1
  [[ $line != *srv1* && $line != *srv3* ]] || fail "$line"
  grep -q '^cozybracket: srv2 2 vcpus: .* throttled [0-9.]*% ' <<<"$log" || fail "$log"
  ! grep -q '^cozybracket: srv[13] .* throttled' <<<"$log" || fail "not configured, and yet said: $log"
  ! grep -q '^cozybracket: finding nodes\?-waited' <<<"$log" || fail "the quota explains the waiting: $log"
  run -0 "$COZYBRACKET" analyze "$REPORT"
  assert_output --partial "srv2 cgroup /$name (v$VERSION): quota 30000 us per 100000 us (0.30 CPUs), throttled in "
  run -0 node_json srv2
  assert_output --partial '"quota": "set"'
  assert_output --partial '"quota_usec": 30000'
}

@test "the quota of a cgroup above the node's own: that cgroup is named" {
  cpu_hierarchy
  nodes --nodes 2 --roles spin,halt
  local name=cozy-cgroup-$$ line
  make_cgroup "$name"
  if [[ $VERSION == 2 ]]; then echo +cpu >"$CPU/$name/cgroup.subtree_control"; fi
  make_cgroup "$name/own"
  set_quota "$name" 30000
  pid_of srv1 >"$CPU/$name/own/cgroup.procs"
  bracket 'sleep 4'
  line=$(grep '^cozybracket: finding node-throttled' <<<"$log") || fail "$log"
  [[ $line == *"srv1 was throttled by the CPU quota of /$name, above its own cgroup, in "* ]] || fail "$line"
  run -0 "$COZYBRACKET" analyze "$REPORT"
  assert_output --partial "srv1 cgroup /$name/own (v$VERSION): no quota"
}

@test "two nodes in one cgroup under a quota: it is of both together" {
  cpu_hierarchy
  nodes --nodes 3 --roles spin,spin,halt
  local name=cozy-cgroup-$$ line
  make_cgroup "$name"
  set_quota "$name" 40000
  pid_of srv1 >"$CPU/$name/cgroup.procs"
  pid_of srv2 >"$CPU/$name/cgroup.procs"
  bracket 'sleep 4'
  line=$(grep '^cozybracket: finding node-throttled' <<<"$log") || fail "$log"
  [[ $line == *"srv1, srv2 share the cgroup /$name, which its CPU quota throttled in "* ]] || fail "$line"
  [[ $line == *"of nobody alone"* && $line != *srv3* ]] || fail "$line"
  assert_equal "$(grep -c '^cozybracket: finding node-throttled' <<<"$log")" 1
  grep -q '^cozybracket: srv1 .* throttled absent (a cgroup of several nodes)' <<<"$log" || fail "$log"
}

@test "a cgroup that is removed and made again under its name: no difference" {
  cpu_hierarchy
  nodes --nodes 1 --roles spin
  local name=cozy-cgroup-$$ pid
  make_cgroup "$name"
  pid=$(pid_of srv1)
  echo "$pid" >"$CPU/$name/cgroup.procs"
  bracket "sleep 1; echo $pid >$CPU/cgroup.procs; until rmdir $CPU/$name; do sleep 0.1; done; mkdir $CPU/$name
    echo $pid >$CPU/$name/cgroup.procs; sleep 1"
  run -0 "$COZYBRACKET" analyze "$REPORT"
  assert_output --regexp "srv1 cgroup /$name: absent +\(recreated: it was removed and made again\)"
  [[ $log != *1844674407* ]] || fail "$log"
}

@test "no quota anywhere: nothing is said to be throttled, and nothing is missing" {
  nodes --nodes 1 --roles halt
  bracket 'sleep 1'
  ! grep -q throttled <<<"$log" || fail "$log"
  ! grep -q 'shortfall sandbox-vm-cgroup-cpu' <<<"$log" || fail "$log"
}

@test "what the kernel accepts as a quota: from 1000 us on" {
  cpu_hierarchy
  local name=cozy-cgroup-$$ file value
  make_cgroup "$name"
  file=$CPU/$name/cpu.max value=' 100000'
  if [[ $VERSION == 1 ]]; then file=$CPU/$name/cpu.cfs_quota_us value=; fi
  [[ -e $file ]] || skip "no CPU controller to set a quota with"
  run -1 bash -c 'echo "$1" >"$2"' - "999$value" "$file"
  assert_output --partial 'Invalid argument'
  run -0 bash -c 'echo "$1" >"$2"' - "1000$value" "$file"
}
