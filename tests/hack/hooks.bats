#!/usr/bin/env bats
# hack/cozybracket.sh: the hooks of a suite, and the functions in the place of the lane's. Each script runs under
# `dash` with `set -eu`, as a lane's does, and what it asks of the seams it asks by the lane's variables.

bats_require_minimum_version 1.5.0

setup() {
  load ../support
  cozy_setup
  unset COZY_DIAG_RUNNER_PROC_STAT COZY_DIAG_KVM_DEBUGFS COZY_DIAG_SANDBOX_PROC
  command -v dash >/dev/null || skip "no dash here"
  export COZYBRACKET HOOKS=$COZY_SOURCE/hack/cozybracket.sh COZY_REPORT_DIR=$REPORT COZY_DIAG_SANDBOX_VM_ROOT=$PWD/sandbox
  export COZY_DIAG_RUNNER_PROC_STAT=$PWD/tree/proc/stat COZY_DIAG_SANDBOX_PROC=$PWD/tree/proc
  export COZY_DIAG_KVM_DEBUGFS=$PWD/tree/sys/kernel/debug
  make_tree tree
}

teardown() { cozy_teardown; }

# A script with the library sourced. Its last line is said where nothing has ended it before.
lane() { # SCRIPT
  run --separate-stderr "${SHELL_OF_LANE:-dash}" -c "set -eu
. \"\$HOOKS\"
$1
echo went on"
}

# The same, and one of the drop-in functions as a lane calls it: what it returned is said.
drop_in() { # FUNCTION N
  lane "if $1 $2; then echo returned 0; else echo returned \$?; fi"
  assert_equal "$status" 0
  assert_line 'went on'
}

log_says() { grep -qE "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; }
log_is_silent_on() { ! grep -qE "$1" <<<"$stderr" || fail "a line like: $1"$'\n'"$stderr"; }
file_of() { echo "$REPORT/snapshots/kubernetes/$1/sample-${2:-1}"; }

assert_announced() { assert_line --regexp "^--- .* \\(sample $1\\) ---\$"; }

runner() { drop_in cozy_capture_runner_kernel_cpu_time 1; }
kvm() { drop_in cozy_capture_sandbox_kvm_exits 1; }
threads() { drop_in cozy_capture_sandbox_qemu_thread_cpu 1; }

# What came of a drop-in call: what it returned, the capture's outcome, and a warning unless it is complete.
assert_capture() { # CAPTURE RETURNED OUTCOME [WORDS]
  assert_line "returned $2"
  assert_announced 1
  [[ $3 == complete* ]] || log_says "^cozybracket: shortfall $1 sample 1: "
  [[ $3 != complete* ]] || log_is_silent_on shortfall
  assert_outcome "$1" 1 "$3" "${@:4}"
}

# --- the runner's CPU time -----------------------------------------------------------

@test "RUNNER complete: 0, the whole file, nothing beside it" {
  runner
  assert_capture runner-kernel-cpu-time 0 complete
  assert_line 'cpu0 1 2 3 4 5 6 7 8 9 10'
  assert_equal "$(ls "$(file_of runner-kernel-cpu-time)")" proc-stat.txt
}

@test "RUNNER at a place that no root has: through a directory that is gone behind it" {
  mkdir tmp
  export TMPDIR=$PWD/tmp
  cp tree/proc/stat seam
  COZY_DIAG_RUNNER_PROC_STAT=seam runner
  assert_capture runner-kernel-cpu-time 0 complete
  assert_equal "$(ls tmp)" ''
  export TMPDIR=$PWD/nowhere
  COZY_DIAG_RUNNER_PROC_STAT=seam runner
  assert_line 'returned 1'
  log_says 'no directory for the test seam'
  assert [ -e "$(file_of runner-kernel-cpu-time)/COLLECTION-FAILED.txt" ]
}

@test "RUNNER partial: the rows are there and the read was cut: 0" {
  { cat tree/proc/stat; echo -n intr; yes ' 0' | head -n 2200000 | tr -d '\n'; } >long
  COZY_DIAG_RUNNER_PROC_STAT=$PWD/long runner
  assert_capture runner-kernel-cpu-time 0 'partial: ' 'incomplete:'
}

@test "RUNNER unavailable: no row, no file, a directory, a FIFO: 1, and a mark beside the capture" {
  local seam
  echo 'btime 1' >none
  mkdir directory
  mkfifo fifo
  for seam in none absent directory fifo; do
    COZY_DIAG_RUNNER_PROC_STAT=$PWD/$seam runner
    assert_capture runner-kernel-cpu-time 1 'unavailable: ' 'unavailable:'
    assert [ -s "$(file_of runner-kernel-cpu-time)/COLLECTION-FAILED.txt" ]
  done
}

@test "RUNNER that hangs: 1 within its bound, and nothing of it holds the output" {
  hang hanging
  export COZY_DIAG_RUNNER_PROC_STAT=$PWD/hanging/root/proc/stat COZY_DIAG_READ_TIMEOUT=1 COZY_DIAG_READ_GRACE=0
  # the command substitution ends when nobody holds the pipe
  run -0 timeout 300 bash -c 'out=$(dash -c "set -eu; . \"\$HOOKS\"; cozy_capture_runner_kernel_cpu_time 1 || echo returned \$?" 2>&1); echo "$out"'
  assert_line 'returned 1'
  assert_outcome runner-kernel-cpu-time 1 'unavailable: '
}

# --- KVM ------------------------------------------------------------------------------

@test "KVM complete: 0" {
  kvm
  assert_capture sandbox-kvm-exits 0 complete
  assert_line --regexp '^\[vm 2231-14\] exits 4000'
}

@test "KVM complete without a VM: 0, and the finding is said" {
  rm -r tree/sys/kernel/debug/kvm/*-14
  kvm
  assert_line 'returned 0'
  assert_outcome sandbox-kvm-exits 1 complete 'across 0 per-VM'
}

@test "KVM partial: some counters are there, others gave no answer: 0" {
  mkfifo tree/sys/kernel/debug/kvm/2231-14/mmio_exits
  kvm
  assert_capture sandbox-kvm-exits 0 'partial: ' 'incomplete:'
}

@test "KVM gauges only: 1, no reading that may be subtracted" {
  chmod 0444 tree/sys/kernel/debug/kvm/exits tree/sys/kernel/debug/kvm/*/*
  kvm
  assert_capture sandbox-kvm-exits 1 'unavailable: only gauges' 'unavailable:'
}

@test "KVM no directory and no counter: findings, 1, and no mark of a failure" {
  rm -r tree/sys/kernel/debug/kvm
  kvm
  assert_capture sandbox-kvm-exits 1 'empty: NO-KVM-DIR'
  mkdir tree/sys/kernel/debug/kvm
  kvm
  assert_capture sandbox-kvm-exits 1 'empty: NO-COUNTER-FILES'
  assert_equal "$(ls "$(file_of sandbox-kvm-exits)")" kvm-stats.txt
}

@test "KVM never reached: 1, and a mark" {
  COZY_DIAG_KVM_DEBUGFS=$PWD/nowhere kvm
  assert_capture sandbox-kvm-exits 1 'unavailable: NO-DEBUGFS'
  assert_equal "$(ls "$(file_of sandbox-kvm-exits)")" $'COLLECTION-FAILED.txt\nkvm-stats.txt'
}

@test "KVM failed with messages: they stand in read-error.log, too, as the lane's readers know it" {
  cat >failing <<'END'
#!/bin/sh
d=$COZY_REPORT_DIR/snapshots/$COZY_SNAPSHOT_NAME/sandbox-kvm-exits/sample-$2
mkdir -p "$d"
printf 'the reason\n\nits words\nand more\n' >"$d/COLLECTION-FAILED.txt"
exit 1
END
  chmod +x failing
  COZYBRACKET=$PWD/failing kvm
  assert_line 'returned 1'
  assert_equal "$(cat "$(file_of sandbox-kvm-exits)/read-error.log")" $'its words\nand more'
}

# --- QEMU's threads ----------------------------------------------------------------------

@test "QEMU complete: 0, and the sandbox names the node" {
  mkdir -p sandbox/srv7
  echo 812 >sandbox/srv7/qemu.pid
  touch -d '2100-01-01' sandbox/srv7/qemu.pid
  printf 'qemu-system-x86_64\0' >tree/proc/812/cmdline
  threads
  assert_capture sandbox-qemu-thread-cpu 0 complete '[node srv7 is process 812; evidence: pid file]'
}

@test "QEMU below a process root of another name; without waiting times it is whole still" {
  mv tree/proc processes
  rm processes/812/task/812/schedstat
  COZY_DIAG_SANDBOX_PROC=$PWD/processes/ threads
  assert_capture sandbox-qemu-thread-cpu 0 complete 'schedstat absent for 1 of 1 threads'
}

@test "QEMU partial: a thread that cannot be read beside one that can: 0" {
  mkdir tree/proc/812/task/813
  echo nonsense >tree/proc/812/task/813/stat
  threads
  assert_capture sandbox-qemu-thread-cpu 0 'partial: ' 'incomplete:'
}

@test "QEMU none, and none that can be told: findings and what is unavailable, 1" {
  rm -r tree/proc/812/task/812
  threads
  assert_capture sandbox-qemu-thread-cpu 1 'empty: NO-THREAD-LINES'
  echo bash >tree/proc/812/comm
  printf 'bash\0' >tree/proc/812/cmdline
  threads
  assert_capture sandbox-qemu-thread-cpu 1 'empty: NO-QEMU-PROCESS'
  rm -r tree/proc/812
  threads
  assert_capture sandbox-qemu-thread-cpu 1 'unavailable: NO-PROC-READ'
  assert [ -s "$(file_of sandbox-qemu-thread-cpu)/COLLECTION-FAILED.txt" ]
}

# --- no place, no program -------------------------------------------------------------------

@test "no place for the report: each returns 1 and says so on stderr" {
  local function
  echo >file
  export COZY_REPORT_DIR=$PWD/file/report
  for function in runner kvm threads; do
    "$function"
    assert_line 'returned 1'
    log_says '^cozybracket: shortfall .*could not be written'
  done
  lane 'cozybracket_before; cozybracket_after; cozybracket_report'
  assert_equal "$status" 0
  assert_output 'went on'
}

@test "a full disk fails nothing" {
  small_disk disk 8k
  head -c 8192 /dev/zero >disk/full 2>/dev/null || true
  export COZY_REPORT_DIR=$PWD/disk/report
  lane 'cozybracket_before; cozybracket_after; cozybracket_report; cozybracket_run -- true'
  assert_equal "$status" 0
  assert_output 'went on'
  log_says '^cozybracket: shortfall .*could not be written'
  runner
  assert_line 'returned 1'
}

@test "no program: said in a line, 1, a mark where the capture would be, and the suite goes on" {
  local program
  echo '#!/nowhere' >broken
  chmod +x broken
  for program in nothing "$PWD/nothing" "$PWD/broken" ''; do
    rm -rf "$REPORT"
    COZYBRACKET=$program kvm
    assert_line 'returned 1'
    assert_equal "$(grep -c '^cozybracket.sh: ' <<<"$stderr")" 1
    assert [ -s "$(file_of sandbox-kvm-exits)/COLLECTION-FAILED.txt" ]
    COZYBRACKET=$program lane 'cozybracket_before; cozybracket_after; cozybracket_report'
    assert_equal "$status" 0
    assert_output 'went on'
    assert_equal "$(grep -c '^cozybracket.sh: ' <<<"$stderr")" 3
    COZYBRACKET=$program lane 'cozybracket_run --only runner-shape -- sh -c "echo ran; exit 7" || echo "ended with $?"'
    assert_output $'ran\nended with 7\nwent on'
  done
}

@test "the program is COZYBRACKET, else on PATH, else beside the library" {
  mkdir lib bin
  cp "$HOOKS" lib/cozybracket.sh
  printf '#!/bin/sh\necho "$0 $*"\n' | tee lib/cozybracket >bin/cozybracket
  chmod +x lib/cozybracket bin/cozybracket
  export HOOKS=$PWD/lib/cozybracket.sh
  unset COZYBRACKET
  lane cozybracket_before
  assert_line --index 0 "$PWD/lib/cozybracket sample 1"
  HOOKS=lib/cozybracket.sh lane 'cd /; cozybracket_before'
  assert_line --index 0 "$PWD/lib/cozybracket sample 1"
  SHELL_OF_LANE=bash lane cozybracket_before
  assert_line --index 0 "$PWD/lib/cozybracket sample 1"
  PATH=$PWD/bin:$PATH lane cozybracket_before
  assert_line --index 0 "$PWD/bin/cozybracket sample 1"
  COZYBRACKET=$PWD/lib/cozybracket PATH=$PWD/bin:$PATH lane cozybracket_before
  assert_line --index 0 "$PWD/lib/cozybracket sample 1"
}

# --- the lane's variables ------------------------------------------------------------------

@test "knobs by the lane's rules: a bad one is a warning and the default, and holds that then" {
  export COZY_DIAG_READ_TIMEOUT=20s COZY_DIAG_READ_GRACE=05
  lane 'echo "$COZY_DIAG_READ_TIMEOUT $COZY_DIAG_READ_GRACE"'
  assert_line '20 5'
  log_says "^» WARNING: ignoring COZY_DIAG_READ_TIMEOUT='20s': .*; the default 20 is used$"
  log_says "^» WARNING: ignoring COZY_DIAG_READ_GRACE='05': .*leading zero; the default 5 is used$"
  assert_equal "$(wc -l <<<"$stderr")" 2
  COZY_DIAG_READ_TIMEOUT=0 COZY_DIAG_READ_GRACE=0 runner
  assert_line 'returned 0'
  log_says "ignoring COZY_DIAG_READ_TIMEOUT='0'"
  assert_outcome runner-kernel-cpu-time 1 complete '[bound: read timeout 20 s, grace 0 s]'
  COZY_DIAG_READ_TIMEOUT='' COZY_DIAG_READ_GRACE='' lane 'COZY_DIAG_READ_GRACE=; cozybracket_before'
  log_says "ignoring COZY_DIAG_READ_GRACE='': "
  log_is_silent_on READ_TIMEOUT
}

@test "no knob fails or ends a suite: nonsense, read-only, more than a day" {
  local value
  for value in -1 ' 7' 1e3 $'1\n::error::' '$(exit 3)' 99999999999999999999 86401; do
    COZY_DIAG_READ_TIMEOUT=$value COZY_SNAPSHOT_NAME=$value runner
    assert_line 'returned 0'
    [[ -z $(grep -vE '^(cozybracket|» WARNING): |^» WARNING' <<<"$stderr") ]] || fail "$stderr"
  done
  run -0 --separate-stderr dash -c 'set -eu; readonly COZY_DIAG_READ_TIMEOUT=x COZY_DIAG_READ_GRACE=y; . "$HOOKS"
    cozybracket_before; echo went on'
  assert_output 'went on'
}

@test "variables of the shell reach cozybracket though the lane does not export them" {
  unset COZY_REPORT_DIR COZY_DIAG_READ_TIMEOUT COZY_SNAPSHOT_NAME
  lane "COZY_REPORT_DIR='$REPORT' COZY_SNAPSHOT_NAME=named COZY_DIAG_READ_TIMEOUT=7
    cozybracket_before --only runner-shape"
  assert_output 'went on'
  run -0 cat "$(capture runner-shape 1 named)"
  assert_line '[bound: read timeout 7 s, grace 5 s]'
}

# --- the hooks --------------------------------------------------------------------------------

@test "before, after, report: both samples, the summary, and where the archive is; a second after is kept" {
  lane 'cozybracket_before --root tree; cozybracket_after --root tree; cozybracket_after --root tree; cozybracket_report'
  assert_equal "$status" 0
  assert_output 'went on'
  log_says '^cozybracket: verdict: '
  log_says '^cozybracket: placement: .*already: it is kept$'
  log_says "^cozybracket: wrote $REPORT.tgz, "
  assert_equal "$(grep -c '^cozybracket: sample 2: ' <<<"$stderr")" 1
}

@test "the drop-in functions tell one verdict behind the third sample 2, in whatever order" {
  local all='cozy_capture_sandbox_kvm_exits cozy_capture_runner_kernel_cpu_time cozy_capture_sandbox_qemu_thread_cpu'
  lane "for f in $all; do \$f 1 || true; done; for f in $all; do \$f 2 || true; done"
  assert_equal "$(grep -c '^cozybracket: verdict: ' <<<"$stderr")" 1
  log_says '^cozybracket: window [0-9.]+ s'
  log_says '^cozybracket: srv1 '
  assert_equal "$(grep -c -- '^--- ' <<<"$output")" 6
}

@test "run keeps COMMAND's status, output and input" {
  run --separate-stderr dash -c 'set -eu; . "$HOOKS"; cozybracket_run --root tree -- sh -c "cat; exit 4" || exit $?' <<<hello
  assert_equal "$status" 4
  assert_output hello
  log_says '^cozybracket: sample 2: '
  assert [ -e "$REPORT.tgz" ]
}

@test "wait: the status of a program and of a function, and a program that ends with its shell" {
  lane 'own() { return 6; }; cozybracket_wait own || echo "$?"; cozybracket_wait sh -c "exit 5" || echo "$?"; cozybracket_wait true'
  assert_output $'6\n5\nwent on'
  setpriv --pdeathsig TERM true || skip "this setpriv has no --pdeathsig"
  dash -c '. "$HOOKS"; cozybracket_wait sh -c "echo \$\$ >waits; exec sleep 600"; echo never' >out 2>&1 3>&- &
  eventually test -s waits
  kill -KILL $!
  eventually eval '! kill -0 "$(cat waits)" 2>/dev/null'
  refute [ -s out ]
}

# --- how a lane's shell may be ---------------------------------------------------------------------

@test "as plain statements, in conditions, in bash, with what a suite sets" {
  local shell mode
  export COZY_DIAG_SANDBOX_VM_ROOT="$PWD/a place *" COZY_REPORT_DIR="$REPORT of a *"
  mkdir "$COZY_DIAG_SANDBOX_VM_ROOT"
  for shell in dash bash; do
    for mode in 'set -f' 'set -C' 'IFS=/x' 'trap "exit 9" EXIT; trap - EXIT' 'date() { exit 8; }; sleep() { exit 8; }; timeout() { exit 8; }' \
      'exec </dev/null' 'unset TMPDIR; cd /'; do
      SHELL_OF_LANE=$shell lane "$mode
        cozybracket_before --root '$PWD/tree'
        if cozybracket_after --root '$PWD/tree'; then :; fi
        cozybracket_report && :
        cozy_capture_runner_kernel_cpu_time 1
        ! cozy_capture_runner_kernel_cpu_time 3"
      assert_equal "$status" 0
      assert_line 'went on'
      log_says '^cozybracket: wrote .* of a \*.tgz'
    done
  done
}

@test "standard input is the suite's" {
  run --separate-stderr dash -c 'set -eu; . "$HOOKS"; cozybracket_before; cozy_capture_sandbox_kvm_exits 1; cozybracket_report; cat' <<<'still there'
  assert_line 'still there'
}

@test "a N that is none, or missing, is refused and not fatal" {
  lane 'cozy_capture_sandbox_kvm_exits || echo "returned $?"; cozy_capture_sandbox_kvm_exits 3 || echo "returned $?"'
  assert_equal "$(grep -c '^returned 1$' <<<"$output")" 2
  assert_line 'went on'
}
