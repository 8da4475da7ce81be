#!/usr/bin/env bats
# A lane inside a container: the static executable copied in, dash as sh under `set -eu`, and no other program at all,
# no compiler, no Python, no coreutils. What is over leaves no process behind.

bats_require_minimum_version 1.5.0

setup_file() {
  load static_root
  build_static
}

setup() {
  load static_root
  static_root_setup
  mkdir -p "$SANDBOX"
  CHROOT=(env -i PATH=/usr/local/bin:/bin "$(command -v chroot)" "$ROOT")
}

teardown() { static_root_teardown; }

# The root of static.bats with dash beside our executable, which stands where the recipe copies it to.
make_container() {
  local dash file
  dash=$(command -v dash) || skip "no dash"
  make_root
  mkdir -p "$ROOT"/{bin,dev,usr/local/bin}
  mknod -m 666 "$ROOT/dev/null" c 1 3 || skip "no device can be made here"
  cp "$dash" "$ROOT/bin/sh"
  for file in $(ldd "$dash" | grep -o '/[^ ]*'); do install -D "$file" "$ROOT$file"; done
  mv "$ROOT/cozybracket" "$ROOT/wait_for_line" "$ROOT/usr/local/bin/"
  run -0 "${CHROOT[@]}" /bin/sh -c 'command -v cozybracket; command -v ls ps python3 cc || true'
  assert_output /usr/local/bin/cozybracket
}

# What an idle sandbox looks at: every process that its /proc shows, by name.
write_processes() {
  cat >"$ROOT/processes.sh" <<'END'
processes() { # WHEN
  names=
  for directory in /proc/[0-9]*; do
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
    names="$names $name"
  done
  echo "$1:$names"
}
END
}

# Runs standard input as a lane in a process namespace of its own: as in a container, process 1 is the lane's shell,
# and /proc shows what was started in there and nothing else.
in_container() {
  unshare --pid --fork --mount true 2>/dev/null || skip "a process namespace is not to be had here"
  write_processes
  { echo 'set -eu'; echo '. /processes.sh'; cat; } >"$ROOT/lane.sh"
  run --separate-stderr timeout --kill-after=1 120 unshare --pid --fork --kill-child --mount bash -c \
    'mount -t proc proc "$1/proc" && shift && exec "$@" /bin/sh /lane.sh' _ "$ROOT" "${CHROOT[@]}"
}

@test "the recipe: a hook before the wait and one after it, under set -eu" {
  start_nodes join:4,spin,halt
  make_container
  cat >"$ROOT/lane.sh" <<'END'
set -eu
export COZY_DIAG_SANDBOX_VM_ROOT=/sandbox COZY_REPORT_DIR=/cozyreport
close_bracket() {
  cozybracket sample 2 || true
  cozybracket pack || true
}
trap close_bracket EXIT
cozybracket sample 1 || true
wait_for_line /sandbox/srv1/serial.log joined 120
END
  run --separate-stderr "${CHROOT[@]}" /bin/sh /lane.sh
  assert_equal "$status" 0
  assert_output "found: joined"
  grep -Eq '^cozybracket: srv2 2 vcpus: ran [0-9.]+% waited [0-9.]+% ' <<<"$stderr" || fail "$stderr"
  grep -q '^cozybracket: verdict: ' <<<"$stderr" || fail "$stderr"
  run -0 tar tzf "$ROOT/cozyreport.tgz"
  assert_line ./cozyreport/snapshots/kubernetes/sandbox-qemu-thread-cpu/sample-2/qemu-threads.txt
}

@test "a lane that fails keeps its status, in hooks and around a command, and has its report" {
  make_container
  cat >"$ROOT/hooks.sh" <<'END'
set -eu
trap 'cozybracket sample 2 --report-dir /cozyreport || true; cozybracket pack --report-dir /cozyreport || true' EXIT
cozybracket sample 1 --report-dir /cozyreport || true
sh -c 'exit 9'
echo not reached
END
  cat >"$ROOT/around.sh" <<'END'
set -eu
cozybracket run --report-dir /cozyreport -- sh -c 'exit 9'
echo not reached
END
  local lane
  for lane in hooks around; do
    rm -rf "$ROOT/cozyreport" "$ROOT/cozyreport.tgz"
    run --separate-stderr "${CHROOT[@]}" /bin/sh "/$lane.sh"
    assert_equal "$lane $status" "$lane 9"
    assert_output ""
    run -0 tar tzf "$ROOT/cozyreport.tgz"
    assert_line ./cozyreport/snapshots/kubernetes/runner-kernel-cpu-time/sample-2/proc-stat.txt
  done
}

@test "no command leaves a process behind, so that an idle sandbox can end itself" {
  make_container
  in_container <<'END'
cozybracket sample 1 --report-dir /report || true
processes "after sample 1"
cozybracket sample 2 --report-dir /report || true
processes "after sample 2"
cozybracket pack --report-dir /report
processes "after pack"
cozybracket run --report-dir /report -- sh -c exit
processes "after run"
cozybracket analyze /report.tgz >/analysis
processes "after analyze"
cozybracket doctor >/sources || true
processes "after doctor"
END
  assert_equal "$status" 0
  assert_output "after sample 1: sh
after sample 2: sh
after pack: sh
after run: sh
after analyze: sh
after doctor: sh"
}

@test "between watch start and watch stop one process stays, which ends with what it was named" {
  make_container
  in_container <<'END'
cozybracket watch start --report-dir /report
processes "after start"
cozybracket watch stop --report-dir /report
processes "after stop"
wait_for_line /lane.sh never 120 &
cozybracket watch start --report-dir /report --while-pid $!
kill $!
wait $! || true
looks=0
while [ "$looks" -lt 20000 ] && processes look >/dev/null && [ "$names" != " sh" ]; do looks=$((looks + 1)); done
processes "after its end"
END
  assert_equal "$status" 0
  assert_output "after start: sh cozybracket
after stop: sh
after its end: sh"
  [[ $stderr == *"until \`watch stop\`, the end of the sandbox's last QEMU, "* ]] || fail "$stderr"
}

@test "while run waits it and its recorder go by their own name, which no look for QEMU passes over" {
  make_container
  in_container <<'END'
cozybracket run --report-dir /report -- sh -c '. /processes.sh; processes "in run"'
cozybracket run --report-dir /report --interval 0 -- sh -c '. /processes.sh; processes "in run"' >&2
END
  assert_equal "$status" 0
  assert_equal "$(tr ' ' '\n' <<<"${output#in run: }" | sort | paste -sd ' ')" "cozybracket cozybracket sh sh"
  grep -q '^in run: .*cozybracket' <<<"$stderr" && ! grep -q '^in run: .*cozybracket.*cozybracket' <<<"$stderr" || fail "$stderr"
}

@test "a run that is ended leaves nothing, and neither does one that is killed" {
  make_container
  in_container <<'END'
for signal in TERM KILL; do
  cozybracket run --report-dir "/report-$signal" -- sh -c "echo begun >/$signal; exec wait_for_line /lane.sh never 120" &
  wait_for_line "/$signal" begun 60 >/dev/null
  kill -s "$signal" $!
  wait $! || true
  looks=0
  # The command is told by the kernel when run is killed, and takes a moment.
  while [ "$signal" = KILL ] && [ "$looks" -lt 5000 ] && processes look >/dev/null && [ "$names" != " sh" ]; do
    looks=$((looks + 1))
  done
  processes "after SIG$signal"
done
END
  assert_equal "$status" 0
  assert_output "after SIGTERM: sh
after SIGKILL: sh"
}
