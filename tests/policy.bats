#!/usr/bin/env bats
# `cozybracket policy`: knobs of a pod, the audit of live nodes, and nodes that hack/lane starts with such knobs.

bats_require_minimum_version 1.5.0
load support

setup() {
  cozy_setup
  LANE=$COZY_SOURCE/hack/lane
  SANDBOX=$BATS_TEST_TMPDIR/sandbox
}

teardown() {
  [[ ! -e $SANDBOX/lane.state ]] || "$LANE" down --sandbox "$SANDBOX"
  [[ -z ${SCOPE:-} || ! -d $SCOPE ]] || rmdir "$SCOPE"
  cozy_teardown
}

policy() { "$COZYBRACKET" policy "$@"; }

# A machine with cgroup v2, two nodes in scopes of their own, and their sandbox.
make_nodes() { # DIR
  local name pid=811 scope
  local fields='S 1 812 812 0 -1 4194304 1 0 0 0 1012 345 0 0 20 0 1 0 88115 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 0 512 0 0 0 0 0 0 0 0 0'
  mkdir -p "$1/proc/self"
  echo '35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw' >"$1/proc/self/mountinfo"
  echo '0::/elsewhere' >"$1/proc/self/cgroup"
  echo 'btime 1755760000' >"$1/proc/stat"
  for name in srv1 srv2; do
    scope=$1/sys/fs/cgroup/lane.slice/vm-$name.scope
    mkdir -p "$1/proc/$pid" "$1/sandbox/$name" "$scope"
    echo qemu-system-x86 >"$1/proc/$pid/comm"
    printf 'qemu-system-x86_64\0-name\0guest=%s,debug-threads=on\0' "$name" >"$1/proc/$pid/cmdline"
    echo "$pid (qemu-system-x86) $fields" >"$1/proc/$pid/stat"
    echo "0::/lane.slice/vm-$name.scope" >"$1/proc/$pid/cgroup"
    echo "$pid" | tee "$1/sandbox/$name/qemu.pid" >"$scope/cgroup.procs"
    echo 200000 100000 >"$scope/cpu.max"
    echo 0 >"$scope/cpu.max.burst"
    echo 20 >"$scope/cpu.weight"
    pid=$((pid + 1))
  done
  echo max 100000 >"$1/sys/fs/cgroup/lane.slice/cpu.max"
}

audit() { policy --request 500m --limit 2 --root "$BATS_TEST_TMPDIR/tree" --audit "$BATS_TEST_TMPDIR/tree/sandbox" "$@"; }

# --- knobs --------------------------------------------------------------------

@test "a request and a limit as vCPUs, quota, period and weight, by their names" {
  run -0 --separate-stderr policy --request 500m --limit 2
  assert_line --regexp '^vcpus +2 '
  assert_line --regexp '^quota +200000 us '
  assert_line --regexp '^period +100000 us'
  assert_line --regexp '^weight +20 +linear$'
  assert_line --regexp '^v2 +cpu.max +200000 100000$'
  assert_line --regexp '^v2 +cpu.weight +20$'
  assert_line --regexp '^v1 +cpu.cfs_quota_us +200000$'
  assert_line --regexp '^v1 +cpu.shares +512$'
  assert_equal "$stderr" ""
}

@test "the quadratic formula, no limit, neither, and the least quota" {
  run -0 policy --request 500m --formula quadratic
  assert_line --regexp '^weight +59 +quadratic$'
  assert_line --regexp '^quota +- +no limit'
  assert_line --regexp '^v2 +cpu.max +max 100000$'
  assert_line --regexp '^v1 +cpu.cfs_quota_us +-1$'
  run -0 policy
  assert_line --regexp '^vcpus +- '
  assert_line --regexp '^weight +1 +linear$'
  run -0 policy --limit 1m
  assert_line --regexp '^quota +1000 us '
  assert_line --partial 'the least that the kernel accepts is 1000 us'
}

@test "one amount in every spelling is one answer" {
  local spelling expected
  expected=$(policy --limit 500m --format json)
  for spelling in 0.5 .5 5e-1 5E-1 +0.5 500000u 500000000n 0.0005k 50e-2; do
    run -0 policy --limit "$spelling" --format json
    assert_output "$expected"
  done
  run -0 policy --request 1k
  assert_line --regexp '^vcpus +1000 '
}

@test "the JSON leaves out what is not given" {
  run -0 --separate-stderr policy --request 500m --limit 2 --format json
  for field in '"schema": "cozybracket.policy/1"' '"vcpus": 2' '"quota_usec": 200000' '"period_usec": 100000' \
    '"weight": 20' '"formula": "linear"' '"cpu.max": "200000 100000"'; do
    assert_output --partial "$field"
  done
  run -0 policy --request 500m --format json
  refute_output --partial quota_usec
  refute_output --partial limit_milli
}

@test "a bad quantity is refused by name: option, value, reason, way out" {
  local bad
  for bad in 1e3m abc '1 ' '' -1 -500m 1K 1.2.3 1e 1E 99999999999999999999 0x10 '500 m' ∞; do
    run -2 --separate-stderr policy --limit="$bad"
    assert_equal "$output" ""
    [[ $stderr == *--limit* && $stderr == *'policy --help'* ]] || fail "of '$bad': $stderr"
  done
  run -2 --separate-stderr policy --limit -500m
  [[ $stderr == *--limit* ]] || fail "$stderr"
  run -2 --separate-stderr policy --request 1e3m --limit 2
  [[ $stderr == *'--request "1e3m" has an exponent and "m" behind it'*'such as --request 500m'* ]] || fail "$stderr"
  run -2 --separate-stderr policy --limit 1P
  [[ $stderr == *'--limit "1P" is too large'* ]] || fail "$stderr"
  run -2 --separate-stderr policy --formula cubic
  [[ $stderr == *'--formula "cubic" is no formula; it is linear or quadratic'* ]] || fail "$stderr"
  run -2 --separate-stderr policy --format markdown
  [[ $stderr == *'--format "markdown"'*'text or json'* ]] || fail "$stderr"
  run -2 --separate-stderr policy --node srv1=/x/qemu.pid
  [[ $stderr == *'--node is of use to an audit alone'* ]] || fail "$stderr"
}

# --- the audit ----------------------------------------------------------------

@test "an audit of knobs that are as asked ends with 0" {
  make_nodes tree
  run -0 --separate-stderr audit
  assert_line --regexp '^srv1 +process 811 +cgroup v2 /lane.slice/vm-srv1.scope$'
  assert_line --regexp '^srv1 +quota +200000 +200000 +200000 +as asked$'
  assert_line --regexp '^srv2 +period +100000 +100000 +100000 +as asked$'
  assert_line --regexp '^srv2 +weight +20 +20 +20 +as asked$'
  assert_line 'audit: as asked: 2 nodes'
  refute_output --partial breaks
}

@test "a rounded-up request that caps a burstable VM is named, with and without a limit" {
  make_nodes tree
  echo 100000 100000 >tree/sys/fs/cgroup/lane.slice/vm-srv1.scope/cpu.max
  run -1 audit
  assert_line --regexp '^srv1 +quota +200000 +100000 +100000 +differs$'
  assert_line --regexp '^srv1 +breaks request-as-quota: .*caps a burstable VM'
  assert_line 'audit: not as asked: srv1'
  run -1 policy --request 500m --root tree --audit tree/sandbox --node srv1=tree/sandbox/srv1/qemu.pid
  assert_line --regexp '^srv1 +quota +max +100000 +100000 +differs$'
  assert_line --regexp '^srv1 +breaks request-as-quota: the request of 500m was rounded up to 1 CPU'
}

@test "an ancestor's quota is what is effective" {
  make_nodes tree
  echo 150000 100000 >tree/sys/fs/cgroup/lane.slice/cpu.max
  run -1 audit
  assert_line --regexp '^srv2 +process 812 .* tightest /lane.slice$'
  assert_line --regexp '^srv2 +quota +200000 +200000 +150000 +as asked$'
  assert_line --regexp '^srv2 +breaks ancestor-below-limit: /lane.slice allows 1.5 CPUs'
}

@test "weights of two formulas in one slice, a missing file and a shared cgroup are named" {
  make_nodes tree
  echo 59 >tree/sys/fs/cgroup/lane.slice/vm-srv1.scope/cpu.weight
  run -1 audit
  assert_line --regexp '^srv1 +breaks other-formula: weight 59 \(quadratic\), not the 20 \(linear\)'
  assert_line --regexp '^nodes +breaks mixed-weights: .*srv1 59 \(quadratic\), srv2 20 \(linear\): 59 to 20$'
  rm tree/sys/fs/cgroup/lane.slice/vm-srv1.scope/cpu.{max,weight,max.burst}
  run -1 audit
  assert_line --regexp '^srv1 +quota +200000 +- +- +not read$'
  assert_line --regexp '^srv1 +breaks no-cpu-controller: '
  echo '0::/lane.slice/vm-srv2.scope' >tree/proc/811/cgroup
  run -1 audit
  assert_line --regexp '^srv1 +breaks no-own-scope: .* also that of srv2: requests weigh nothing'
  assert_line --regexp '^srv2 +weight +20 +20 +- +as asked$'
}

@test "the audit's JSON, a node without a process, and a sandbox without nodes" {
  make_nodes tree
  run -0 --separate-stderr audit --format json
  assert_output --partial '"as_asked": true'
  assert_output --partial '"path": "/lane.slice/vm-srv2.scope"'
  rm -r tree/proc/812
  run -1 audit
  assert_line --regexp '^srv2 +no live process +not read: '
  run -1 --separate-stderr audit --format json
  assert_output --partial '"unread": "no live process was found for it"'
  run -1 policy --root tree/none --audit tree/none
  assert_line --partial 'audit: there is no node to look at'
}

@test "a guest of another sandbox is none of this one's nodes" {
  make_nodes tree
  rm -r tree/sandbox/srv2
  run -0 audit
  assert_line 'audit: as asked: 1 node'
  assert_line 'note: left out: process 812, by its guest name srv2: no pid file of that node is known here'
  run -0 policy --request 500m --limit 2 --root tree --audit tree/sandbox --node srv1=tree/sandbox/srv1/qemu.pid
  refute_line --regexp '^srv2'
  mv tree/sandbox/srv1 tree/sandbox/other
  run -0 audit
  assert_line 'audit: as asked: 2 nodes'
}

@test "what an earlier lane has left in the sandbox is no node" {
  make_nodes tree
  mkdir tree/sandbox/srv3
  run -0 audit
  assert_line 'note: left out: srv3, which has neither a pid file nor a process'
  assert_line 'audit: as asked: 2 nodes'
}

@test "names of cgroups are bytes from outside" {
  make_nodes tree
  printf '0::/lane.slice/x\e[2J::error::y\n' >tree/proc/811/cgroup
  run -1 audit
  refute_output --partial $'\e'
  refute_output --partial '::error::'
  run -1 audit --format json
  refute_output --partial '::error::'
}

# --- live nodes with such knobs -----------------------------------------------

need_scopes() {
  need_root "a cgroup per node"
  command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64; hack/setup --lane installs it"
  # shellcheck source=../hack/lib/scope.sh
  source "$COZY_SOURCE/hack/lib/scope.sh"
  say() { echo "$*"; }
  choose_scope_parents 0-probe >no-scopes || skip "$(cat no-scopes)"
  mkdir "${scope_parents[0]}" 2>/dev/null || skip "no cgroup can be made in ${scope_parents[0]%/*}"
  rmdir "${scope_parents[0]}"
}

scopes() { awk '$1 == "scope" { print $2 }' "$SANDBOX/lane.state"; }
scope_dir() { scopes | grep -m 1 "/vm-$1.scope\$"; }
quota_file() { [[ -e $(scope_dir "$1")/cpu.max ]] && echo cpu.max || echo cpu.cfs_quota_us; }

@test "hack/lane starts each node inside a scope with these knobs; a knob changed by hand is named" {
  need_scopes
  "$LANE" up --sandbox "$SANDBOX" --binary "$COZYBRACKET" --request 500m --limit 2 --nodes 2 --roles spin,halt
  run -0 policy --request 500m --limit 2 --audit "$SANDBOX"
  assert_line --regexp '^srv1 +process [0-9]+ +cgroup v[12] /.*vm-srv1.scope'
  assert_line --regexp '^srv2 +quota +200000 +200000 +[0-9]+ +as asked$'
  assert_line 'audit: as asked: 2 nodes'

  local all
  all=$(scopes)
  echo 100000 >"$(scope_dir srv1)/$(quota_file srv1)"
  run -1 policy --request 500m --limit 2 --audit "$SANDBOX"
  assert_line --regexp '^srv1 +quota +200000 +100000 +100000 +differs$'
  assert_line --regexp '^srv1 +breaks request-as-quota: '
  refute_line --regexp '^srv2 +breaks'

  "$LANE" down --sandbox "$SANDBOX"
  for SCOPE in $all; do assert [ ! -e "$SCOPE" ]; done
}

@test "an up that fails leaves no scope, and a bad quantity starts nothing" {
  need_scopes
  printf '#!/bin/sh\ncat /proc/self/cgroup; exit 1\n' >qemu
  chmod +x qemu
  run -1 "$LANE" up --sandbox "$SANDBOX" --binary "$COZYBRACKET" --limit 1 --nodes 1 --roles halt --qemu "$PWD/qemu"
  run -0 grep -o 'cozy-lane-.*/vm-srv1.scope$' "$SANDBOX/srv1/qemu.log" # it was inside
  assert [ ! -e "${scope_parents[0]%/*}/${lines[0]%/*}" ]
  run -2 "$LANE" up --sandbox "$SANDBOX" --binary "$COZYBRACKET" --limit 1e3m
  assert_output --partial '--limit "1e3m"'
  assert [ ! -e "$SANDBOX/lane.state" ]
}

@test "a process can be born inside a cgroup of version 2" {
  need_root "a cgroup"
  local mount
  mount=$(awk '/ - cgroup2 /{ print $5; exit }' /proc/self/mountinfo)
  [[ -n $mount ]] || skip "no cgroup v2 is mounted here"
  SCOPE=$mount/cozy-test-$$
  mkdir "$SCOPE" 2>/dev/null || skip "no cgroup can be made in $mount"
  run -7 --separate-stderr "$COZY_BUILD/into_cgroup" "$SCOPE" sh -c 'grep ^0:: /proc/self/cgroup; exit 7'
  assert_output --regexp "^0::.*/cozy-test-$$\$"
  run -127 "$COZY_BUILD/into_cgroup" "$SCOPE" ./no-such-program
  run -125 "$COZY_BUILD/into_cgroup" "$SCOPE/none" true
  rmdir "$SCOPE"
}
