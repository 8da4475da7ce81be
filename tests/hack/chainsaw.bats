#!/usr/bin/env bats
# The hooks under the real chainsaw, without a cluster: hack/chainsaw, and what a suite can meet.

bats_require_minimum_version 1.5.0

setup() {
  load ../support
  cozy_setup
  CHAINSAW=$(find_chainsaw) || skip "no chainsaw; hack/setup --chainsaw builds it where Go and its module are to be had"
  export COZYBRACKET HOOKS=$COZY_SOURCE/hack/cozybracket.sh COZY_REPORT_DIR=$REPORT
  export COZY_DIAG_SANDBOX_VM_ROOT=$PWD HOME=$PWD KUBECONFIG=/dev/null
}

teardown() { cozy_teardown; }

find_chainsaw() {
  local candidate
  for candidate in "${CHAINSAW:-}" "$COZY_SOURCE"/_build/tools/chainsaw-*/chainsaw "$(command -v chainsaw)"; do
    [[ ! -x $candidate || -d $candidate ]] || { echo "$candidate"; return 0; }
  done
  return 1
}

# Runs the suite in a directory. What would hold it waits for an hour, so that this bound decides nothing by chance.
chainsaw_test() { # DIRECTORY
  run timeout --kill-after=10 600 "$CHAINSAW" test --no-cluster --no-color "$1" 3>&-
  [[ $status != 124 && $status != 137 ]] || fail "chainsaw did not end"$'\n'"$output"
}

# A suite of one step in ./suite.
make_suite() { # TIMEOUT SCRIPT
  mkdir -p suite
  {
    printf '%s\n' 'apiVersion: chainsaw.kyverno.io/v1alpha1' 'kind: Test' 'metadata: {name: suite}' 'spec:' '  steps:' \
      '  - try:' '    - script:' "        timeout: $1" '        content: |'
    sed 's/^/          /' <<<"$2"
  } >suite/chainsaw-test.yaml
}

nothing_is_left() { [[ -z $(marked) ]]; }

assert_whole_report() { # SNAPSHOT
  local sample
  assert_all_whole "$REPORT"
  for sample in 1 2; do
    assert [ -s "$REPORT/snapshots/$1/runner-kernel-cpu-time/sample-$sample/proc-stat.txt" ]
  done
  run -0 "$COZYBRACKET" analyze "$REPORT.tgz"
  assert_line --regexp '^window +[0-9.]+ s '
}

@test "passing: green, and both samples, the verdict and the archive are in its log" {
  chainsaw_test "$COZY_SOURCE/hack/chainsaw/passing"
  assert_equal "$status" 0
  assert_line --partial 'cozybracket: sample 1: '
  assert_line --partial 'cozybracket: sample 2: '
  assert_line --partial 'cozybracket: verdict: '
  assert_line --partial "cozybracket: wrote $REPORT.tgz"
  refute_line --partial 'placement'
  assert_whole_report passing
}

# The binary on a machine that runs no QEMU, whatever runs on this one.
without_nodes() {
  make_tree tree
  rm -r tree/proc/812
  mkdir tree/proc/77
  echo bash >tree/proc/77/comm
  printf '#!/bin/sh\nc=$1; shift\n[ "$c" != pack ] && set -- --root "%s" "$@"\nexec "%s" "$c" "$@"\n' \
    "$PWD/tree" "$COZYBRACKET" >without-nodes
  chmod +x without-nodes
}

@test "failing: red by the wait alone; verdict and shortfalls are in its log, and sample 2 is the one next to the wait" {
  without_nodes
  COZYBRACKET=$PWD/without-nodes chainsaw_test "$COZY_SOURCE/hack/chainsaw/failing"
  assert_equal "$status" 1
  assert_line --partial 'exit status 124'
  assert_line --partial 'cozybracket: verdict: '
  assert_line --regexp 'cozybracket: shortfall sandbox-qemu-thread-cpu sample 1: NO-QEMU-PROCESS'
  assert_line --regexp 'cozybracket: shortfall sandbox-qemu-thread-cpu sample 2: NO-QEMU-PROCESS'
  assert_equal "$(grep -c 'cozybracket: sample 2: ' <<<"$output")" 1
  assert_line --regexp 'cozybracket: placement: snapshot failing holds a sample 2 .*: it is kept'
  assert_whole_report failing
}

@test "what chainsaw does of itself: it kills the shell, and waits for whoever holds the output" {
  make_suite 2s 'echo $$ >shell
until [ -e released ]; do sleep 0.1; done &
wait'
  "$CHAINSAW" test --no-cluster --no-color suite >out 2>&1 3>&- &
  local chainsaw=$!
  eventually test -s suite/shell
  eventually eval '! kill -0 "$(cat suite/shell)" 2>/dev/null'
  sleep 2
  kill -0 "$chainsaw"
  touch suite/released
  wait "$chainsaw" && fail "it passed"
  grep -q 'signal: killed' out || fail "$(cat out)"
}

@test "cut, by two calls: the step ends with its shell, catch takes sample 2, and the report is whole" {
  chainsaw_test "$COZY_SOURCE/hack/chainsaw/cut"
  assert_equal "$status" 1
  assert_line --partial 'signal: killed'
  assert_line --partial 'cozybracket: sample 2: '
  assert_line --partial 'cozybracket: verdict: '
  assert_line --partial "cozybracket: wrote $REPORT.tgz"
  eventually nothing_is_left
  assert_whole_report cut
}

@test "cut, around the wait: run notices, ends it, and leaves a whole report and its words in the log" {
  chainsaw_test "$COZY_SOURCE/hack/chainsaw/cut-run"
  assert_equal "$status" 1
  assert_line --partial 'signal: killed'
  assert_line --partial 'the process that started this one is gone: SIGTERM to the command'
  assert_line --partial 'cozybracket: sample 2: '
  assert_line --partial 'cozybracket: verdict: '
  assert_line --partial "cozybracket: wrote $REPORT.tgz"
  eventually nothing_is_left
  assert_whole_report cut-run
}

@test "cut, as a command operation: chainsaw kills run itself, the wait ends, and the next step closes the bracket" {
  mkdir suite
  cat >suite/chainsaw-test.yaml <<'END'
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: suite}
spec:
  steps:
  - try:
    - command:
        timeout: 10s
        entrypoint: sh
        args: [-c, 'exec "$COZYBRACKET" run -- sleep 3600']
    catch:
    - script:
        timeout: 60s
        content: |
          . "$HOOKS"
          cozybracket_after
          cozybracket_report
END
  chainsaw_test suite
  assert_equal "$status" 1
  assert_line --partial 'signal: killed'
  assert_line --partial 'cozybracket: verdict: '
  eventually nothing_is_left
  assert_whole_report kubernetes
}

@test "cut during a read that does not end: nothing of ours holds the step longer than the bound" {
  hang hanging --swallow
  export COZY_DIAG_READ_TIMEOUT=2 COZY_DIAG_READ_GRACE=1
  make_suite 1s ". \"\$HOOKS\"
cozybracket_before --root '$PWD/hanging/root'"
  chainsaw_test suite
  make_suite 60s ". \"\$HOOKS\"
cozybracket_before --root '$PWD/hanging/root'
cozybracket_after --root '$PWD/hanging/root'
cozybracket_report"
  chainsaw_test suite
  assert_equal "$status" 0
}

@test "no program, a bad knob, no place and a full disk: the suite is as green as without" {
  make_suite 60s '. "$HOOKS"
set -eu
cozybracket_before
cozybracket_after
cozybracket_report
cozybracket_run -- true'
  COZYBRACKET=$PWD/nothing chainsaw_test suite
  assert_equal "$status" 0
  assert_line --partial 'which is no program'
  COZY_DIAG_READ_TIMEOUT=soon COZY_SNAPSHOT_NAME=a/b chainsaw_test suite
  assert_equal "$status" 0
  assert_line --partial '» WARNING: ignoring COZY_DIAG_READ_TIMEOUT'
  touch file
  COZY_REPORT_DIR=$PWD/file/report chainsaw_test suite
  assert_equal "$status" 0
  assert_line --partial 'could not be written'
  small_disk disk 8k
  COZY_REPORT_DIR=$PWD/disk/report chainsaw_test suite
  assert_equal "$status" 0
}

@test "the drop-in functions in a lane's own order, on a red run" {
  make_suite 60s '. "$HOOKS"
set -eu
for f in qemu_thread_cpu; do cozy_capture_sandbox_$f 1 || true; done
cozy_capture_runner_kernel_cpu_time 1 || true
if ! cozy_capture_sandbox_kvm_exits 1; then echo "no KVM reading"; fi
status=0
timeout 1 sleep 3600 || status=$?
cozy_capture_sandbox_kvm_exits 2 || true
cozy_capture_runner_kernel_cpu_time 2 || true
cozy_capture_sandbox_qemu_thread_cpu 2 || true
exit "$status"'
  chainsaw_test suite
  assert_equal "$status" 1
  assert_line --partial 'exit status 124'
  assert_line --partial -- '--- reading sandbox-kvm-exits (sample 2) ---'
  assert_equal "$(grep -c 'cozybracket: verdict: ' <<<"$output")" 1
  assert_equal "$(find "$REPORT/snapshots/kubernetes" -name 'sample-[12]' | wc -l)" 6
}
