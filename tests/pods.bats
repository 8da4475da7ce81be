#!/usr/bin/env bats
# Tenant workers: the thread probe inside a container that a stand-in for kubectl enters, a real QEMU in it.

bats_require_minimum_version 1.5.0

setup_file() {
  load static_root
  build_static
}

setup() {
  load support
  cozy_setup
  unset TMPDIR
  export COZY_PODS=$BATS_TEST_TMPDIR/pods COZY_KUBECTL=$COZY_SOURCE/tests/tools/kubectl
  mkdir -p "$COZY_PODS/tenant-test"
  TENANTS=$REPORT/snapshots/kubernetes/tenant-thread-cpu
}

teardown() { cozy_teardown; }

pod() { # NAME [BEHAVES]
  mkdir -p "$COZY_PODS/tenant-test/$1"
  echo "${2:-}" >"$COZY_PODS/tenant-test/$1/behaves"
}

# A container of that pod: PID and mount namespaces of its own, every folder for programs a tmpfs.
container() { # POD TMPFS-OPTIONS PROGRAM...
  local folder=$COZY_PODS/tenant-test/$1 options=$2 tool
  CONTAINER=$folder
  shift 2
  need_root "a container"
  mkdir -p "$folder" "$BATS_TEST_TMPDIR/tools"
  for tool in cat chmod ${EXTRA_TOOLS:-}; do ln -sf "$(command -v "$tool")" "$BATS_TEST_TMPDIR/tools/$tool"; done
  ln -sf "$(command -v dash || command -v sh)" "$BATS_TEST_TMPDIR/tools/sh"
  # shellcheck disable=SC2016 # for the shell that becomes the first process
  unshare --pid --fork --kill-child --mount --mount-proc sh -c '
    mount --bind "$1" /mnt && for place in /dev/shm /run /var/tmp /tmp; do
      mount -t tmpfs -o "$2" tmpfs "$place" || exit
    done
    echo ready >&3 && shift 2 && exec 3>&- && exec "$@"' sh "$BATS_TEST_TMPDIR/tools" "$options" "$@" \
    3>"$folder/ready" </dev/null >"$folder/log" 2>&1 &
  local outer=$!
  eventually eval "[[ -s $folder/ready ]] || ! kill -0 $outer 2>/dev/null"
  [[ -s $folder/ready ]] || skip "no container can be made here: $(cat "$folder/log")"
  pgrep --parent "$outer" >"$folder/pid"
}

qemu() { # POD TMPFS-OPTIONS
  local program
  program=$(command -v qemu-system-x86_64) || skip "no qemu-system-x86_64; hack/setup --lane installs it"
  container "$1" "$2" "$program" -name guest=worker,debug-threads=on -nodefaults -display none -m 16 -smp 2 \
    -accel kvm -accel tcg
  eventually eval "[[ \$(ls /proc/$(cat "$COZY_PODS/tenant-test/$1/pid")/task | wc -l) -ge 4 ]]"
}

tenants() { # N OPTION...: the tenant workers alone, by the executable that ships
  run --separate-stderr "${PROGRAM:-$STATIC}" sample "$1" --report-dir "$REPORT" --only tenant-thread-cpu "${@:2}"
}

assert_said() { grep -qF -- "$1" <<<"$stderr" || fail "'$1' is not in: $stderr"; }

threads() { grep -Eo '^[0-9]+ \((CPU [0-9]+/[A-Z]+|qemu[^)]*)\)' "$1" | sort; }

# The files in the container's folders for programs that find takes.
left_there() { # FIND-TEST...
  nsenter --target "$(cat "$CONTAINER/pid")" --mount -- find /tmp /dev/shm /run /var/tmp -type f -name 'cozybracket*' "$@"
}

@test "the static executable is streamed in, reads and leaves nothing there" {
  EXTRA_TOOLS="rm"
  qemu worker size=16m
  tenants 1 --pod tenant-test/worker
  assert_equal "$status" 0
  assert_said 'tenant-thread-cpu sample 1: 1 of 1 pods hold data'
  run -0 cat "$TENANTS/sample-1/worker.txt"
  assert_line --index 0 '[pod tenant-test/worker container compute]'
  assert_line --index 1 '[read by the streamed binary]'
  assert_line '[outcome: complete]'
  assert_line --regexp '^\[thread 1/1 schedstat [0-9]+ [0-9]+ [0-9]+ voluntary [0-9]+ involuntary [0-9]+\]$'
  assert_line '[cozybracket capture tenant-thread-cpu sample 1 snapshot kubernetes]'
  run -0 left_there
  assert_output ''
  tenants 2 --pod tenant-test/worker
  assert_equal "$status" 0
  assert_equal "$(threads "$TENANTS/sample-1/worker.txt")" "$(threads "$TENANTS/sample-2/worker.txt")"
  assert [ "$(threads "$TENANTS/sample-2/worker.txt" | wc -l)" -ge 3 ]
}

@test "where no program can be brought in or run, the shell reads the same threads" {
  qemu reads-only ro,size=16m
  tenants 1 --pod tenant-test/reads-only
  assert_equal "$status" 0
  run -0 cat "$TENANTS/sample-1/reads-only.txt"
  assert_line --index 1 '[read by the shell, since no folder there takes a program]'
  assert_line '[outcome: complete]'
  assert_line 'clock ticks per second: unavailable'
  assert_line --regexp '^\[thread 1/1 schedstat [0-9]+ [0-9]+ [0-9]+ voluntary [0-9]+ involuntary [0-9]+\]$'
  assert [ "$(threads "$TENANTS/sample-1/reads-only.txt" | wc -l)" -ge 3 ]

  qemu no-programs noexec,size=16m
  tenants 1 --pod tenant-test/no-programs
  run -0 cat "$TENANTS/sample-1/no-programs.txt"
  assert_line --index 1 '[read by the shell, since no folder there takes a program]'
  assert_line '[outcome: complete]'
  run -0 left_there -size +0
  assert_output ''
}

@test "a folder that is too small for the program is left clean, and the shell reads" {
  qemu worker size=64k
  tenants 1 --pod tenant-test/worker
  assert_equal "$status" 0
  run -0 cat "$TENANTS/sample-1/worker.txt"
  assert_line --index 1 --partial '[read by the shell, since the streamed binary does not run there'
  # Where there is no rm, an empty file is all that may be left.
  run -0 left_there -size +0
  assert_output ''
}

@test "a dynamically linked build is not streamed, and says so" {
  readelf --program-headers "$COZYBRACKET" | grep -q INTERP || skip "this build is static"
  qemu worker size=16m
  PROGRAM=$COZYBRACKET tenants 1 --pod tenant-test/worker
  assert_equal "$status" 0
  run -0 cat "$TENANTS/sample-1/worker.txt"
  assert_line --index 1 --partial '[read by the shell, since this cozybracket is dynamically linked'
  run -0 cat "$COZY_PODS/asked"
  assert_output 'exec tenant-test worker stdin=no'
}

@test "a container without a QEMU is a finding, by both ways" {
  container streamed size=16m sleep 1000
  container reads-only ro,size=16m sleep 1000
  tenants 1 --pod tenant-test/streamed --pod tenant-test/reads-only
  assert_equal "$status" 1
  assert_said 'tenant-test/streamed: empty: no QEMU: NO-QEMU-PROCESS: '
  assert_said 'tenant-test/reads-only: empty: no QEMU: NO-QEMU-PROCESS: '
}

@test "every way to fail has its own words, and none costs the others" {
  qemu worker size=16m
  cp -r "$COZY_PODS/tenant-test/worker" "$COZY_PODS/tenant-test/cut"
  cp -r "$COZY_PODS/tenant-test/worker" "$COZY_PODS/tenant-test/early"
  pod cut cut
  pod early ends-early
  pod silent nothing
  pod bare no-shell
  pod greets greets
  pod hangs hangs
  local pod asked=()
  for pod in absent silent bare greets hangs cut early worker; do asked+=(--pod "tenant-test/$pod"); done
  tenants 1 --read-timeout 3 --read-grace 1 "${asked[@]}" --pod elsewhere/worker-2 --max-pods 9
  assert_equal "$status" 1
  assert_said '2 of 9 pods hold data'
  assert_said 'tenant-test/absent: unavailable: not reached: kubectl exited 1: Error from server (NotFound)'
  assert_said 'elsewhere/worker-2: unavailable: not reached: kubectl exited 1: Error from server (Forbidden)'
  assert_said 'tenant-test/silent: unavailable: answered nothing: kubectl exited 0'
  assert_said 'tenant-test/bare: unavailable: not run: kubectl exited 126'
  assert_said 'tenant-test/greets: unavailable: not understood: '
  assert_said 'tenant-test/hangs: unavailable: not reached: no answer within 3 s'
  assert_said 'tenant-test/early: unavailable: cut: '
  assert_said 'tenant-test/cut: partial: the read was cut: '
  run -0 cat "$TENANTS/sample-1/absent.txt"
  assert_output --partial 'Its messages are in absent.exec-error.log.'
  assert [ -s "$TENANTS/sample-1/absent.exec-error.log" ]
  assert_all_whole_tenants
  run -0 tail -n 1 "$TENANTS/sample-1/worker.txt"
  assert_output '[capture exit code: 0]'
}

assert_all_whole_tenants() {
  local file
  for file in "$TENANTS"/sample-1/*.txt; do tail -n 1 "$file" | grep -q '^\[capture exit code: ' || fail "$file"; done
}

@test "without kubectl every pod is told as not reached" {
  tenants 1 --pod tenant-test/worker --pods-by-label tenant-test/kubevirt.io=virt-launcher --kubectl no-such-kubectl
  assert_equal "$status" 1
  assert_said 'tenant-test/worker: unavailable: not reached: kubectl was not started: no-such-kubectl: '
  run -0 cat "$TENANTS/sample-1/COLLECTION-FAILED.txt"
  assert_output --partial 'pods of tenant-test/kubevirt.io=virt-launcher: not reached: kubectl was not started'
}

@test "pods are found by their labels, and beyond the most they are named" {
  local name
  for name in a b c d; do pod "$name" nothing; done
  tenants 1 --pods-by-label tenant-test/kubevirt.io=virt-launcher --pod tenant-test/d --max-pods 2
  assert_equal "$status" 1
  assert_said '2 of 4 pods were asked, as --max-pods says; not asked: tenant-test/b, tenant-test/c'
  run -0 cat "$TENANTS/sample-1/COLLECTION-TRUNCATED.txt"
  assert_output --partial 'not asked: tenant-test/b, tenant-test/c'
  assert_equal "$(ls "$TENANTS/sample-1")" "$(printf '%s\n' COLLECTION-TRUNCATED.txt a.txt d.txt)"
  tenants 1 --pods-by-label tenant-test/app=none
  assert_said 'pods of tenant-test/app=none: the cluster answered, and no Running pod has these labels'
  assert [ ! -e "$TENANTS/sample-1/COLLECTION-TRUNCATED.txt" ]
}

@test "names are refused by the rules of Kubernetes" {
  local bad
  for bad in worker 'tenant-test/' 'tenant-test/-x' 'Tenant/worker' 'a/b/c/d' 'a/b;reboot' 'a/..' 'a/b/$(c)'; do
    tenants 1 --pod "$bad"
    assert_equal "$status" 2
    assert_said '--pod "'
  done
  tenants 1 --pods-by-label 'a/x=y z'
  assert_equal "$status" 2
  tenants 1 --pod a/b --max-pods 0
  assert_equal "$status" 2
  tenants 1
  assert_equal "$status" 2
  assert_said '--only tenant-thread-cpu is of pods, and none is named'
}

@test "pods come behind the whole sample, and the report is read all the same" {
  pod silent nothing
  make_tree "$BATS_TEST_TMPDIR/machine"
  local n
  for n in 1 2; do
    run --separate-stderr "$COZYBRACKET" sample "$n" --root "$BATS_TEST_TMPDIR/machine" --report-dir "$REPORT" \
      --pod tenant-test/silent
    assert_equal "$status" 1
    assert_said "sample $n: "
    assert_said "shortfall tenant-thread-cpu sample $n tenant-test/silent: unavailable: answered nothing: "
    assert [ -e "$TENANTS/sample-$n/silent.txt" ]
  done
  assert [ -e "$REPORT/legends/tenant-thread-cpu.json" ]
  run -0 "$COZYBRACKET" pack --report-dir "$REPORT"
  run -0 "$COZYBRACKET" analyze "$REPORT.tgz"
  run -0 tar tzf "$REPORT.tgz"
  assert_line ./report/snapshots/kubernetes/tenant-thread-cpu/sample-2/silent.txt
}
