#!/usr/bin/env bats
# The executable that ships: one static file, in a root that holds nothing but itself and /proc.

bats_require_minimum_version 1.5.0

setup_file() {
  load static_root
  build_static
}

setup() {
  load static_root
  static_root_setup
}

teardown() { static_root_teardown; }

@test "the static executable needs no library and stays small" {
  run -0 cat "$BATS_FILE_TMPDIR/build.log"
  assert_output --regexp 'static, stripped, [0-9]+ bytes'
  # 4.5 MiB: libarchive's tar and gzip parts without what other formats drag in (ICU alone is 30), the page that
  # --format html fills in, compressed, and the code that does so.
  assert [ "$(stat -c %s "$STATIC")" -lt $((9 << 19)) ]
}

@test "it does the demo inside an empty root with /proc alone" {
  start_nodes join:4,spin,halt
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
