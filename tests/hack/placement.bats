#!/usr/bin/env bats
# hack/check-placement, on suites and shell that are in order and on such as are not.

bats_require_minimum_version 1.5.0

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
}

check() { timeout 60 "$ROOT/hack/check-placement" "$@"; }

# What is said of a text, and nothing else.
assert_said() { # FILE LINE...
  local file=$1 lines
  shift
  run check "$file"
  lines=$(printf "$file:%s\n" "$@")
  assert_equal "$status" 1
  assert_output "$lines"
}

shell() { cat >x.sh; }
suite() { { printf 'apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nspec:\n'; cat; } >suite.yaml; } # line 4 on

in_order() {
  run check "$1"
  assert_equal "$status" 0
  assert_output ''
}

# --- shell ------------------------------------------------------------------------

@test "shell: a bracket that takes sample 2 however the wait ends" {
  shell <<'END'
#!/bin/sh
set -eu
cozybracket_before
status=0
kubectl wait --for=condition=Ready || status=$?
cozybracket_after
[ "$status" = 0 ] || exit "$status"
END
  in_order x.sh
  shell <<'END'
set -e
cozybracket sample 1 --sandbox /w || true
if ! kubectl wait; then
  cozybracket sample 2 || true
  exit 1
fi
"$COZYBRACKET" sample 2 || true
END
  in_order x.sh
  shell <<'END'
set -e
trap cozybracket_after EXIT
cozybracket_before
kubectl wait
exit 3
END
  in_order x.sh
  shell <<'END'
cozybracket_before; wait_for_it || { cozybracket_after; exit 1; }
case $1 in
  a | b) cozybracket_after ;;
  *) ( cozybracket_after ) ;;
esac
END
  in_order x.sh
}

@test "shell: a wait that fails under set -e, and one whose status is kept" {
  shell <<'END'
set -eu
cozybracket_before
kubectl wait
cozybracket_after
END
  assert_said x.sh '2: cozybracket_before has no cozybracket_after where line 3 fails under set -e'
  sed -i 's/^set -eu/set -u/' x.sh
  in_order x.sh
  shell <<'END'
set -eu
if ! cozy_capture_sandbox_kvm_exits 1; then echo none; fi
kubectl wait && echo there || true
! false
while ! [ -e x ]; do :; done
cozy_capture_sandbox_kvm_exits 2 || true
END
  in_order x.sh
}

@test "shell: an exit, a return and an end between the two" {
  shell <<'END'
cozybracket_before
if [ -e gone ]; then
  exit 0
fi
cozybracket_after
END
  assert_said x.sh '1: cozybracket_before has no cozybracket_after where line 3 leaves by exit'
  shell <<'END'
bracket() {
  cozybracket_before
  kubectl wait || return 1
  cozybracket_after
}
bracket
END
  assert_said x.sh '2: cozybracket_before has no cozybracket_after where line 3 leaves by return'
  shell <<'END'
cozybracket_before
if kubectl wait; then cozybracket_after; fi
END
  assert_said x.sh '1: cozybracket_before has no cozybracket_after on the passing path'
  shell <<'END'
cozybracket sample 1
[ -e x ] && cozybracket sample 2
END
  assert_said x.sh '1: sample 1 has no sample 2 on the passing path'
}

@test "shell: each drop-in function has its own partner, and cozybracket_after is everybody's" {
  shell <<'END'
cozy_capture_sandbox_kvm_exits 1 || true
cozy_capture_runner_kernel_cpu_time 1 || true
cozy_capture_sandbox_kvm_exits 2 || true
END
  assert_said x.sh '2: cozy_capture_runner_kernel_cpu_time has no cozy_capture_runner_kernel_cpu_time 2 on the passing path'
  echo cozybracket_after >>x.sh
  in_order x.sh
}

@test "shell: snapshots that mix make no pair" {
  shell <<'END'
cozybracket sample 1 --snapshot latest
cozybracket sample 2 --snapshot=previous
END
  assert_said x.sh '1: sample 1 has no sample 2 on the passing path'
  sed -i 's/previous/latest/' x.sh
  in_order x.sh
}

@test "shell: functions of the file are followed" {
  shell <<'END'
begin() { echo; cozybracket_before; }
close() { [ -e x ] || return 0
  cozybracket_after; }
finish() { cozybracket_after; }
begin
finish
begin
close
END
  assert_said x.sh '7: begin (sample 1) has no sample 2 on the passing path'
}

@test "shell: comments, quotes, here-documents and what run brackets are no samples" {
  shell <<'END'
# cozybracket_before
echo "cozybracket_before" 'cozybracket_before
cozybracket_before' \
  cozybracket_before
cat <<E; cat <<-'F'
cozybracket_before
E
	cozybracket_before
	F
cozybracket run -- true 2>&1 | tee log
cozybracket_run -- x
END
  in_order x.sh
}

@test "shell that ends amid a command, or is none, ends the check no less" {
  local text
  for text in 'if true; then (' 'function x' 'case x in a)' 'echo "abc' 'x() {' 'for i in' '[[ a' 'cat <<E' ')' '' '}; fi; done ;;' '$(' "$(printf '\1\2\377')"; do
    printf '%s' "$text" >x.sh
    run check x.sh
    assert_equal "$status" 0
  done
}

# --- Chainsaw -------------------------------------------------------------------------

@test "the suites of this tree are in order" {
  in_order "$ROOT/hack"
}

@test "Chainsaw: the failing path needs catch or finally, of the step or of the test" {
  suite <<'END'
  steps:
  - name: a
    try:
    - script:
        timeout: 3m
        content: |
          set -e
          cozybracket_before
          kubectl wait
          cozybracket_after
END
  assert_said suite.yaml '11: cozybracket_before has no cozybracket_after on the failing path: neither catch nor finally takes it'
  cp suite.yaml plain
  printf '    catch:\n    - script:\n        content: |\n          # cozybracket_after\n          cozybracket_report\n' >>suite.yaml
  assert_said suite.yaml '11: cozybracket_before has no cozybracket_after on the failing path: neither catch nor finally takes it'
  for section in catch finally; do
    { cat plain; printf '    %s:\n    - sleep:\n        duration: 1s\n    - script:\n        content: cozybracket_after # late\n' "$section"; } >suite.yaml
    in_order suite.yaml
  done
  { cat plain; printf '  catch:\n    - command:\n        entrypoint: cozybracket\n        args: [sample, "2"]\n'; } >suite.yaml
  in_order suite.yaml
}

@test "Chainsaw: the passing path goes on from operation to operation, from step to step, and through finally" {
  suite <<'END'
  catch:
  - script: {content: unread}
  - script:
      content: cozybracket_after
  steps:
    - try:
        - command:
            entrypoint: /usr/local/bin/cozybracket
            args:
            - sample
            - '1'
        - script:
            content: >-
              kubectl wait
              || exit 1
    - try:
        - script:
            content: "echo\ncozybracket sample 2"
END
  in_order suite.yaml
  sed -i 's/sample 2"/sample 3"/' suite.yaml
  assert_said suite.yaml '11: sample 1 has no sample 2 on the passing path'
}

@test "Chainsaw: catch alone is not the passing path" {
  suite <<'END'
  steps:
  - try:
    - script:
        content: |
          cozybracket_before
          if ! kubectl wait; then
            exit 1
          fi
          if [ -e x ]; then exit 0; fi
          cozybracket_after
    catch:
    - script:
        content: |
          cozybracket_after
END
  assert_said suite.yaml '8: cozybracket_before has no cozybracket_after on the passing path'
}

@test "Chainsaw: a bracket that is opened in catch" {
  suite <<'END'
  steps:
  - try:
    - assert: {file: x.yaml}
    catch:
    - script:
        content: |
          cozybracket_before
END
  assert_said suite.yaml '10: cozybracket_before has no cozybracket_after on the failing path: neither catch nor finally takes it'
}

@test "Chainsaw: documents are tests of their own, and what cannot be read is said" {
  suite <<'END'
  steps:
  - try:
    - script:
        content: |
          cozybracket_before
---
spec:
  steps:
  - try:
    - script:
        content: cozybracket_after
---
spec:
  steps:
  - try: [{script: {content: "cozybracket_before"}}]
END
  assert_said suite.yaml '8: cozybracket_before has no cozybracket_after on the failing path: neither catch nor finally takes it' \
    '8: cozybracket_before has no cozybracket_after on the passing path' \
    '18: a sample 1 that stands in no script this can read'
}

# --- the command line ----------------------------------------------------------------------

@test "directories, names with blanks, and refusals" {
  mkdir -p 'a b/c'
  echo cozybracket_before >'a b/c/x y.sh'
  echo cozybracket_before >'a b/notes.txt'
  run -1 check 'a b'
  assert_output 'a b/c/x y.sh:1: cozybracket_before has no cozybracket_after on the passing path'
  run -2 check
  run -2 check nowhere
  assert_output --partial "'nowhere' is no file that can be read"
  run -2 check --frob
  run -0 check --help
}
