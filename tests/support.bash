# shellcheck shell=bash
# Shared by the bats files of the binary. ctest gives COZYBRACKET (the binary), COZY_SOURCE and COZY_BUILD.

cozy_setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  : "${COZYBRACKET:?the binary}" "${COZY_SOURCE:?the source tree}" "${COZY_BUILD:?the build tree}"
  # shellcheck disable=SC2034 # how many captures sample 1 and sample 2 have, for the tests
  CAPTURES=$(grep -c '^PROBE' "$COZY_SOURCE/probes/registry.def") PAIRED=$(grep -l '"samples": \[1, 2\]' "$COZY_SOURCE"/legends/*.json | wc -l)
  unset COZY_REPORT_DIR COZY_SNAPSHOT_NAME COZY_DIAG_SANDBOX_VM_ROOT COZY_DIAG_READ_TIMEOUT COZY_DIAG_READ_GRACE COZY_INTERVAL
  cd "$BATS_TEST_TMPDIR"
  REPORT=$BATS_TEST_TMPDIR/report
  # Whatever is begun in a test carries this in its environment, and is found by it.
  export COZY_TEST_MARK=$BATS_TEST_TMPDIR
  MOUNTED=()
  HANGING=
}

# Ends what a test has left: the file system that hangs first, since whoever waits in it may not end before.
cozy_teardown() {
  local pid place
  [[ -z $HANGING ]] || { kill -TERM "$HANGING" 2>/dev/null && wait "$HANGING" 2>/dev/null; } || true
  for pid in $(marked); do kill -KILL "$pid" 2>/dev/null || true; done
  for place in "${MOUNTED[@]}"; do umount -l "$place" 2>/dev/null || true; done
}

# The processes that were begun in this test and are alive, neither zombies nor this one.
marked() {
  local file pid state
  for file in $(grep -lazxF "COZY_TEST_MARK=$COZY_TEST_MARK" /proc/[0-9]*/environ 2>/dev/null || true); do
    pid=${file#/proc/} pid=${pid%/environ}
    [[ $pid != "$$" && $pid != "$BASHPID" && $pid != "$HANGING" ]] || continue
    state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) || continue
    [[ -z $state || $state == [ZX] ]] || echo "$pid"
  done
}

# The processes of the binary under test that are alive.
cozy_processes() {
  local pid
  for pid in $(marked); do
    [[ $(readlink "/proc/$pid/exe") != "$(readlink -f "$COZYBRACKET")" ]] || echo "$pid"
  done
}

no_cozy_process() { [[ -z $(cozy_processes) ]]; }

# Waits, generously, until a command succeeds.
eventually() {
  local deadline=$((SECONDS + 60))
  until "$@"; do
    [[ $SECONDS -lt $deadline ]] || fail "not within a minute: $*"
    sleep 0.05
  done
}

# How many captures sample 1 has.
probe_count() { grep -c '^PROBE' "$COZY_SOURCE/probes/registry.def"; }

need_root() { [[ $(id -u) == 0 ]] || skip "$1 needs root"; }

# --- nodes of hack/lane -----------------------------------------------------------

lane_setup() {
  LANE=$COZY_SOURCE/hack/lane
  SANDBOX=$BATS_TEST_TMPDIR/sandbox
}

lane_teardown() {
  if [[ -e $SANDBOX/lane.state ]]; then "$LANE" down --sandbox "$SANDBOX" >/dev/null 2>&1 || true; fi
}

# Starts nodes under KVM: accounting and quotas of a few milliseconds mean nothing for a guest in software.
nodes() { # LANE-OPTION...
  command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64; hack/setup --lane installs it"
  "$LANE" up --sandbox "$SANDBOX" "$@" >/dev/null 3>&-
  grep -q '^node srv1 .* kvm$' "$SANDBOX/lane.state" || skip "KVM does not work here"
}

pid_of() { awk -v name="$1" '$1 == "node" && $2 == name { print $3 }' "$SANDBOX/lane.state"; } # NODE

# --- what does not answer -----------------------------------------------------------

# A file system at DIR that never answers. "swallow": whoever waits in it cannot even be killed.
hang() { # DIR [--swallow]
  need_root "a file system that never answers"
  [[ -e /dev/fuse ]] || skip "no /dev/fuse to make a file system that never answers"
  mkdir -p "$1"
  "$COZY_BUILD/hang_fs" "$@" </dev/null >"$BATS_TEST_TMPDIR/hang.out" 2>"$BATS_TEST_TMPDIR/hang.err" 3>&- &
  HANGING=$!
  local deadline=$((SECONDS + 20))
  until grep -q ready "$BATS_TEST_TMPDIR/hang.out"; do
    kill -0 "$HANGING" 2>/dev/null || skip "no file system that never answers: $(cat "$BATS_TEST_TMPDIR/hang.err")"
    [[ $SECONDS -lt $deadline ]] || fail "hang_fs is not ready"
    sleep 0.05
  done
}

# A tmpfs of that size at DIR, gone after the test.
small_disk() { # DIR SIZE
  need_root "a small disk"
  mkdir -p "$1"
  mount -t tmpfs -o "size=$2" tmpfs "$1" || skip "a tmpfs cannot be mounted here"
  MOUNTED+=("$1")
}

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# Runs a command as `run` does, and holds that it ends within that time. A machine that is busy with other
# things can take the time away, hardly three times in a row.
run_within() { # MILLISECONDS COMMAND...
  local bound=$1 attempt begin took
  shift
  for attempt in 1 2 3; do
    begin=$(now_ms)
    run --separate-stderr "$@"
    took=$(($(now_ms) - begin))
    [[ $took -gt $bound ]] || return 0
    echo "attempt $attempt took $took ms of $bound: $*" >&2
  done
  fail "took $took ms, more than $bound: $*"
}

# A machine for --root with two VMs, one QEMU and one of its threads.
make_tree() { # DIR
  local kvm=$1/sys/kernel/debug/kvm task=$1/proc/812/task/812
  mkdir -p "$kvm/2231-14" "$kvm/2302-14" "$task" "$1/proc/self" "$1/proc/sys/kernel" "$1/proc/pressure" \
    "$1/sys/fs/cgroup/lane"
  echo 'root=/dev/vda1 quiet' >"$1/proc/cmdline"
  echo 'some avg10=1.00 avg60=0.50 avg300=0.10 total=4000' | tee "$1"/proc/pressure/{cpu,memory} >"$1/proc/pressure/io"
  echo 9000 >"$kvm/exits"
  echo 4000 >"$kvm/2231-14/exits"
  echo 30 >"$kvm/2231-14/halt_exits"
  echo 70 >"$kvm/2231-14/nested_run"
  echo 5000 >"$kvm/2302-14/exits"
  printf 'cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nbtime 1755760000\n' >"$1/proc/stat"
  echo 6.18.0-test >"$1/proc/sys/kernel/osrelease"
  echo qemu-system-x86 >"$1/proc/812/comm"
  printf 'qemu-system-x86_64\0-name\0guest=srv1,debug-threads=on\0' >"$1/proc/812/cmdline"
  local fields='S 1 812 812 0 -1 4194304 1 0 0 0 1012 345 0 0 20 0 1 0 88115 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 0 512 0 0 0 0 0 0 0 0 0'
  echo "812 (qemu-system-x86) $fields" | tee "$1/proc/812/stat" >"$task/stat"
  echo '5000 600 70' >"$task/schedstat"
  echo '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw' >"$1/proc/self/mountinfo"
  echo 0::/lane >"$1/proc/812/cgroup"
  printf 'usage_usec 13570000\nuser_usec 10120000\nsystem_usec 3450000\n' >"$1/sys/fs/cgroup/lane/cpu.stat"
  printf 'Name:\tqemu\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n' >"$task/status"
}

# The one file of a capture.
capture() { # CAPTURE SAMPLE [SNAPSHOT]
  local files=("$REPORT/snapshots/${3:-kubernetes}/$1/sample-$2"/{proc-stat,kvm-stats,qemu-threads,cpu-stat,pressure,steal-clock,shape}.txt) file
  for file in "${files[@]}"; do [[ ! -e $file ]] || { echo "$file"; return; }; done
  fail "no capture $1 sample $2 in $(find "$REPORT" -type f 2>/dev/null)"
}

assert_outcome() { # CAPTURE SAMPLE OUTCOME [WORDS]
  local file
  file=$(capture "$1" "$2")
  run -0 cat "$file"
  assert_line --regexp "^\[outcome: $3"
  assert_equal "$(tail -n 1 "$file" | cut -d: -f1)" "[capture exit code"
  [[ $# -lt 4 ]] || assert_output --partial "$4"
}

# Every file of a capture ends with its exit code: none is half.
assert_all_whole() { # DIR
  local file
  while IFS= read -r file; do
    tail -n 1 "$file" | grep -q '^\[capture exit code: [0-9]*\]$' || fail "not whole: $file"
  done < <(find "$1/snapshots" -type f ! -name COLLECTION-FAILED.txt ! -name READ-WARNINGS.txt ! -name read-error.log \
    ! -name analysis.json ! -name SUMMARY.md ! -name timeline.jsonl)
}
