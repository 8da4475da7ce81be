#!/usr/bin/env bats
# hack/cozybracket.sh: the timeline between the two calls of a suite's hooks.

bats_require_minimum_version 1.5.0

setup() {
  load ../support
  cozy_setup
  command -v dash >/dev/null || skip "no dash here"
  export COZYBRACKET HOOKS=$COZY_SOURCE/hack/cozybracket.sh COZY_REPORT_DIR=$REPORT COZY_DIAG_SANDBOX_VM_ROOT=$PWD/sandbox
  make_tree tree
}

teardown() { cozy_teardown; }

lane() { run -0 --separate-stderr dash -c "set -eu; . \"\$HOOKS\"; $1; echo went on"; } # SCRIPT
log_says() { grep -qE "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; } # PATTERN

@test "before begins the timeline, after ends it, with the options of a sample; COZY_INTERVAL=0 has none" {
  cp "$(command -v bash)" suite # what the recorder is to end with
  local before='dash -c "set -eu; . \"\$HOOKS\"; cozybracket_before --only runner-shape --snapshot named --node srv1=none; echo went on"'
  ./suite -c "$before; sleep 600; :" >out 2>err 3>&- &
  local suite=$! timeline=$REPORT/snapshots/named/timeline/timeline.jsonl
  eventually test -s out
  assert_equal "$(cat out)" 'went on'
  grep -q "^cozybracket: watch: process [0-9]* takes a reading every 1 s, in $timeline, until .*, the end of process $suite (suite)" err ||
    fail "$(cat err)"
  assert_equal "$(cozy_processes | wc -l)" 1
  lane 'cozybracket_after --only=runner-shape --snapshot=named; cozybracket_after --snapshot=named --only=runner-shape'
  assert_output 'went on'
  log_says '^cozybracket: watch: process [0-9]* has ended; [0-9]* readings? over '
  log_says '^cozybracket: watch: the recorder had ended before: it was told to end; '
  no_cozy_process
  kill "$suite"
  rm -r "$REPORT"
  COZY_INTERVAL=0 lane 'cozybracket_before --only runner-shape; cozybracket_after --only runner-shape'
  COZY_INTERVAL=1 lane 'cozybracket_before --root tree; cozybracket_after --root tree'
  [[ $stderr != *watch* && $stderr != *timeline* ]] || fail "$stderr"
  assert [ ! -e "$REPORT/snapshots/kubernetes/timeline" ]
  COZY_INTERVAL=soon lane 'cozybracket_before --only runner-shape; cozybracket_after --only runner-shape'
  assert_output 'went on'
  log_says '^cozybracket: WARNING: ignoring COZY_INTERVAL='
}

@test "a recorder ends with what runs the suite, where no after is reached" {
  cp "$(command -v bash)" suite
  ./suite -c 'dash -c ". \"\$HOOKS\"; cozybracket_before --only runner-shape"; :' 2>err 3>&-
  eventually no_cozy_process
  tail -n 1 "$REPORT/snapshots/kubernetes/timeline/timeline.jsonl" | grep -q '^{"end":"starter",'
}
