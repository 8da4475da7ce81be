#!/usr/bin/env bats
# `sample`, `pack`, `doctor` and `probe`, on made machines and on this one.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
}

teardown() { cozy_teardown; }

sample() { "$COZYBRACKET" sample "$@" --report-dir "$REPORT" --root tree; }

log_says() { grep -qE "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; }
log_is_silent_on() { ! grep -qE "$1" <<<"$stderr" || fail "a line like: $1"$'\n'"$stderr"; }

# --- sample -----------------------------------------------------------------------

@test "sample 1 alone: every capture holds data, and nothing is said of a window" {
  make_tree tree
  run -0 --separate-stderr sample 1
  refute_output
  log_says "^cozybracket: sample 1: $CAPTURES of $CAPTURES captures hold data, [0-9.]+ ms, in .*/report/snapshots/kubernetes$"
  log_is_silent_on 'window|shortfall'
  local name
  for name in runner-kernel-cpu-time sandbox-kvm-exits sandbox-qemu-thread-cpu sandbox-vm-cgroup-cpu runner-pressure runner-steal-clock runner-shape; do
    assert_outcome "$name" 1 complete
    assert_line --regexp "^\[cozybracket capture $name sample 1 snapshot kubernetes\]$"
  done
  assert_all_whole "$REPORT"
  run -0 find "$REPORT" -name '*.tgz' -o -name 'COLLECTION-FAILED.txt' -o -name '.*'
  refute_output
}

@test "sample 2 alone: it is written, and the missing partner is said" {
  make_tree tree
  run -0 --separate-stderr sample 2
  log_says "^cozybracket: sample 2: $PAIRED of $PAIRED captures hold data"
  log_says '^cozybracket: window absent'
  assert_outcome runner-kernel-cpu-time 2 complete
  assert [ ! -e "$REPORT/snapshots/kubernetes/runner-shape" ] # read once, before the wait
}

@test "two samples make a window and a line for the runner and for each node" {
  make_tree tree
  sample 1 2>/dev/null
  printf 'cpu  101 2 103 204 5 6 7 8 9 10\ncpu0 101 2 103 204 5 6 7 8 9 10\nbtime 1755760000\n' >tree/proc/stat
  run -0 --separate-stderr sample 2
  log_says '^cozybracket: window [0-9.]+ s '
  log_says '^cozybracket: runner 1 cpus: user '
  log_says '^cozybracket: srv1 '
}

@test "a repeated sample takes the place of the first, with what stands beside it" {
  make_tree tree
  mv tree/proc/stat stat
  run -1 --separate-stderr sample 1
  assert [ -e "$REPORT/snapshots/kubernetes/runner-kernel-cpu-time/sample-1/COLLECTION-FAILED.txt" ]
  mv stat tree/proc/stat
  run -0 --separate-stderr sample 1
  assert [ ! -e "$REPORT/snapshots/kubernetes/runner-kernel-cpu-time/sample-1/COLLECTION-FAILED.txt" ]
  assert_outcome runner-kernel-cpu-time 1 complete
}

@test "what falls short is named with its consequence, one line for each capture" {
  make_tree tree
  rm -r tree/proc/812 tree/sys/kernel/debug/kvm
  run -1 --separate-stderr sample 1
  log_says "^cozybracket: sample 1: $((CAPTURES - 3)) of $CAPTURES captures hold data"
  log_says '^cozybracket: shortfall sandbox-qemu-thread-cpu sample 1: .*NO-(QEMU-PROCESS|PROC-READ)'
  log_says '^cozybracket: shortfall sandbox-kvm-exits sample 1: .*NO-KVM-DIR.*the later reading will have no partner'
  log_says '^cozybracket: shortfall sandbox-vm-cgroup-cpu sample 1: .*NO-(QEMU-PROCESS|PROC-READ)'
  assert_equal "$(grep -c shortfall <<<"$stderr")" 3
  assert_outcome sandbox-kvm-exits 1 'empty: NO-KVM-DIR'
}

@test "--only takes some probes, by either spelling" {
  make_tree tree
  run -0 --separate-stderr sample 1 --only runner_shape,sandbox-kvm-exits
  log_says '^cozybracket: sample 1: 2 of 2 captures'
  run -0 ls "$REPORT/snapshots/kubernetes"
  assert_output $'runner-shape\nsandbox-kvm-exits'
  run -0 --separate-stderr sample 2 --only runner-shape # which has no sample 2: nothing was asked, nothing failed
  log_says '^cozybracket: sample 2: 0 of 0 captures'
  run -2 --separate-stderr sample 1 --only nothing
  log_says '^cozybracket: --only "nothing" is no probe; the probes are runner-kernel-cpu-time, '
}

@test "--snapshot names the bracket, and brackets stand side by side" {
  make_tree tree
  sample 1 --snapshot first 2>/dev/null
  COZY_SNAPSHOT_NAME=second sample 1 2>/dev/null
  run -0 ls "$REPORT/snapshots"
  assert_output $'first\nsecond'
  run -0 cat "$(capture runner-shape 1 second)"
  assert_line '[cozybracket capture runner-shape sample 1 snapshot second]'
}

@test "--node and the sandbox name the nodes" {
  make_tree tree
  mkdir -p sandbox/srv1 sandbox/srv2
  echo 812 >sandbox/srv1/qemu.pid
  echo 4194304 >sandbox/srv2/qemu.pid
  touch -d '2100-01-01' sandbox/srv*/qemu.pid # written after the process began, whenever that was
  run -0 --separate-stderr sample 1 --sandbox sandbox
  assert_outcome sandbox-qemu-thread-cpu 1 complete
  assert_line '[node srv1 is process 812; evidence: pid file, guest name]'
  assert_line --regexp '^\[node srv2 note: pid file names 4194304, and no such process lives: stale\]'
  run -0 --separate-stderr sample 1 --node other=sandbox/srv1/qemu.pid --node third=/nowhere
  assert_outcome sandbox-qemu-thread-cpu 1 complete
  assert_line --regexp '^\[node other note: pid file names 812 .*whose guest name says srv1\]'
  assert_line --regexp '^\[node third note: no usable pid file: ENOENT'
  assert_line '[node srv1 is process 812; evidence: guest name]'
}

@test "a bad variable is a warning in the job log and nowhere else" {
  make_tree tree
  COZY_DIAG_READ_TIMEOUT=soon COZY_DIAG_READ_GRACE=05 COZY_SNAPSHOT_NAME=a/b run -0 --separate-stderr sample 1
  log_says '^cozybracket: WARNING: ignoring COZY_DIAG_READ_TIMEOUT="soon": .*whole number of seconds.*default 20'
  log_says '^cozybracket: WARNING: ignoring COZY_DIAG_READ_GRACE="05": .*leading zero.*default 5'
  log_says '^cozybracket: WARNING: ignoring COZY_SNAPSHOT_NAME="a/b": .*default kubernetes'
  run -0 find "$REPORT" -name 'READ-WARNINGS.txt' -o -name read-error.log
  refute_output
  assert_outcome runner-shape 1 complete
  assert_line '[bound: read timeout 20 s, grace 5 s]'
}

@test "the environment reaches a sample" {
  make_tree tree
  COZY_REPORT_DIR=$PWD/elsewhere COZY_SNAPSHOT_NAME=named COZY_DIAG_READ_TIMEOUT=7 COZY_DIAG_READ_GRACE=0 \
    run -0 --separate-stderr "$COZYBRACKET" sample 1 --root tree
  REPORT=$PWD/elsewhere
  run -0 cat "$(capture runner-shape 1 named)"
  assert_line '[bound: read timeout 7 s, grace 0 s]'
}

# --- names from outside ----------------------------------------------------------------

# Two samples of a QEMU whose process and thread bear such a name. That it is a QEMU says its program's.
hostile_name() { # NAME ESCAPED
  cp "$COZY_BUILD/take_name" qemu-system-test
  ./qemu-system-test qemu.pid "$1" "$1" 3>&- &
  disown
  eventually test -s qemu.pid
  local n pid
  for n in 1 2; do
    run -0 --separate-stderr "$COZYBRACKET" sample "$n" --report-dir "$REPORT" --only sandbox-qemu-thread-cpu --node srv1=qemu.pid
    log_is_silent_on '^[[:space:]]*::'
    log_is_silent_on '##\['
    [[ $stderr != *$'\e'* ]] || fail "$stderr"
    [[ -z $(grep -v '^cozybracket: ' <<<"$stderr") ]] || fail "$stderr"
  done
  pid=$(cat qemu.pid)
  run -0 cat "$(capture sandbox-qemu-thread-cpu 2)"
  assert_line --regexp "^process $pid comm $2\$"
  assert_line --regexp "^$pid \\($2\\) S "
  assert_equal "$(grep -cE "^[0-9]+ \\($2\\) S " <<<"$output")" 2
  refute_line --regexp '^[[:space:]]*::'
  refute_line --regexp '^error'
  [[ $output != *$'\e'* ]] || fail "$output"
}

@test "a name with a line end, a workflow command and an ANSI sequence stays one line of data" {
  hostile_name $'\n::error::\e[1m' '\\x0a::error::\\x1b\[1m'
}

@test "and one with blanks before a command, and one with the older form" {
  hostile_name $' \t::error::x' ' \\x09::error::x'
  kill -KILL "$(cat qemu.pid)"
  rm qemu.pid qemu-system-test
  hostile_name $'\r##[error]x' '\\x0d##\[error\]x'
}

@test "and one that would end the data of a capture, or the name in its stat line" {
  hostile_name $'\n[end of data]' '\\x0a\[end of data\]'
  kill -KILL "$(cat qemu.pid)"
  rm qemu.pid qemu-system-test
  hostile_name ') R 1 1 (x' '\) R 1 1 \(x'
}

@test "paths of the command line are neutral in the job log" {
  local dir=$'x\n::error::'
  echo >"$dir"
  run -3 --separate-stderr "$COZYBRACKET" sample 1 --report-dir "$dir" --only runner-shape
  [[ -z $(grep -v '^cozybracket: ' <<<"$stderr") ]] || fail "$stderr"
}

# --- pack ---------------------------------------------------------------------------------

@test "pack: the directory as an archive, with whatever else lies in it" {
  make_tree tree
  sample 1 2>/dev/null
  echo mine >"$REPORT/mine.txt"
  run -0 --separate-stderr "$COZYBRACKET" pack --report-dir "$REPORT/"
  log_says "^cozybracket: wrote $REPORT.tgz, [0-9]+ files, [0-9.]+ KiB$"
  run -0 tar tzf "$REPORT.tgz"
  assert_line ./report/mine.txt
  assert_line ./report/legends/runner-shape.json
  run -0 --separate-stderr "$COZYBRACKET" pack --report-dir "$REPORT" --output "$REPORT/inner.tgz"
  run -0 tar tzf "$REPORT/inner.tgz"
  refute_line --partial inner
  mkfifo "$REPORT/fifo"
  run -0 --separate-stderr "$COZYBRACKET" pack --report-dir "$REPORT"
  log_says '^cozybracket: shortfall pack: fifo: left out: a FIFO$'
}

@test "pack without a report, or without a place: 3 and the reason" {
  run -3 --separate-stderr "$COZYBRACKET" pack --report-dir nowhere
  log_says '^cozybracket: shortfall pack: nowhere: .*ENOENT'
  mkdir report
  run -3 --separate-stderr "$COZYBRACKET" pack --report-dir report --output nowhere/x.tgz
  log_says '^cozybracket: shortfall pack: nowhere/x.tgz: .*ENOENT'
}

# --- doctor ---------------------------------------------------------------------------------

@test "doctor on a made machine: everything can be read" {
  make_tree tree
  run -0 --separate-stderr "$COZYBRACKET" doctor --root tree --report-dir "$REPORT"
  assert_line --regexp '^source +readable +why +what to do$'
  assert_line --regexp '^runner-kernel-cpu-time +yes +[0-9]+ values +-$'
  assert_line --regexp '^sandbox-qemu-thread-cpu +yes +1 threads +-$'
  assert_line --regexp '^  node srv1 +yes +process 812, by guest name.* +-$'
  assert_line --regexp '^  run-queue delay +yes +'
  assert_line --regexp '^sandbox-kvm-exits +yes +[0-9]+ values, 2 VMs +-$'
  assert_line --regexp "^report directory +yes +$REPORT \(will be made\) +-$"
  assert [ ! -e "$REPORT" ]
}

@test "doctor on a machine where much is missing: why, and what to do" {
  make_tree tree
  rm -r tree/proc/812 tree/sys/kernel/debug/kvm
  mkdir tree/proc/77
  echo bash >tree/proc/77/comm
  rm tree/proc/stat
  echo >file
  run -1 --separate-stderr "$COZYBRACKET" doctor --root tree --report-dir file/report
  assert_line --regexp '^runner-kernel-cpu-time +no +.*ENOENT.* +mount /proc$'
  assert_line --regexp '^sandbox-qemu-thread-cpu +none +NO-QEMU-PROCESS.* +start the nodes first'
  assert_line --regexp '^sandbox-kvm-exits +none +NO-KVM-DIR.* +load kvm'
  assert_line --regexp '^report directory +no +file: is a file, not a directory +give another with --report-dir$'
}

@test "doctor on this machine: one row for each source, and no report is written" {
  run --separate-stderr "$COZYBRACKET" doctor
  [[ $status == [01] ]] || fail "$status"
  local name
  for name in runner-kernel-cpu-time sandbox-qemu-thread-cpu sandbox-kvm-exits sandbox-vm-cgroup-cpu runner-pressure runner-steal-clock runner-shape 'report directory'; do
    assert_line --regexp "^$name +(yes|partly|none|no) +"
  done
  assert_line --regexp '^runner-kernel-cpu-time +yes '
  assert [ ! -e _out ]
}

# --- probe, help and version --------------------------------------------------------------------

@test "probe: the raw text between its marks" {
  make_tree tree
  run -0 --separate-stderr "$COZYBRACKET" probe runner_kernel_cpu_time --root tree
  assert_line --index 0 --regexp '^\[cozybracket begin [0-9]+ [0-9]+\]$'
  assert_line 'cpu0 1 2 3 4 5 6 7 8 9 10'
  assert_equal "$(tail -n 1 <<<"$output" | cut -c1-17)" '[cozybracket end '
  run -2 --separate-stderr "$COZYBRACKET" probe nothing
  log_says 'probe "nothing" is no probe'
}

@test "help and version go to stdout, a usage error to stderr" {
  run -0 --separate-stderr "$COZYBRACKET" --version
  assert_output --regexp '^cozybracket .+'
  run -0 --separate-stderr "$COZYBRACKET" run --help
  assert_output --partial '--read-timeout'
  [[ -z $stderr ]]
  run -2 --separate-stderr "$COZYBRACKET"
  refute_output
  log_says 'there is no command'
}
