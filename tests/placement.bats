#!/usr/bin/env bats
# Samples out of place: each is told, none is fatal, and no two that are no pair become one.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  make_tree tree
}

teardown() { cozy_teardown; }

sample() { "$COZYBRACKET" sample "$@" --report-dir "$REPORT" --root tree; }
pack() { "$COZYBRACKET" pack --report-dir "$REPORT"; }

log_says() { grep -qE "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; }
log_is_silent_on() { ! grep -qE "$1" <<<"$stderr" || fail "a line like: $1"$'\n'"$stderr"; }

@test "a bracket in its order: nothing is told" {
  run -0 --separate-stderr sample 1
  log_is_silent_on placement
  run -0 --separate-stderr sample 2
  log_is_silent_on placement
  run -0 --separate-stderr pack
  log_is_silent_on placement
}

@test "sample 2 without sample 1" {
  run -0 --separate-stderr sample 2
  log_says '^cozybracket: placement: snapshot kubernetes holds no sample 1: this sample 2 has no partner$'
  log_says '^cozybracket: window absent'
  run -0 --separate-stderr sample 2 --snapshot beside
  log_says '^cozybracket: placement: snapshot beside holds no sample 1: this sample 2 has no partner$'
  run -0 --separate-stderr pack
  log_says '^cozybracket: placement: snapshot beside holds a sample 2 of [0-9:]{8} UTC and no sample 1: there is no rate'
}

@test "sample 1 twice: the later one counts" {
  sample 1 2>/dev/null
  run -0 --separate-stderr sample 1
  log_says '^cozybracket: placement: snapshot kubernetes holds a sample 1 of [0-9:]{8} UTC already: this one takes its place$'
  run -0 --separate-stderr sample 2
  log_is_silent_on placement
  log_says '^cozybracket: window [0-9.]+ s'
}

@test "a crash between the samples: the report says that the bracket was never closed" {
  sample 1 2>/dev/null
  run -0 --separate-stderr pack
  log_says '^cozybracket: placement: snapshot kubernetes holds a sample 1 of [0-9:]{8} UTC and no sample 2: the bracket was never closed'
  log_says '^cozybracket: wrote '
}

@test "a bracket anew over one that was closed: its sample 2 is no partner" {
  sample 1 2>/dev/null
  sample 2 2>/dev/null
  run -0 --separate-stderr sample 1
  log_says '^cozybracket: placement: .* takes its place, and the sample 2 of [0-9:]{8} UTC is no partner of this one$'
  run -0 --separate-stderr pack
  log_says '^cozybracket: placement: .* was not read after its sample 1 of [0-9:]{8} UTC: they are of two brackets'
  run -0 "$COZYBRACKET" analyze "$REPORT"
  assert_line --regexp '^window +absent '
  run -0 --separate-stderr sample 2 --once # not of this bracket: it is taken
  log_says '^cozybracket: placement: .*from before its sample 1: this one takes its place$'
  log_says '^cozybracket: window [0-9.]+ s'
}

@test "snapshots that mix: the one that waits for its sample 2 is named" {
  sample 1 --snapshot kubernetes-latest 2>/dev/null
  run -0 --separate-stderr sample 2 --snapshot kubernetes-previous
  log_says '^cozybracket: placement: snapshot kubernetes-previous holds no sample 1: .* in snapshot kubernetes-latest, and samples of two snapshots make no pair$'
  log_says '^cozybracket: window absent'
}

@test "--once keeps the sample 2 of the bracket, whole or not at all" {
  local file=$REPORT/snapshots/kubernetes/runner-kernel-cpu-time/sample-2/proc-stat.txt before
  sample 1 2>/dev/null
  run -0 --separate-stderr sample 2 --once
  log_says '^cozybracket: sample 2: '
  before=$(cat "$file")
  run -0 --separate-stderr sample 2 --once
  log_says '^cozybracket: placement: snapshot kubernetes holds a sample 2 of [0-9:]{8} UTC already: it is kept$'
  log_is_silent_on 'sample 2: '
  assert_equal "$(cat "$file")" "$before"
  rm -r "$REPORT/snapshots/kubernetes/sandbox-kvm-exits/sample-2" # as when the one before was cut
  run -0 --separate-stderr sample 2 --once
  log_says '^cozybracket: placement: .*already: this one takes its place$'
  [[ $(cat "$file") != "$before" ]]
}

@test "--only looks at its own captures, and a summary covers what other calls have taken" {
  sample 1 --only runner-kernel-cpu-time 2>/dev/null
  run -0 --separate-stderr sample 1 --only sandbox-kvm-exits
  log_is_silent_on placement
  run -0 --separate-stderr sample 2 --only sandbox-kvm-exits --no-summary
  log_is_silent_on 'verdict|window|placement'
  run -0 --separate-stderr sample 2 --only runner-kernel-cpu-time
  log_says '^cozybracket: window [0-9.]+ s'
  log_says '^cozybracket: runner 1 cpus: '
  log_says '^cozybracket: kvm '
  log_is_silent_on 'kvm.* not asked|runner-kernel-cpu-time.* not asked'
}

@test "names of snapshots are neutral in what is told" {
  sample 1 2>/dev/null
  mv "$REPORT/snapshots/kubernetes" "$REPORT/snapshots/"$'x\n::error::y'
  run -0 --separate-stderr sample 2
  [[ -z $(grep -v '^cozybracket: ' <<<"$stderr") ]] || fail "$stderr"
  run -0 --separate-stderr pack
  [[ -z $(grep -v '^cozybracket: ' <<<"$stderr") ]] || fail "$stderr"
}
