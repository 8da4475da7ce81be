#!/usr/bin/env bats
# The executable that ships: one static file, in a root that holds nothing but itself and /proc.

bats_require_minimum_version 1.5.0

setup_file() {
  export STATIC=$BATS_FILE_TMPDIR/cozybracket
  "$COZY_SOURCE/hack/build-static" --output "$STATIC" >"$BATS_FILE_TMPDIR/build.log" 2>&1 ||
    { tail -n 30 "$BATS_FILE_TMPDIR/build.log" >&2; return 1; }
}

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$BATS_TEST_TMPDIR/root
  SANDBOX=$BATS_TEST_TMPDIR/sandbox
}

teardown() {
  ! mountpoint -q "$ROOT/proc" || umount "$ROOT/proc"
  ! mountpoint -q "$ROOT/sandbox" || umount "$ROOT/sandbox"
  [[ ! -e $SANDBOX/lane.state ]] || "$COZY_SOURCE/hack/lane" down --sandbox "$SANDBOX"
}

# A root with the executable, /proc and the nodes' folders; no /dev, no libraries, no shell.
make_root() {
  [[ $(id -u) == 0 ]] || skip "a root of its own needs root"
  mkdir -p "$ROOT"/{proc,sandbox}
  mount -t proc proc "$ROOT/proc" || skip "/proc cannot be mounted here"
  mount --bind "$SANDBOX" "$ROOT/sandbox" || skip "a bind mount is not to be had here"
  cp "$STATIC" "$COZY_BUILD/wait_for_line" "$ROOT/"
}

@test "the static executable needs no library and stays small" {
  run -0 cat "$BATS_FILE_TMPDIR/build.log"
  assert_output --regexp 'static, stripped, [0-9]+ bytes'
  # 4 MiB: libarchive's tar and gzip parts without what other formats drag in (ICU alone is 30).
  assert [ "$(stat -c %s "$STATIC")" -lt $((4 << 20)) ]
}

@test "it does the demo inside an empty root with /proc alone" {
  command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64; hack/setup --lane installs it"
  "$COZY_SOURCE/hack/lane" up --sandbox "$SANDBOX" --roles join:4,spin,halt >/dev/null
  make_root
  run --separate-stderr chroot "$ROOT" /cozybracket run --sandbox /sandbox --report-dir /report -- \
    /wait_for_line /sandbox/srv1/serial.log joined 120
  assert_equal "$status" 0
  assert_output "found: joined"
  local srv
  for srv in srv1 srv2 srv3; do
    grep -Eq "^cozybracket: $srv 2 vcpus: ran [0-9.]+% waited [0-9.]+% " <<<"$stderr" || fail "$stderr"
  done
  grep -Eq '^cozybracket: runner [0-9]+ cpus: user ' <<<"$stderr" || fail "$stderr"
  run -0 tar tzf "$ROOT/report.tgz"
  assert_line ./report/snapshots/kubernetes/sandbox-qemu-thread-cpu/sample-2/qemu-threads.txt
}

@test "its help, its version and its doctor work there" {
  mkdir -p "$SANDBOX"
  make_root
  run -0 chroot "$ROOT" /cozybracket --help
  assert_output --partial 'cozybracket run --sandbox DIR'
  run -0 chroot "$ROOT" /cozybracket --version
  assert_output --regexp '^cozybracket [0-9a-z.-]+'
  run chroot "$ROOT" /cozybracket doctor
  assert_line --regexp '^runner-kernel-cpu-time +yes '
}
