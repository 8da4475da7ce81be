#!/usr/bin/env bats
# KVM's statistics of real guests, attributed to node and vCPU by name: in this PID namespace and in one of its own,
# with kernel lockdown and without.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  need_root "to borrow another process's descriptors"
  [[ -w /dev/kvm ]] || skip "no /dev/kvm to run guests with"
  lane_setup
}

teardown() {
  lane_teardown
  cozy_teardown
}

# A node without QEMU: tests/tools/qemu-system-test.cpp. Its process number is in $SANDBOX/NAME/qemu.pid.
guest() { # NAME MODE [OPTION...]
  local name=$1 mode=$2
  shift 2
  mkdir -p "$SANDBOX/$name"
  "$COZY_BUILD/qemu-system-test" -name "guest=$name,debug-threads=on" -pidfile "$SANDBOX/$name/qemu.pid" \
    -mode "$mode" "$@" </dev/null >"$SANDBOX/$name/log" 2>&1 3>&- &
  disown
  eventually_runs "$name"
}

eventually_runs() { # NAME
  local deadline=$((SECONDS + 60))
  until [[ -s $SANDBOX/$1/qemu.pid ]]; do
    grep -qs 'KVM\|/dev/kvm\|mmap' "$SANDBOX/$1/log" && skip "KVM cannot be used here: $(cat "$SANDBOX/$1/log")"
    [[ $SECONDS -lt $deadline ]] || fail "$1 does not run: $(cat "$SANDBOX/$1/log")"
    sleep 0.05
  done
}

sample() { # N [OPTION...]
  local n=$1
  shift
  run -0 --separate-stderr "$COZYBRACKET" sample "$n" --sandbox "$SANDBOX" --report-dir "$REPORT" \
    --only sandbox-kvm-exits "$@"
}

# Both samples, three seconds apart.
bracket() {
  sample 1
  sleep 3
  sample 2
}

value() { # SCOPE FIELD SAMPLE: of one vCPU, "srv1/vcpu0"
  awk -v scope="[vcpu $1]" -v field="$2" '$1 " " $2 == scope && $3 == field { print $4 }' \
    "$(capture sandbox-kvm-exits "$3")" | grep -x '[0-9]*' || fail "no $2 of $1 in sample $3"
}

climb() { # SCOPE FIELD
  echo $(($(value "$1" "$2" 2) - $(value "$1" "$2" 1)))
}

# Nanoseconds between the reads of one vCPU.
between_reads() { # SCOPE
  local n stamps=()
  for n in 1 2; do
    stamps+=("$(sed -n "s|^\[vcpu $1 is .* read from \([0-9]*\) to .*|\1|p" "$(capture sandbox-kvm-exits "$n")")")
  done
  echo $((stamps[1] - stamps[0]))
}

at_least() { [[ $1 -ge $2 ]] || fail "$3: $1, less than $2"; }

# The scopes of the vCPUs of our own nodes in a capture, by name: other guests may run here as well.
scopes() { # SAMPLE
  local scope pid
  sed -n 's/^\[vcpu \(.*\) is kvm-.* of process \([0-9]*\) start .*/\1 \2/p' "$(capture sandbox-kvm-exits "$1")" |
    while read -r scope pid; do
      ! grep -qsx "$pid" "$SANDBOX"/srv*/qemu.pid "$SANDBOX"/killed || echo "$scope"
    done | sort | xargs
}

refused_by_lockdown() { grep -q '^\[kernel lockdown: \(integrity\|confidentiality\)\]$' "$(capture sandbox-kvm-exits 1)"; }

# The halts of a vCPU are those of its guest; every exit of a halting one is a halt.
assert_halted() { # SCOPE
  local halted interval
  halted=$(climb "$1" halt_wait_ns)
  interval=$(between_reads "$1")
  at_least $((halted * 100 / interval)) 90 "share halted of $1"
  [[ $halted -le $((interval + 200000000)) ]] || fail "$1 was halted $halted ns of $interval"
  at_least "$(climb "$1" halt_exits)" 10 "halts of $1"
}

assert_never_halted() { # SCOPE
  assert_equal "$(climb "$1" halt_exits)" 0
  assert_equal "$(climb "$1" halt_wait_ns)" 0
}

# kvm_pvm emulates real mode and counts no port I/O as such: there it is exits for emulated instructions.
assert_port_io() { # SCOPE
  at_least "$(climb "$1" exits)" 3000 "exits of $1"
  if [[ -e /sys/module/kvm_pvm ]]; then
    at_least "$(climb "$1" insn_emulation)" 3000 "emulated instructions of $1"
  else
    at_least "$(climb "$1" io_exits)" 3000 "port I/O of $1"
  fi
}

# Starts nodes in a PID namespace of its own, as in a container, and runs the shell text from stdin there: other
# people's QEMUs are not seen, though debugfs shows their VMs. NODE is NAME:MODE.
in_namespace() { # NODE... [-no-statistics] <SCRIPT
  local unshared=(unshare --pid --mount --fork --kill-child --mount-proc)
  "${unshared[@]}" true || skip "no PID namespace can be made here"
  cat >script
  cat >inside <<'END'
option=
for node; do
  case $node in -*) option=$node; continue ;; esac
  mkdir -p "$SANDBOX/${node%:*}"
  "$COZY_BUILD/qemu-system-test" -name "guest=${node%:*}" -pidfile "$SANDBOX/${node%:*}/qemu.pid" \
    -mode "${node#*:}" $option </dev/null >"$SANDBOX/${node%:*}/log" 2>&1 &
done
for node; do
  until [ "${node#-}" != "$node" ] || [ -s "$SANDBOX/${node%:*}/qemu.pid" ]; do
    ! grep -q 'KVM\|/dev/kvm' "$SANDBOX/${node%:*}/log" || exit 77
    sleep 0.1
  done
done
. ./script
END
  export SANDBOX REPORT
  run --separate-stderr "${unshared[@]}" sh inside "$@" 3>&-
  [[ $status != 77 ]] || skip "KVM cannot be used here: $(cat "$SANDBOX"/srv*/log)"
}

# --- without QEMU -----------------------------------------------------------------

@test "two vCPUs, two scopes: spinning ones never halt, halting ones hardly do anything else" {
  guest srv1 spin
  guest srv2 halt
  guest srv3 portio
  bracket
  assert_outcome sandbox-kvm-exits 2 complete
  assert_equal "$(scopes 1)" "srv1/vcpu0 srv1/vcpu1 srv2/vcpu0 srv2/vcpu1 srv3/vcpu0 srv3/vcpu1"
  assert_equal "$(scopes 2)" "$(scopes 1)"
  local vcpu
  for vcpu in vcpu0 vcpu1; do
    assert_never_halted "srv1/$vcpu"
    assert_halted "srv2/$vcpu"
    assert_never_halted "srv3/$vcpu"
    assert_port_io "srv3/$vcpu"
  done
}

@test "the directory of debugfs is tied to its node by the thread number of a vCPU" {
  guest srv1 spin
  guest srv2 halt
  sample 1
  run -0 cat "$(capture sandbox-kvm-exits 1)"
  assert_line --regexp '^\[debugfs: '
  local srv pid
  for srv in srv1 srv2; do
    pid=$(cat "$SANDBOX/$srv/qemu.pid")
    [[ $(readlink /proc/self/ns/pid) != 'pid:[4026531836]' ]] || assert_line --regexp "^\[vm $pid-[0-9]+ is $srv;"
    assert_line --regexp "^\[vm [0-9]+-[0-9]+ is $srv; evidence: thread number of a vCPU's statistics\]$"
  done
}

@test "the collector's own VM is in no number, with many samples at once" {
  guest srv1 spin
  guest srv2 spin
  mkdir -p tree/dev tree/sys/kernel/debug/kvm/1-2
  mknod tree/dev/kvm c 10 232 || skip "no device can be made here"
  echo 5 >tree/sys/kernel/debug/kvm/1-2/exits
  local loop round own vm
  # Each of these makes a VM of its own, again and again, while the machine itself is read.
  for loop in 1 2 3; do
    (while [[ ! -e stop ]]; do "$COZYBRACKET" probe sandbox-kvm-exits --root tree >"own.$loop" 2>&1; done) 3>&- &
  done
  for round in {1..10}; do "$COZYBRACKET" probe sandbox-kvm-exits --sandbox "$SANDBOX" >"read.$round"; done
  touch stop
  wait
  grep -q '^\[kind\] exits cumulative none 10^0$' own.1 || skip "KVM describes nothing here: $(grep '^\[kinds' own.1)"
  own=$(sed -n 's/^\(\[vm [0-9-]*\) is srv[12];.*/\1/p' read.1)
  assert_equal "$(wc -l <<<"$own")" 2
  for round in {1..10}; do
    run -0 cat "read.$round"
    refute_output --partial vcpu240
    # Whatever other VM stands there has run: it is somebody's guest.
    while read -r vm; do
      grep -q "^\[vm $vm vcpu[0-9]*\] pid [1-9]" "read.$round" || fail "$vm has run nothing: $(grep "$vm" "read.$round")"
    done < <(sed -n 's/^\[vm \([0-9-]*\) is anonymous.*/\1/p' "read.$round")
    run -0 sed -n 's/^\(\[vm [0-9-]*\) is srv[12];.*/\1/p' "read.$round"
    assert_output "$own"
  done
}

@test "a captured tree's counters get their kinds from this machine's KVM only through its own device" {
  make_tree tree
  run -0 "$COZYBRACKET" probe sandbox-kvm-exits --root tree
  assert_line --regexp '^\[kinds by permission bits: .*; no descriptors: /dev/kvm: ENOENT'
  mkdir tree/dev
  mknod tree/dev/kvm c 10 232 || skip "no device can be made here"
  run -0 "$COZYBRACKET" probe sandbox-kvm-exits --root tree
  assert_line --regexp '^\[kinds by descriptors: [0-9]+ of a VM and [0-9]+ of a vCPU'
  assert_line '[kind] exits cumulative none 10^0'
  assert_line '[kind] max_mmu_rmap_size peak none 10^0'
  assert_line '[kind] halt_wait_ns cumulative seconds 10^-9'
  refute_output --partial 'vcpu240'
}

# --- outcomes ---------------------------------------------------------------------

@test "vCPU statistics and a debugfs that lockdown refuses: complete, and one sentence on what is missing" {
  guest srv1 halt
  sample 1
  refused_by_lockdown || skip "no kernel lockdown here"
  assert_outcome sandbox-kvm-exits 1 complete
  assert_line --regexp '^\[lockdown: [0-9]+ counter files were not opened or were refused; mode '
  assert_line --regexp '^\[kinds by permission bits: '
  refute_output --partial '[kind] '  # nothing was left to tell apart, and no VM was made for it
  assert_line --regexp '^\[vcpu srv1/vcpu0\] exits [0-9]+ cumulative '
}

@test "a QEMU without vCPU statistics under lockdown: gauges, named so, and no counter reading" {
  in_namespace -no-statistics srv1:halt <<'END'
"$COZYBRACKET" sample 1 --sandbox "$SANDBOX" --report-dir "$REPORT" --only sandbox-kvm-exits
END
  local ended=$status log=$stderr
  refused_by_lockdown || skip "no kernel lockdown here"
  assert_equal "$ended" 1
  assert_outcome sandbox-kvm-exits 1 unavailable 'counters refused by kernel lockdown, only gauges were read'
  assert_line --regexp '^\[vm [0-9]+-[0-9]+\] blocking [0-9]+ 0444$'
  refute_line --regexp '^\[vcpu .* is kvm-'
  assert_equal "$(grep -c 'only gauges were read' <<<"$log")" 1
}

@test "a QEMU that is killed between two samples: its rows are in the first, and the others go on" {
  guest srv1 halt
  guest srv2 spin
  sample 1
  mv "$SANDBOX/srv2/qemu.pid" "$SANDBOX/killed"
  kill -KILL "$(cat "$SANDBOX/killed")"
  sleep 0.5
  sample 2
  assert_outcome sandbox-kvm-exits 2 complete
  assert_equal "$(scopes 1)" "srv1/vcpu0 srv1/vcpu1 srv2/vcpu0 srv2/vcpu1"
  assert_equal "$(scopes 2)" "srv1/vcpu0 srv1/vcpu1"
}

@test "a QEMU that is killed while samples are taken: each capture is whole for the others and says who left" {
  guest srv1 halt
  local round
  for round in {1..8}; do
    guest srv9 spin
    (sleep "0.00$round"; kill -KILL "$(cat "$SANDBOX/srv9/qemu.pid")") 3>&- &
    run -0 "$COZYBRACKET" probe sandbox-kvm-exits --sandbox "$SANDBOX"
    wait
    rm "$SANDBOX/srv9/qemu.pid"
    assert_line --regexp '^\[vcpu srv1/vcpu0\] exits [0-9]+ '
    assert_line --regexp '^\[vcpu srv1/vcpu1\] exits [0-9]+ '
    refute_line --regexp '^\[not read .*srv9'
    # Either all of it was read before, or it was gone before, or it is said.
    [[ $output != *'[vcpu srv9/vcpu0 is '* || $output == *'[vcpu srv9/vcpu1 is '* ]] ||
      assert_line '[srv9 left while it was read]'
  done
}

# --- QEMU -------------------------------------------------------------------------

# With vCPU statistics, after sample 1.
qemu_nodes() { # LANE-OPTION...
  nodes "$@"
  sample 1
  [[ $(scopes 1) == *srv1/vcpu0* ]] || skip "this QEMU holds no vCPU statistics (8.1 and newer does)"
}

@test "QEMU: spin, halt and port I/O, each vCPU by name" {
  qemu_nodes --roles spin,halt,portio
  bracket
  assert_outcome sandbox-kvm-exits 2 complete
  assert_equal "$(scopes 2)" "srv1/vcpu0 srv1/vcpu1 srv2/vcpu0 srv2/vcpu1 srv3/vcpu0 srv3/vcpu1"
  assert_never_halted srv1/vcpu0
  assert_never_halted srv1/vcpu1
  assert_port_io srv3/vcpu0
  assert_never_halted srv3/vcpu0
  # A node that halts without any timer never wakes: then it is asleep in both readings and has left no guest mode.
  at_least $(($(climb srv2/vcpu0 halt_wait_ns) + $(value srv2/vcpu0 blocking 2) * $(between_reads srv2/vcpu0))) \
    $(($(between_reads srv2/vcpu0) * 9 / 10)) "time that srv2/vcpu0 was halted"
}

@test "in a PID namespace of its own, as in a container, the rows are exact by name" {
  in_namespace srv1:spin srv2:halt <<'END'
for n in 1 2; do
  "$COZYBRACKET" sample "$n" --sandbox "$SANDBOX" --report-dir "$REPORT" --only sandbox-kvm-exits || exit
  sleep 2
done
END
  assert_equal "$status" 0
  assert_outcome sandbox-kvm-exits 2 complete
  assert_equal "$(scopes 2)" "srv1/vcpu0 srv1/vcpu1 srv2/vcpu0 srv2/vcpu1"
  assert_never_halted srv1/vcpu0
  assert_halted srv2/vcpu0
  assert_halted srv2/vcpu1
  # Processes have small numbers in there, and debugfs has those of the machine: the thread number ties them.
  run -0 cat "$(capture sandbox-kvm-exits 2)"
  local srv inner
  for srv in srv1 srv2; do
    inner=$(cat "$SANDBOX/$srv/qemu.pid")
    assert_line --regexp "^\[vcpu $srv/vcpu0 is kvm-[0-9]+/vcpu-0 of process $inner start "
    assert_line --regexp "^\[vm [0-9]+-[0-9]+ is $srv; evidence: thread number of a vCPU's statistics\]$"
    refute_line --regexp "^\[vm $inner-"
  done
}

@test "in a PID namespace of its own, without vCPU statistics, what else is known decides or the VM is anonymous" {
  in_namespace -no-statistics srv1:halt <<'END'
"$COZYBRACKET" probe sandbox-kvm-exits --sandbox "$SANDBOX"
END
  assert_equal "$status" 0
  assert_line --regexp \
    '^\[vm [0-9]+-[0-9]+ is (srv1; evidence: (number of its kvm-vm descriptor|birth just after)|anonymous;)'
  refute_output --partial 'process number in the initial'
}
