#!/usr/bin/env bats
# `cozybracket run`: what reaches COMMAND, what comes back, and what happens when somebody or something ends.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  make_tree tree
  RUN=("$COZYBRACKET" run --report-dir "$REPORT" --root tree)
}

teardown() { cozy_teardown; }

# Starts a command in the background as nobody's job, with the signals of a terminal in force.
in_background() {
  env --default-signal=INT,TERM,HUP "$@" >out 2>err 3>&- &
  STARTED=$!
}

# Waits for what in_background has started, and keeps its status.
take_end() {
  status=0
  wait "$STARTED" || status=$?
}

assert_bracket_closed() {
  assert_outcome runner-kernel-cpu-time 2 complete
  assert_all_whole "$REPORT"
  run -0 tar tzf "$REPORT.tgz"
  assert_line ./report/snapshots/kubernetes/runner-kernel-cpu-time/sample-1/proc-stat.txt
  assert_line ./report/snapshots/kubernetes/runner-kernel-cpu-time/sample-2/proc-stat.txt
}

is_packed() { [[ -e $REPORT.tgz ]]; }
is_written() { [[ -s $1 ]]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# --- status ---------------------------------------------------------------------

@test "run ends as COMMAND ended" {
  local want
  for want in 0 3 42 255; do
    run --separate-stderr "${RUN[@]}" -- sh -c "exit $want"
    assert_equal "$status" "$want"
  done
  run --separate-stderr "${RUN[@]}" -- sh -c 'kill -TERM $$'
  assert_equal "$status" 143
  run --separate-stderr "${RUN[@]}" -- sh -c 'kill -SEGV $$'
  assert_equal "$status" 139
  assert_bracket_closed
}

@test "a COMMAND that cannot be run: 127 or 126, no sample 2, and sample 1 is packed" {
  run -127 --separate-stderr "${RUN[@]}" -- cozy-no-such-command
  [[ $stderr == *"cozybracket: cannot run cozy-no-such-command: ENOENT"* ]] || fail "$stderr"
  run -0 tar tzf "$REPORT.tgz"
  assert_line --regexp 'sample-1/proc-stat.txt$'
  refute_line --regexp sample-2
  echo stale >"$REPORT.tgz" # an archive of an earlier run does not pass for one of this
  run --separate-stderr "${RUN[@]}" -- /etc/passwd
  assert_equal "$status" 126
  run -0 tar tzf "$REPORT.tgz"
}

@test "a usage error: 125, nothing is run and nothing read" {
  run --separate-stderr "${RUN[@]}" --read-timeout soon -- touch ran
  assert_equal "$status" 125
  [[ $stderr == *'--read-timeout "soon"'* ]] || fail "$stderr"
  assert [ ! -e ran ]
  assert [ ! -e "$REPORT" ]
  run --separate-stderr "${RUN[@]}"
  assert_equal "$status" 125
}

# --- what passes ------------------------------------------------------------------

@test "stdin and stdout pass as they are, whatever the bytes" {
  head -c 1000000 /dev/urandom >data
  "${RUN[@]}" -- cat <data >copy 2>err
  cmp data copy
  "${RUN[@]}" -- cat <data 2>err | cmp data -
}

@test "stderr passes, and the lines of cozybracket stand beside it" {
  run --separate-stderr "${RUN[@]}" -- sh -c 'echo out; echo err >&2'
  assert_output out
  grep -qx err <<<"$stderr" || fail "$stderr"
  grep -q '^cozybracket: sample 1: ' <<<"$stderr" || fail "$stderr"
  [[ -z $(grep -vE '^(cozybracket: .*|err)$' <<<"$stderr") ]] || fail "$stderr"
}

@test "inherited descriptors reach COMMAND, closed ones stay closed, and none of ours is among them" {
  "${RUN[@]}" -- sh -c 'echo written >&7; exec ls /proc/self/fd' 7>seven >descriptors 2>err
  assert_equal "$(cat seven)" written
  ls /proc/self/fd 7>seven >wanted 2>err
  cmp descriptors wanted
  run -0 bash -c '"$@" -- sh -c "[ ! -e /proc/\$\$/fd/0 ] && [ ! -e /proc/\$\$/fd/1 ]" <&- >&- 2>err' _ "${RUN[@]}"
}

@test "COMMAND keeps directory, arguments, environment and process group" {
  run -0 --separate-stderr env MARK='a  b' "${RUN[@]}" -- sh -c 'echo "$MARK|$PWD|$1|$2"' _ '' '--'
  assert_output "a  b|$PWD||--"
}

# --- signals ------------------------------------------------------------------------

@test "SIGTERM and SIGINT reach COMMAND, and the bracket is closed" {
  local name
  for name in TERM INT HUP; do
    rm -rf "$REPORT" "$REPORT.tgz" got ready
    in_background "${RUN[@]}" -- sh -c "trap 'echo got >got; exit 7' $name; echo >ready; while :; do sleep 0.1; done"
    eventually is_written ready
    kill "-$name" "$STARTED"
    take_end
    assert_equal "$status" 7
    assert_equal "$(cat got)" got
    grep -q "^cozybracket: SIG$name: passed to the command" err || fail "$(cat err)"
    assert_bracket_closed
  done
}

@test "a COMMAND that ignores the signal: all is packed within 5 s, and its own status comes later" {
  in_background "${RUN[@]}" -- sh -c 'trap "" TERM; echo >ready; until [ -e go ]; do sleep 0.1; done; exit 9'
  eventually is_written ready
  local begin
  begin=$(now_ms)
  kill -TERM "$STARTED"
  eventually is_packed
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  eventually grep -q '^cozybracket: wrote ' err
  assert_bracket_closed
  assert kill -0 "$STARTED"
  touch go
  take_end
  assert_equal "$status" 9
}

@test "and so with every source stuck" {
  hang hanging
  in_background "$COZYBRACKET" run --report-dir "$REPORT" --root hanging/root --only runner-kernel-cpu-time,sandbox-kvm-exits \
    --read-timeout 1 --read-grace 1 -- sh -c 'trap "" TERM; echo >ready; until [ -e go ]; do sleep 0.1; done; exit 9'
  eventually is_written ready
  local begin
  begin=$(now_ms)
  kill -TERM "$STARTED"
  eventually is_packed
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  touch go
  take_end
  assert_equal "$status" 9
  assert_outcome sandbox-kvm-exits 2 unavailable
}

@test "a signal while sample 1 is taken: COMMAND is never run" {
  hang hanging
  in_background "$COZYBRACKET" run --report-dir "$REPORT" --root hanging/root --read-timeout 30 -- touch ran
  eventually cozy_is_reading
  local begin
  begin=$(now_ms)
  kill -TERM "$STARTED"
  take_end
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  assert_equal "$status" 125
  assert [ ! -e ran ]
  grep -q '^cozybracket: SIGTERM before the command was begun: it was never run' err || fail "$(cat err)"
  assert_outcome runner-kernel-cpu-time 1 unavailable
  run -0 tar tzf "$REPORT.tgz"
  eventually no_cozy_process
}

cozy_is_reading() { [[ $(cozy_processes | wc -l) -gt 1 ]]; }

@test "a signal while sample 2 is taken cuts it short, and the status stays COMMAND's" {
  hang hanging
  in_background "$COZYBRACKET" run --report-dir "$REPORT" --root swapped --read-timeout 30 -- \
    sh -c 'ln -s hanging/root swapped; exit 3'
  eventually is_reading_sample_2
  local begin
  begin=$(now_ms)
  kill -TERM "$STARTED"
  take_end
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  assert_equal "$status" 3
  assert_outcome runner-kernel-cpu-time 2 unavailable
  run -0 tar tzf "$REPORT.tgz"
}

is_reading_sample_2() { [[ -L swapped ]] && cozy_is_reading; }

@test "a signal while an archive is written that never comes: COMMAND's status within 5 s" {
  hang hanging
  in_background "${RUN[@]}" --output hanging/archive.tgz -- sh -c 'exit 3'
  eventually grep -q '^cozybracket: window ' err
  local begin
  begin=$(now_ms)
  kill -INT "$STARTED"
  take_end
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  assert_equal "$status" 3
  grep -q '^cozybracket: shortfall pack: hanging/archive.tgz: no answer within ' err || fail "$(cat err)"
}

# --- the death of the starter -----------------------------------------------------------

starter_dies() { # SCRIPT
  bash -c '"$@" & echo $! >pid; wait' _ "${RUN[@]}" -- bash -c "$1" >out 2>err 3>&- &
  local starter=$! begin
  eventually is_written ready
  begin=$(now_ms)
  kill -KILL "$starter"
  wait "$starter" || true
  eventually is_gone "$(cat pid)"
  assert [ $(($(now_ms) - begin)) -lt 5000 ]
  grep -q '^cozybracket: the process that started this one is gone' err || fail "$(cat err)"
  assert_bracket_closed
  eventually no_marked_process
}

no_marked_process() { [[ -z $(marked) ]]; }

@test "when the starter dies, COMMAND ends and all is packed within 5 s" {
  starter_dies 'trap "echo got >got; exit" TERM; echo >ready; while :; do read -r -t 0.1 <> <(:) || true; done'
  assert_equal "$(cat got)" got
}

@test "and so with a COMMAND that ignores SIGTERM" {
  starter_dies 'trap "" TERM; echo >ready; while :; do read -r -t 0.1 <> <(:) || true; done'
}

# --- SIGKILL at any instant ---------------------------------------------------------------

@test "after SIGKILL at any instant every file is whole and nobody is left" {
  "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --snapshot before 2>/dev/null
  "$COZYBRACKET" pack --report-dir "$REPORT" 2>/dev/null
  local delay
  for delay in 0.001 0.003 0.005 0.007 0.009 0.011 0.013 0.016 0.02 0.025 0.03 0.04 0.05 0.07 0.1; do
    "$COZYBRACKET" run --report-dir "$REPORT" --root tree -- true >/dev/null 2>&1 3>&- &
    sleep "$delay"
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    eventually no_cozy_process
    assert_all_whole "$REPORT"
    tar tzf "$REPORT.tgz" >members
    grep -q snapshots/before/runner-kernel-cpu-time/sample-1/proc-stat.txt members
  done
  # What a killed packer has left goes with the next pack, once the kernel is done with its end.
  eventually pack_leaves_no_leftover
}

pack_leaves_no_leftover() {
  "$COZYBRACKET" pack --report-dir "$REPORT" 2>/dev/null
  [[ -z $(find . -name '*.tgz.partial*') ]]
}

@test "after SIGKILL no reader is left, stuck ones included" {
  hang hanging
  in_background "$COZYBRACKET" run --report-dir "$REPORT" --root hanging/root --read-timeout 60 -- true
  eventually cozy_is_reading
  kill -KILL "$STARTED"
  take_end
  eventually no_cozy_process
}

@test "after SIGKILL the command is told to end, and nobody holds the output" {
  mkfifo pipe
  cat pipe >heard &
  local reader=$!
  "${RUN[@]}" -- sh -c 'echo $$ >waits; exec sleep 3600' >pipe 2>&1 3>&- &
  STARTED=$!
  eventually is_written waits
  kill -KILL "$STARTED"
  take_end
  wait "$reader" # it ends when the last writer has gone
  eventually is_gone "$(cat waits)"
}

# --- a sample and its caller ------------------------------------------------------------------

@test "a sample leaves no process and keeps no pipe of its caller's" {
  mkfifo pipe
  cat pipe >heard &
  local reader=$!
  "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree >pipe 2>&1
  wait "$reader" # it ends when the last writer has gone
  grep -q "^cozybracket: sample 1: $CAPTURES of $CAPTURES captures hold data" heard || fail "$(cat heard)"
  assert_equal "$(cozy_processes)" ""
}
