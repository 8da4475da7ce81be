#!/usr/bin/env bats
# The cause is made on real guests, and the analysis has to find it: who is named, and who is not.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  lane_setup
  CGROUP=
  STOPPED=
}

teardown() {
  [[ -z $STOPPED ]] || kill -CONT "$STOPPED" 2>/dev/null || true
  lane_teardown
  cozy_teardown
  [[ -z $CGROUP ]] || eventually rmdir "$CGROUP"
}

# Brackets a shell command; the job log is in $log then.
bracket() { # SHELL-WORDS
  run -0 --separate-stderr "$COZYBRACKET" run --sandbox "$SANDBOX" --report-dir "$REPORT" -- sh -c "$1"
  log=$stderr
}

found() { # ID WORDS...: a finding of that id whose line holds all the words
  local line word
  line=$(grep "^cozybracket: finding $1\b" <<<"$log") || fail "no finding $1 in: $log"
  shift
  for word in "$@"; do grep -qw -- "$word" <<<"$line" || fail "'$word' is not named by: $line"; done
}

not_found() { # ID [WORD]: no finding of that id, or none that holds the word
  local line
  line=$(grep "^cozybracket: finding $1\b" <<<"$log") || return 0
  [[ $# == 2 ]] && ! grep -qw -- "$2" <<<"$line" && return 0
  fail "unexpected: $line"
}

verdict() { grep -q "^cozybracket: verdict: .*$1" <<<"$log" || fail "the verdict does not speak of '$1': $log"; }

# --- the causes -----------------------------------------------------------------

@test "three spinning guests on fewer CPUs than vCPUs: the nodes waited" {
  nodes --nodes 3 --vcpus "$(nproc)" --roles spin,spin,spin
  bracket 'sleep 4'
  found nodes-waited srv1
  not_found node-waited
  not_found node-halted
  not_found nothing-unusual
  verdict waited
}

@test "one node under a CPU quota: that node and no other was throttled" {
  need_root "a CPU quota"
  nodes --nodes 3 --roles halt,spin,halt
  local cpu
  cpu=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
  if [[ -n $cpu && -w $cpu ]]; then
    CGROUP=$cpu/cozy-truth-$$
    mkdir "$CGROUP"
    echo 100000 >"$CGROUP/cpu.cfs_period_us"
    echo 30000 >"$CGROUP/cpu.cfs_quota_us"
  else
    cpu=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    CGROUP=$cpu/cozy-truth-$$
    mkdir "$CGROUP" 2>/dev/null || { CGROUP=; skip "no cgroup can be made here"; }
    echo "30000 100000" 2>/dev/null >"$CGROUP/cpu.max" || skip "no CPU controller to set a quota with"
  fi
  pid_of srv2 >"$CGROUP/cgroup.procs"
  bracket 'sleep 4'
  found node-throttled srv2 periods
  not_found node-throttled srv1
  not_found node-throttled srv3
  not_found node-waited # the quota explains it
  not_found nodes-waited
  verdict srv2
}

@test "one niced node against a busy host: that node waited" {
  nodes --nodes 3 --roles halt,halt,spin
  local i thread
  for thread in "/proc/$(pid_of srv3)"/task/*; do renice -n 19 -p "${thread##*/}" >/dev/null; done
  for ((i = 0; i < 2 * $(nproc); i++)); do
    timeout 60 sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 3>&- &
  done
  bracket 'sleep 4'
  found node-waited srv3
  not_found node-waited srv1
  not_found node-waited srv2
  not_found nodes-waited
  verdict srv3
}

@test "a node that is stopped through sample 2: stopped, and named" {
  nodes --nodes 3 --roles spin,halt,halt
  STOPPED=$(pid_of srv1)
  bracket "sleep 1; kill -STOP $STOPPED; sleep 3"
  found node-stopped srv1
  not_found node-stopped srv2
  not_found node-stopped srv3
  not_found node-blocked srv1
}

@test "a node that is killed inside the window: it left" {
  nodes --nodes 3 --roles halt,halt,halt
  bracket "sleep 1; kill -KILL $(pid_of srv2); sleep 2"
  found node-left srv2
  not_found node-left srv1
  not_found node-left srv3
  not_found node-restarted
}

@test "a node that is killed and started again: restarted, and no giant rate" {
  nodes --nodes 3 --roles halt,spin,halt
  local pid again
  pid=$(pid_of srv2)
  tr '\0' '\n' <"/proc/$pid/cmdline" >arguments
  again="cd '$SANDBOX' && sed 's/.*/\"&\"/' '$PWD/arguments' | xargs env"
  bracket "sleep 1; kill -KILL $pid; sleep 1; ($again) >/dev/null 2>&1; sleep 3"
  local new
  new=$(cat "$SANDBOX/srv2/qemu.pid")
  [[ $new != "$pid" ]] || fail "it was not started again"
  found node-restarted srv2
  not_found node-left srv2
  not_found node-restarted srv1
  [[ $log != *1844674407* ]] || fail "$log"
  kill -KILL "$new"
}

@test "all nodes halted: halted, and the host is not blamed" {
  nodes --nodes 3 --roles halt,halt,halt
  bracket 'sleep 4'
  grep -q '^cozybracket: srv1 2 vcpus: .* halted [0-9]' <<<"$log" ||
    skip "halts cannot be read here: QEMU holds no vCPU statistics, or they cannot be borrowed"
  local srv
  for srv in srv1 srv2 srv3; do found node-halted "$srv"; done
  not_found node-blocked
  not_found nodes-waited
  not_found node-waited
  not_found node-exit-storm
}

@test "a node that does port I/O all the time: its exits are counted as its own" {
  nodes --nodes 3 --roles portio,halt,halt
  bracket 'sleep 4'
  grep -q '^cozybracket: srv1 2 vcpus: .* exits [0-9]' <<<"$log" ||
    skip "exits cannot be read here: QEMU holds no vCPU statistics, or they cannot be borrowed"
  found node-exit-storm srv1
  not_found node-exit-storm srv2
  not_found node-halted srv1
}

@test "a QEMU without debug-threads=on: its vCPUs are known by KVM's statistics alone, or nothing is guessed" {
  nodes --nodes 2 --roles spin,halt --no-debug-threads
  bracket 'sleep 3'
  found vcpu-unnamed srv1
  not_found nothing-unusual
  not_found node-emulator-bound
  if grep -q '^cozybracket: finding vcpu-unnamed: .* are known by the ids of KVM' <<<"$log"; then
    grep -q '^cozybracket: srv1 2 vcpus: ran [0-9]' <<<"$log" || fail "$log"
    not_found node-busy-flat srv2
    not_found node-halted srv1
  else
    not_found node-busy-flat
  fi
}
