#!/usr/bin/env bats
# `watch start` and `watch stop`: a recorder that goes on between two calls, holds nothing of its caller, and ends.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  lane_setup
  TIMELINE=$REPORT/snapshots/kubernetes/timeline/timeline.jsonl
  OPTIONS=(--report-dir "$REPORT" --sandbox "$SANDBOX")
}

teardown() {
  lane_teardown
  cozy_teardown
}

ticks() { grep -c '^{"t":' "$TIMELINE"; }
has_ticks() { [[ $(ticks) -ge $1 ]]; } # NUMBER
end_of() { sed -n '$s/^{"end":"\([a-z-]*\)","at":[0-9]*}$/\1/p' "$TIMELINE"; }
ends_by() { [[ $(end_of) == "$1" ]]; } # WORD
one_recorder() { [[ $(cozy_processes | wc -l) == 1 ]]; }

start() { # OPTION...
  [[ " $* " == *" --interval "* ]] || set -- --interval 0.1 "$@"
  run -0 --separate-stderr "$COZYBRACKET" watch start "${OPTIONS[@]}" "$@"
}
stop() { run --separate-stderr "$COZYBRACKET" watch stop --report-dir "$REPORT" "$@"; } # OPTION...
says() { grep -q "^cozybracket: $1" <<<"$stderr" || fail "no such line: $1"$'\n'"$stderr"; } # PATTERN

@test "start returns and records, stop ends it and says what was read" {
  start --max-duration 900
  says "watch: process [0-9]* takes a reading every 0.1 s, in $TIMELINE, until .watch stop., .*, 900 s or 8 MiB$"
  assert_equal "$output" ""
  one_recorder
  head -n 1 "$TIMELINE" | grep -q '"by":"watch","recorder":{"pid":'"$(cozy_processes)"',"start":[1-9]' || fail "$(head -n 1 "$TIMELINE")"
  eventually has_ticks 5
  stop
  assert_equal "$status" 0
  says "watch: process [0-9]* has ended; [0-9]* readings over [0-9.]* s in $TIMELINE$"
  no_cozy_process
  assert_equal "$(end_of)" stopped
  stop
  assert_equal "$status" 0
  says 'watch: the recorder had ended before: it was told to end; [0-9]* readings'
}

@test "its caller's pipes are at their end at once, and it holds no descriptor and no directory of it" {
  local out recorder
  mkfifo pipe
  cat pipe >seen 3>&- &
  local reader=$!
  out=$(timeout 60 "$COZYBRACKET" watch start "${OPTIONS[@]}" 2>&1 9>pipe) || fail "$out"
  wait "$reader"
  [[ $out == *"takes a reading"* ]] || fail "$out"
  recorder=$(cozy_processes)
  assert_equal "$(readlink "/proc/$recorder/cwd")" /
  assert_equal "$(ps -o sid= -p "$recorder" | tr -d ' ')" "$recorder"
  run -0 bash -c "readlink /proc/$recorder/fd/* | grep -vE '^(/proc/|/sys/|anon_inode:|$TIMELINE$|/$)' || true"
  assert_output ""
  run -0 timeout 60 bash -c '"$COZYBRACKET" watch start --report-dir other 2>&1 | cat; "$COZYBRACKET" watch stop --report-dir other' 3>&-
  stop
}

@test "a second start says that one is at work and keeps it; of many at once one records" {
  local i starts=()
  start
  start --interval 5 --max-duration 6
  says "watch: process $(cozy_processes) is at work on $TIMELINE already, and goes on$"
  stop
  for i in 1 2 3 4 5 6; do
    "$COZYBRACKET" watch start "${OPTIONS[@]}" 2>"words-$i" 3>&- &
    starts+=($!)
  done
  for i in "${starts[@]}"; do wait "$i"; done
  one_recorder
  assert_equal "$(cat words-* | grep -c 'takes a reading')" 1
  assert_equal "$(cat words-* | grep -c "process $(cozy_processes) is at work on .* already")" 5
  assert_equal "$(grep -c '"schema"' "$TIMELINE")" 1
  stop
}

@test "one that has ended is replaced" {
  start --max-duration 0.5
  eventually ends_by max-duration
  start
  [[ $(ticks) -le 3 && -z $(end_of) ]] || fail "$(cat "$TIMELINE")"
  stop
}

@test "stop where none was begun, or of another snapshot: said, and 1" {
  stop
  assert_equal "$status" 1
  says "watch: there is no timeline in $TIMELINE: none was begun$"
  start
  stop --snapshot other
  assert_equal "$status" 1
  one_recorder
  stop
}

@test "the longest duration, and its reason in the file and in the words of stop" {
  start --max-duration 1
  eventually no_cozy_process
  assert_equal "$(end_of)" max-duration
  stop
  assert_equal "$status" 0
  says 'watch: the recorder had ended before: it had reached its longest duration; [0-9]* readings over [01][0-9.]* s in '
}

@test "it ends with the process that is named, and is not begun where there is none" {
  sleep 600 3>&- &
  local other=$!
  start --while-pid "$other"
  says "watch: .*, the end of process $other (sleep), "
  kill "$other"
  eventually no_cozy_process
  assert_equal "$(end_of)" starter
  run -3 --separate-stderr "$COZYBRACKET" watch start "${OPTIONS[@]}" --while-pid "$other"
  says "shortfall timeline: none is recorded: process $other, which it was to end with, is not there$"
  start --while-pid 0
  says "watch: .* until .watch stop., the end of the sandbox's last QEMU, "
  stop
}

@test "by default it ends with what runs the hooks, and not with the hook's own shell" {
  cp "$(command -v bash)" suite
  # The second shell is one more of the hook; what is last in a shell would take its place.
  ./suite -c 'sh -c "bash -c \"\$1; :\" hook \"\$1\"; :" hook "$1"; echo >hook-ended; until [[ -e go ]]; do sleep 0.1; done; :' \
    suite "'$COZYBRACKET' watch start --report-dir '$REPORT' --interval 0.1 2>words" 3>&- &
  local suite=$!
  eventually test -e hook-ended
  grep -q "the end of process $suite (suite), " words || fail "$(cat words)"
  local before
  before=$(ticks)
  eventually has_ticks $((before + 5))
  touch go
  wait "$suite"
  eventually no_cozy_process
  assert_equal "$(end_of)" starter
}

@test "a QEMU that comes and one that leaves are followed, and it ends behind the sandbox's last one" {
  mkdir "$SANDBOX"
  start
  nodes --nodes 2 --roles halt
  eventually grep -q '"kind":"vcpu","node":"srv2"' "$TIMELINE"
  local pid
  pid=$(pid_of srv1)
  kill -KILL "$pid"
  eventually grep -q '^{"left":'"$pid"',"start":[0-9]*,"at":' "$TIMELINE"
  has_ticks 5
  one_recorder
  "$LANE" down --sandbox "$SANDBOX" 3>&-
  eventually no_cozy_process
  assert_equal "$(end_of)" last-qemu
  stop
  says "watch: the recorder had ended before: the sandbox's last QEMU had ended; "
}

@test "a pack while it records is whole and readable, and so is the report" {
  start
  "$COZYBRACKET" sample 1 --report-dir "$REPORT" --sandbox "$SANDBOX" 2>/dev/null || true
  local i
  for i in 1 2 3 4 5 6 7 8; do
    run -0 --separate-stderr "$COZYBRACKET" pack --report-dir "$REPORT"
    gzip -t "$REPORT.tgz"
    run -0 tar -xzOf "$REPORT.tgz" ./report/snapshots/kubernetes/timeline/timeline.jsonl
    grep -q '^{"t":' <<<"$output"
    run -0 --separate-stderr "$COZYBRACKET" analyze "$REPORT.tgz"
    [[ $output != *timeline.jsonl* ]] || fail "$output"
  done
  stop
}

@test "killed at any moment: what it wrote is readable, stop says that it is gone, and another can be begun" {
  start
  eventually has_ticks 3
  kill -KILL "$(cozy_processes)"
  eventually no_cozy_process
  stop
  assert_equal "$status" 0
  says 'watch: the recorder was gone: killed, or its file could not be written; [0-9]* readings'
  start
  stop
}

@test "one that does not go on is killed by stop, within its bound" {
  start
  kill -STOP "$(cozy_processes)"
  run_within 6000 "$COZYBRACKET" watch stop --report-dir "$REPORT"
  assert_equal "$status" 0
  says 'shortfall timeline: process [0-9]* did not end in its time and was killed; '
  no_cozy_process
}

@test "no place for the file, or a file system that does not answer: said, 3, and nothing is left" {
  run -3 --separate-stderr "$COZYBRACKET" watch start --report-dir /proc/nowhere
  says 'shortfall timeline: none is recorded: /proc/nowhere: E'
  touch file
  run -3 --separate-stderr "$COZYBRACKET" watch start --report-dir file
  hang hanging --swallow
  run_within 10000 "$COZYBRACKET" watch start --report-dir hanging/report
  assert_equal "$status" 3
  says 'shortfall timeline: hanging/report/.*: no answer within '
  run_within 8000 "$COZYBRACKET" watch stop --report-dir hanging/report
  assert_equal "$status" 3
}

@test "stop where the file is a link: said, and 3, since nobody knows of a recorder" {
  mkdir -p "${TIMELINE%/*}"
  touch elsewhere
  ln -s "$PWD/elsewhere" "$TIMELINE"
  stop
  assert_equal "$status" 3
  says 'shortfall timeline: .*timeline.jsonl'
}

@test "the report directory is removed: the recorder ends by itself" {
  start
  rm -rf "$REPORT"
  eventually no_cozy_process
}

@test "a disk that is full ends it, whole lines alone are in the file, and stop says so" {
  small_disk disk 16k
  REPORT=$PWD/disk/report TIMELINE=$PWD/disk/report/snapshots/kubernetes/timeline/timeline.jsonl
  run --separate-stderr "$COZYBRACKET" watch start --report-dir "$REPORT" --interval 0.1
  eventually no_cozy_process
  [[ ! -s $TIMELINE || -z $(tail -c 1 "$TIMELINE") ]] || fail "$(tail -n 1 "$TIMELINE")"
  stop
  [[ $stderr == *"its file could not be written"* ]] || fail "$stderr"
}

@test "run and a recorder of the same snapshot leave each other alone" {
  start
  run -0 --separate-stderr "$COZYBRACKET" run --report-dir "$REPORT" --sandbox "$SANDBOX" -- sleep 3
  says "shortfall timeline: process $(cozy_processes) writes $TIMELINE already"
  stop
  "$COZYBRACKET" run --report-dir "$REPORT" --sandbox "$SANDBOX" -- sh -c 'until [ -e go ]; do sleep 0.1; done' 2>log 3>&- &
  local runner=$!
  eventually grep -q '"by":"run"' "$TIMELINE"
  stop
  assert_equal "$status" 3
  says 'shortfall timeline: process [0-9]* goes on: it belongs to a .cozybracket run., which ends it; '
  touch go
  wait "$runner"
  ! grep 'shortfall timeline' log || fail "it did not go on"
}

@test "no interval, no recorder; what is wrong is refused by name" {
  local bad
  start --interval 0
  says 'watch: the interval is 0: no timeline is recorded$'
  no_cozy_process
  [[ ! -e $REPORT ]]
  for bad in --max-duration=0 --max-duration=0.05 --max-duration=x --max-duration=86401 --while-pid=x --while-pid=-1 \
    --while-pid=4194305 --interval=0.05 --snapshot=a/b --node=x; do
    run -2 --separate-stderr "$COZYBRACKET" watch start "$bad"
    [[ $stderr == "cozybracket: ${bad%%=*} "* ]] || fail "$bad: $stderr"
  done
  run -2 --separate-stderr "$COZYBRACKET" watch
  run -2 --separate-stderr "$COZYBRACKET" watch begin
  run -2 --separate-stderr "$COZYBRACKET" watch stop -- true
}
