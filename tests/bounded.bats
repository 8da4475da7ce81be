#!/usr/bin/env bats
# No read and no write without a bound: the binary against files and file systems that do not answer.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
}

teardown() { cozy_teardown; }

# --- one file that does not answer ---------------------------------------------

@test "case A12: a FIFO in place of a counter costs that counter" {
  sh "$COZY_SOURCE/tests/fixtures/cases/A12/make.sh" tree
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --read-timeout 2 --read-grace 1 \
    --only sandbox-kvm-exits,runner-kernel-cpu-time
  assert_equal "$status" 0
  assert_outcome runner-kernel-cpu-time 1 complete
  assert_outcome sandbox-kvm-exits 1 'partial: ' halt_exits
  assert_line --regexp '^\[vm 2231-14\] exits 4000'
  assert_line --regexp '^\[vm 2231-14\] nested_run 70'
  assert_line --regexp '^\[vm 2302-14\] exits 5000'
  assert_line --regexp '^\[global\] exits 9000'
  refute_line --regexp '^\[vm 2231-14\] halt_exits'
}

@test "a FIFO in place of /proc/stat makes that capture unavailable, and it is said everywhere" {
  make_tree tree
  rm tree/proc/stat
  mkfifo tree/proc/stat
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --read-timeout 2 --read-grace 1
  assert_equal "$status" 1
  grep -q '^cozybracket: shortfall runner-kernel-cpu-time sample 1: .*FIFO' <<<"$stderr" || fail "$stderr"
  assert_outcome runner-kernel-cpu-time 1 'unavailable: ' 'FIFO'
  assert_output --partial 'Its messages are in COLLECTION-FAILED.txt.'
  assert [ -s "$REPORT/snapshots/kubernetes/runner-kernel-cpu-time/sample-1/COLLECTION-FAILED.txt" ]
  assert_outcome sandbox-kvm-exits 1 complete
  assert_outcome sandbox-qemu-thread-cpu 1 complete
}

@test "a FIFO in place of a pid file is no pid file" {
  make_tree tree
  mkfifo qemu.pid
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --read-timeout 2 --read-grace 1 --node srv1=qemu.pid
  assert_equal "$status" 0
  assert_outcome sandbox-qemu-thread-cpu 1 complete 'FIFO'
  assert_line --regexp '^\[node srv1 is process 812; evidence: guest name\]'
}

# Makes files that do not answer once `hang hanging` has been done. Before, since ln looks at what it links to.
make_hanging() { # FILE...
  local file
  for file; do
    rm "$file"
    ln -s "$PWD/hanging/x" "$file"
  done
}

@test "one file that hangs is named as stalled, and the rest is read" {
  make_tree tree
  make_hanging tree/sys/kernel/debug/kvm/2231-14/halt_exits tree/proc/812/task/812/schedstat
  hang hanging
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --read-timeout 2 --read-grace 1
  assert_equal "$status" 0
  assert_outcome sandbox-kvm-exits 1 'partial: stalled: ' 'halt_exits'
  assert_line --regexp '^\[vm 2231-14\] nested_run 70'
  assert_line --regexp '^\[vm 2302-14\] exits 5000'
  assert_outcome sandbox-qemu-thread-cpu 1 '(partial|complete)'
  assert_line --regexp '^812 \(qemu-system-x86\) S '
  assert_outcome runner-kernel-cpu-time 1 complete
  eventually no_cozy_process
}

@test "one file in which not even SIGKILL ends the reader does the same, and its process is let go" {
  make_tree tree
  make_hanging tree/sys/kernel/debug/kvm/2231-14/halt_exits
  hang hanging --swallow
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree --read-timeout 2 --read-grace 1
  assert_equal "$status" 0
  assert_outcome sandbox-kvm-exits 1 'partial: stalled: ' 'abandoned'
  refute_output --partial 'the read was cut' # its text came whole before
  assert_line --regexp '^\[vm 2302-14\] exits 5000'
  assert_outcome runner-kernel-cpu-time 1 complete
  kill -TERM "$HANGING"
  wait "$HANGING" || true
  eventually no_cozy_process
}

# --- everything hangs -----------------------------------------------------------

all_stuck() { # [--swallow]
  hang hanging "$@"
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root hanging/root --sandbox hanging/sandbox \
    --read-timeout 2 --read-grace 1
  assert_equal "$status" 1
  local name
  for name in runner-kernel-cpu-time sandbox-qemu-thread-cpu sandbox-kvm-exits sandbox-vm-cgroup-cpu runner-pressure runner-steal-clock runner-shape; do
    grep -q "^cozybracket: shortfall $name sample 1: " <<<"$stderr" || fail "$stderr"
    assert_outcome "$name" 1 'unavailable: ' 'no answer within'
  done
}

@test "with every probe stuck at once a sample ends within read-timeout + grace + 1 s" {
  all_stuck
  eventually no_cozy_process
}

@test "and so it does where no signal ends the probes" {
  all_stuck --swallow
  assert_outcome runner-kernel-cpu-time 1 'unavailable: ' 'SIGKILL did not end process'
  assert_output --partial ': abandoned'
}

@test "a sample with stuck probes holds no pipe of its caller's" {
  hang hanging --swallow
  # cat ends when the last holder of the pipe is gone, the stuck ones included.
  run_within 5000 bash -c '"$0" sample 1 --report-dir "$1" --root hanging/root --read-timeout 2 --read-grace 1 2>&1 | cat' \
    "$COZYBRACKET" "$REPORT"
  assert_line --partial "cozybracket: sample 1: 0 of $CAPTURES captures hold data"
}

@test "the whole of run ends as its command did, with everything stuck twice" {
  hang hanging
  run_within 9000 "$COZYBRACKET" run --report-dir "$REPORT" --root hanging/root --read-timeout 2 --read-grace 1 -- sh -c 'exit 3'
  assert_equal "$status" 3
  run -0 tar tzf "$REPORT.tgz"
  assert_line ./report/snapshots/kubernetes/sandbox-kvm-exits/sample-2/kvm-stats.txt
}

# --- a report directory that does not answer -------------------------------------

@test "a report directory that hangs: exit 3 in time, named in the job log, nobody left behind" {
  hang hanging
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir hanging/report --read-timeout 2 --read-grace 1
  assert_equal "$status" 3
  grep -q '^cozybracket: shortfall runner-shape sample 1: could not be written: hanging/report: no answer within ' <<<"$stderr" ||
    fail "$stderr"
  eventually no_cozy_process
}

@test "and one in which no signal ends the writer; run still runs its command" {
  hang hanging --swallow
  run_within 4000 "$COZYBRACKET" sample 1 --report-dir hanging/report --read-timeout 2 --read-grace 1
  assert_equal "$status" 3
  run_within 30000 "$COZYBRACKET" run --report-dir hanging/report --read-timeout 2 --read-grace 1 -- sh -c 'echo ran; exit 3'
  assert_equal "$status" 3
  assert_output ran
  grep -q '^cozybracket: shortfall pack: hanging/report.tgz: no answer within ' <<<"$stderr" || fail "$stderr"
}

# Whether a child of that process is inside execve(2): its number is 59 on x86_64, 221 on arm64.
waits_in_exec() { # PID
  local child call
  for child in $(pgrep -P "$1"); do
    read -r call _ <"/proc/$child/syscall" && [[ $call =~ ^(59|221)$ ]] && return 0
  done 2>/dev/null
  return 1
}

# Starts `run` in the background with a command on a file system that does not answer, and asks it to end.
ask_start_to_end() { # [--swallow]
  hang hanging "$@"
  "$COZYBRACKET" run --report-dir "$REPORT" --only runner-shape -- hanging/command </dev/null 2>run.err 3>&- &
  local run=$!
  eventually waits_in_exec "$run"
  kill -TERM "$run"
  status=0
  wait "$run" || status=$?
  assert_equal "$status" 125
  grep -q '^cozybracket: SIGTERM before the command was begun: it was never run, since the file of hanging/command has' \
    run.err || fail "$(cat run.err)"
  assert [ -s "$REPORT.tgz" ]
}

@test "run whose command lies on a file system that does not answer still ends when it is asked to" {
  ask_start_to_end
  eventually no_cozy_process
}

@test "and where no signal ends the wait for the command's file" {
  ask_start_to_end --swallow
}

@test "doctor says that a report directory does not answer" {
  hang hanging --swallow
  run_within 5000 "$COZYBRACKET" doctor --report-dir hanging/report --only runner-shape --read-timeout 2 --read-grace 1
  assert_line --regexp '^report directory +no +hanging/report: no answer within '
}

# --- a report directory that cannot be written -----------------------------------

assert_not_written() { # DIRECTORY REASON
  run --separate-stderr "$COZYBRACKET" sample 1 --report-dir "$1"
  assert_equal "$status" 3
  [[ $(grep -c "^cozybracket: shortfall .* could not be written: .*$2" <<<"$stderr") == "$CAPTURES" ]] || fail "$stderr"
  run --separate-stderr "$COZYBRACKET" run --report-dir "$1" --output archive.tgz -- sh -c 'echo ran; exit 3'
  assert_equal "$status" 3
  assert_output ran
  grep -q "^cozybracket: shortfall .* sample 2: could not be written: .*$2" <<<"$stderr" || fail "$stderr"
}

@test "a report directory that is a file, or below one" {
  echo precious >file
  assert_not_written file ENOTDIR
  assert_not_written file/below ENOTDIR
  assert_equal "$(cat file)" precious
}

@test "a report directory that cannot be made" {
  assert_not_written /proc/nowhere ENOENT
}

@test "a report directory on a full disk: what was there before stays, and nothing half is left" {
  small_disk disk 256k
  REPORT=$PWD/disk/report
  "$COZYBRACKET" sample 1 --report-dir "$REPORT" --snapshot before || true
  dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null || true
  run --separate-stderr "$COZYBRACKET" sample 1 --report-dir "$REPORT" --snapshot before
  assert_equal "$status" 3
  [[ $(grep -c '^cozybracket: shortfall .* could not be written: .*ENOSPC' <<<"$stderr") == "$CAPTURES" ]] || fail "$stderr"
  assert_all_whole "$REPORT"
  assert [ -s "$(capture runner-shape 1 before)" ]
  assert_not_written "$PWD/disk/other" ENOSPC
  run --separate-stderr "$COZYBRACKET" pack --report-dir "$REPORT"
  assert_equal "$status" 3
  grep -q '^cozybracket: shortfall pack: .*ENOSPC' <<<"$stderr" || fail "$stderr"
  run -0 find disk -name '*.partial*'
  refute_output
}

# --- streams that nobody reads -----------------------------------------------------

@test "a probe whose stdout is closed, full or gone says so and ends with 1" {
  run --separate-stderr bash -c '"$0" probe runner-shape >&-' "$COZYBRACKET"
  assert_equal "$status" 1
  [[ $stderr == *"runner-shape: its text could not be written"* ]] || fail "$stderr"
  run --separate-stderr bash -c '"$0" probe runner-shape >/dev/full' "$COZYBRACKET"
  assert_equal "$status" 1
  [[ $stderr == *"its text could not be written"* ]] || fail "$stderr"
  run --separate-stderr bash -c '"$0" probe sandbox-kvm-exits --root tree | true; exit "${PIPESTATUS[0]}"' "$COZYBRACKET"
  [[ $status == [01] ]] # by who was quicker, but by no signal
}

@test "without any standard stream a sample is taken as with them" {
  make_tree tree
  "$COZYBRACKET" sample 1 --report-dir "$REPORT" --root tree <&- >&- 2>&-
  assert_all_whole "$REPORT"
  assert_outcome runner-kernel-cpu-time 1 complete
  run -1 grep -r 'cozybracket: sample' "$REPORT" # no line of the job log has come into a file
}

@test "a job log that nobody reads does not hold a sample" {
  mkfifo log
  exec 9<>log
  dd if=/dev/zero of=log bs=64k count=4 oflag=nonblock 2>/dev/null || true # full, and its reader sleeps
  run_within 8000 bash -c '"$0" sample 1 --report-dir "$1" --root nowhere --read-timeout 2 --read-grace 1 2>&9' "$COZYBRACKET" "$REPORT"
  exec 9>&-
  assert_equal "$status" 1
  assert_all_whole "$REPORT"
}

@test "a starter that ignores the end of children changes nothing" {
  make_tree tree
  run -0 --separate-stderr sh -c 'trap "" CHLD; exec "$0" sample 1 --report-dir "$1" --root tree' "$COZYBRACKET" "$REPORT"
  assert_outcome runner-kernel-cpu-time 1 complete
  run --separate-stderr sh -c 'trap "" CHLD; exec "$0" run --report-dir "$1" --root tree -- sh -c "exit 3"' "$COZYBRACKET" "$REPORT"
  assert_equal "$status" 3
}
