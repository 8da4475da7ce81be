#!/usr/bin/env bats
# hack/lane with real QEMU processes and the boot sectors of this directory.

bats_require_minimum_version 1.5.0

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  LANE=$ROOT/hack/lane
  SANDBOX=$BATS_TEST_TMPDIR/sandbox
  FOREIGN=
}

teardown() {
  # Should a test leave a state file edited, bring the true one back first.
  [[ ! -e $BATS_TEST_TMPDIR/true.state ]] || cp "$BATS_TEST_TMPDIR/true.state" "$SANDBOX/lane.state"
  [[ ! -e $SANDBOX/lane.state ]] || "$LANE" down --sandbox "$SANDBOX"
  [[ -z $FOREIGN ]] || kill "$FOREIGN" 2>/dev/null || true
}

need_qemu() { command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64; hack/setup --lane installs it"; }

up() { "$LANE" up --sandbox "$SANDBOX" "$@"; }

pid_of() { awk -v name="$1" '$1 == "node" && $2 == name { print $3 }' "$SANDBOX/lane.state"; }

# Waits, generously, until the node's serial log holds the line.
wait_for_line() { # NODE LINE
  local deadline=$((SECONDS + 120))
  until tr -d '\r' <"$SANDBOX/$1/serial.log" | grep -qxF "$2"; do
    [[ $SECONDS -lt $deadline ]] || { cat "$SANDBOX/$1/serial.log" >&2; return 1; }
    sleep 0.1
  done
}

# The guest time of every thread of a process, in clock ticks (field 43).
guest_ticks() { sed 's/.*) //' /proc/"$1"/task/*/stat | awk '{ sum += $41 } END { print sum + 0 }'; }

is_alive() { [[ -r /proc/$1/stat && $(sed 's/.*) //; s/ .*//' "/proc/$1/stat") != Z ]]; }

# --- up, status, down ---------------------------------------------------------

@test "up starts a node per role, status shows each, down ends them" {
  need_qemu
  run -0 --separate-stderr up --roles join:3,spin,halt,portio
  assert_line --regexp '^srv1  pid [0-9]+  join:3  alive  (kvm|tcg)  serial: '
  assert_line --regexp '^srv2  pid [0-9]+  spin  alive  '
  assert_line --regexp '^srv3  pid [0-9]+  halt  alive  .*serial: halted$'
  assert_line --regexp '^srv4  pid [0-9]+  portio  alive  .*serial: port I/O$'
  wait_for_line srv1 joined
  run -0 --separate-stderr "$LANE" status --sandbox "$SANDBOX"
  assert_line --regexp '^srv1 .*serial: joined$'

  local pid pids
  pids=$(for n in 1 2 3 4; do pid_of "srv$n"; done)
  run -0 "$LANE" down --sandbox "$SANDBOX"
  for pid in $pids; do refute is_alive "$pid"; done
  assert [ ! -e "$SANDBOX/lane.state" ]
}

@test "a node is started as the lane starts it: name, pid file, threads named, two vCPUs" {
  need_qemu
  up --roles halt --nodes 1
  local pid
  pid=$(pid_of srv1)
  assert_equal "$(cat "$SANDBOX/srv1/qemu.pid")" "$pid"
  run -0 bash -c "tr '\0' ' ' </proc/$pid/cmdline"
  assert_output --partial ' -name guest=srv1,debug-threads=on '
  assert_output --partial ' -pidfile srv1/qemu.pid '
  run -0 bash -c "cat /proc/$pid/task/*/comm"
  assert_line --regexp '^CPU 0/(KVM|TCG)$'
  assert_line --regexp '^CPU 1/(KVM|TCG)$'
}

@test "--no-debug-threads leaves the vCPU threads unnamed" {
  need_qemu
  up --roles halt --nodes 1 --no-debug-threads
  run -0 bash -c "cat /proc/$(pid_of srv1)/task/*/comm"
  refute_line --regexp '^CPU 0/'
}

@test "--iothreads gives each QEMU as many threads more" {
  need_qemu
  up --roles halt --nodes 1 --iothreads 5
  run -0 bash -c "cat /proc/$(pid_of srv1)/task/*/comm | grep -c '^IO io'"
  assert_output 5
}

@test "the spinning guest keeps both of its vCPUs busy" {
  need_qemu
  up --roles spin --nodes 1
  wait_for_line srv1 spinning
  wait_for_line srv1 "another vCPU spinning"
}

@test "under KVM a spinning guest is accounted as guest time" {
  need_qemu
  up --roles spin --nodes 1
  grep -q '^node srv1 .* kvm$' "$SANDBOX/lane.state" || skip "KVM does not work here"
  local deadline=$((SECONDS + 60))
  until [[ $(guest_ticks "$(pid_of srv1)") -gt 10 ]]; do
    [[ $SECONDS -lt $deadline ]] || fail "the guest time stays at $(guest_ticks "$(pid_of srv1)") ticks"
    sleep 0.1
  done
}

@test "nodes beyond the roles halt" {
  need_qemu
  run -0 --separate-stderr up --roles portio --nodes 2
  assert_line --regexp '^srv2  pid [0-9]+  halt  alive  '
}

@test "under TCG the same guests run, and a node that is asked for TCG says so" {
  need_qemu
  run -0 --separate-stderr up --accel tcg --roles join:1,spin,halt
  assert_line --regexp '^srv2  pid [0-9]+  spin  alive  tcg '
  wait_for_line srv1 joined
}

@test "where KVM does not start, TCG is taken and said aloud" {
  need_qemu
  printf '#!/bin/sh\ncase "$*" in *accel=kvm*) echo "no such luck" >&2; exit 1 ;; esac\nexec qemu-system-x86_64 "$@"\n' \
    >"$BATS_TEST_TMPDIR/qemu"
  chmod +x "$BATS_TEST_TMPDIR/qemu"
  run -0 --separate-stderr up --nodes 1 --roles halt --qemu "$BATS_TEST_TMPDIR/qemu"
  [[ $stderr == *"no such luck"* && $stderr == *"WARNING: KVM does not work here"* ]]
  assert_line --regexp '^srv1 .* alive  tcg '
}

# --- the caller's descriptors -------------------------------------------------

@test "no descriptor of the caller stays open in a node" {
  need_qemu
  mkfifo "$BATS_TEST_TMPDIR/pipe"
  timeout 120 cat "$BATS_TEST_TMPDIR/pipe" >"$BATS_TEST_TMPDIR/read" & # ends when every writer is gone
  local reader=$!
  up --nodes 1 --roles halt >"$BATS_TEST_TMPDIR/pipe" 9>&1
  wait "$reader"
  run -0 cat "$BATS_TEST_TMPDIR/read"
  assert_line --regexp '^srv1 '
  run -0 bash -c "ls -l /proc/$(pid_of srv1)/fd"
  refute_output --partial "$BATS_TEST_TMPDIR/pipe"
  run -0 timeout 60 bash -c "'$LANE' status --sandbox '$SANDBOX' | cat"
}

# --- identity -----------------------------------------------------------------

@test "down leaves a process alone whose start time is another one" {
  need_qemu
  up --nodes 2 --roles halt,halt
  local first second
  first=$(pid_of srv1)
  second=$(pid_of srv2)
  cp "$SANDBOX/lane.state" "$BATS_TEST_TMPDIR/true.state"
  sed -i -E "s/^(node srv1 $first) [0-9]+/\1 1/" "$SANDBOX/lane.state"

  run -1 --separate-stderr "$LANE" status --sandbox "$SANDBOX"
  assert_line --regexp "^srv1  pid $first  halt  another process  "
  run -0 "$LANE" down --sandbox "$SANDBOX"
  assert_output --partial "pid $first of srv1 is another process by now; left alone"
  assert is_alive "$first"
  refute is_alive "$second"
}

@test "down leaves a QEMU alone that up did not start" {
  need_qemu
  qemu-system-x86_64 -machine type=pc,accel=tcg -S -m 16 -nodefaults -vga none -display none \
    -name guest=srv9 -daemonize -pidfile "$BATS_TEST_TMPDIR/foreign.pid" 3>&-
  FOREIGN=$(cat "$BATS_TEST_TMPDIR/foreign.pid")
  up --nodes 1 --roles halt
  "$LANE" down --sandbox "$SANDBOX"
  assert is_alive "$FOREIGN"
}

@test "up refuses a sandbox whose pid file names a living QEMU of somebody else" {
  need_qemu
  mkdir -p "$SANDBOX/srv1"
  qemu-system-x86_64 -machine type=pc,accel=tcg -S -m 16 -nodefaults -vga none -display none \
    -daemonize -pidfile "$SANDBOX/srv1/qemu.pid" 3>&-
  FOREIGN=$(cat "$SANDBOX/srv1/qemu.pid")
  run -1 up --nodes 1 --roles halt
  assert_output --partial "names a live QEMU (pid $FOREIGN) that this lane did not start"
  assert is_alive "$FOREIGN"
  assert [ ! -e "$SANDBOX/lane.state" ]
}

@test "status names a node that is gone" {
  need_qemu
  up --nodes 1 --roles halt
  kill -KILL "$(pid_of srv1)"
  local deadline=$((SECONDS + 60))
  while is_alive "$(pid_of srv1)"; do [[ $SECONDS -lt $deadline ]] || fail "still alive"; sleep 0.1; done
  run -1 --separate-stderr "$LANE" status --sandbox "$SANDBOX"
  assert_line --regexp '^srv1  pid [0-9]+  halt  gone  '
}

# --- failures of up -----------------------------------------------------------

@test "up ends what it started when one node fails" {
  need_qemu
  printf '#!/bin/sh\ncase "$*" in *guest=srv2,*) echo "srv2 will not" >&2; exit 1 ;; esac\n%s\n' \
    "echo \"\$*\" >>'$BATS_TEST_TMPDIR/started'; exec qemu-system-x86_64 \"\$@\"" >"$BATS_TEST_TMPDIR/qemu"
  chmod +x "$BATS_TEST_TMPDIR/qemu"
  run -1 up --qemu "$BATS_TEST_TMPDIR/qemu"
  assert_output --partial "srv2 did not start with"
  assert_output --partial "srv2 will not"
  assert_output --partial "what was started of it has been ended"
  assert [ ! -e "$SANDBOX/lane.state" ]
  assert [ -s "$BATS_TEST_TMPDIR/started" ]
  local uuid
  uuid=$(sed 's/.*-uuid \([^ ]*\) .*/\1/; q' "$BATS_TEST_TMPDIR/started")
  run -0 bash -c "grep -lzFxs -- '$uuid' /proc/[0-9]*/cmdline || true" # processes come and go: 2 is no error
  assert_output ''
}

@test "down ends the nodes of an up that was killed half-way" {
  need_qemu
  up --nodes 2 --roles halt,halt
  local first second
  first=$(pid_of srv1)
  second=$(pid_of srv2)
  sed -i -e '/^up$/d' -e '/^node srv2 /d' "$SANDBOX/lane.state" # killed before srv2 was recorded
  run -1 "$LANE" status --sandbox "$SANDBOX"
  assert_output --partial "unfinished"
  run -0 "$LANE" down --sandbox "$SANDBOX"
  refute is_alive "$first"
  refute is_alive "$second"
}

@test "up refuses a sandbox that is up, and names the way out" {
  need_qemu
  up --nodes 1 --roles halt
  run -1 up --nodes 1 --roles halt
  assert_output --partial "a lane is up already in '$SANDBOX'"
  assert_output --partial "hack/lane down --sandbox '$SANDBOX'"
  assert is_alive "$(pid_of srv1)"
}

# --- refusals that need no QEMU -----------------------------------------------

@test "a bad value is refused by name" {
  run -2 "$LANE" up --sandbox "$SANDBOX" --roles dance
  assert_output --partial "'dance' is not a role"
  run -2 "$LANE" up --sandbox "$SANDBOX" --roles join:0
  assert_output --partial "the time of role 'join:0' is '0', not a whole number from 1 to 3599"
  run -2 "$LANE" up --sandbox "$SANDBOX" --nodes 2 --roles halt,halt,halt
  assert_output --partial "--roles names 3 nodes, --nodes says 2"
  run -2 "$LANE" up --sandbox "$SANDBOX" --vcpus two
  assert_output --partial "--vcpus is 'two'"
  run -2 "$LANE" up --sandbox "$SANDBOX" --frob 1
  assert_output --partial "unknown option '--frob'"
  run -2 "$LANE" up --sandbox
  assert_output --partial "'--sandbox' is unknown or lacks its value"
  run -2 "$LANE" sideways
  assert_output --partial "unknown command 'sideways'"
  assert [ ! -e "$SANDBOX" ]
}

@test "a QEMU that is missing is named, with what installs it" {
  run -1 "$LANE" up --sandbox "$SANDBOX" --qemu no-such-qemu
  assert_output --partial "'no-such-qemu' is missing; hack/setup --lane installs it"
}

@test "without a lane, status and down say how to start one" {
  run -1 "$LANE" status --sandbox "$SANDBOX"
  assert_output --partial "no lane is up in '$SANDBOX'; start one with: hack/lane up"
  run -1 "$LANE" down --sandbox "$SANDBOX"
  assert_output --partial "no lane is up"
}

# --- the boot sectors and the wait --------------------------------------------

@test "every boot sector has 512 bytes and the boot mark" {
  local source
  for source in "$BATS_TEST_DIRNAME"/*.S; do
    run -0 "$BATS_TEST_DIRNAME/assemble" "$source" "$BATS_TEST_TMPDIR/sector.img"
    assert_equal "$(stat -c %s "$BATS_TEST_TMPDIR/sector.img")" 512
    assert_equal "$(tail -c 2 "$BATS_TEST_TMPDIR/sector.img" | od -An -tx1 | tr -d ' ')" 55aa
  done
}

@test "a source that does not assemble leaves no image" {
  echo '.code16; not_an_instruction' >"$BATS_TEST_TMPDIR/bad.S"
  run ! "$BATS_TEST_DIRNAME/assemble" "$BATS_TEST_TMPDIR/bad.S" "$BATS_TEST_TMPDIR/bad.img"
  assert [ ! -e "$BATS_TEST_TMPDIR/bad.img" ]
}

@test "wait-for-join ends with 0 at the join and with 124 at its deadline" {
  mkdir -p "$SANDBOX/srv1"
  printf 'waiting to join\r\n' >"$SANDBOX/srv1/serial.log"
  run -124 "$ROOT/hack/wait-for-join" "$SANDBOX" srv1 1
  assert_output --partial "the deadline; last line: waiting to join"
  printf 'joined\r\n' >>"$SANDBOX/srv1/serial.log"
  run -0 "$ROOT/hack/wait-for-join" "$SANDBOX" srv1 1
  run -2 "$ROOT/hack/wait-for-join" "$SANDBOX" srv7 1
  assert_output --partial "there is no node 'srv7'"
}
