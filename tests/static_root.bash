# shellcheck shell=bash
# Shared by the bats files of the executable that ships: one static file, in a root that holds what a test puts there.

build_static() {
  export STATIC=$BATS_FILE_TMPDIR/cozybracket
  "$COZY_SOURCE/hack/build-static" --output "$STATIC" >"$BATS_FILE_TMPDIR/build.log" 2>&1 ||
    { tail -n 30 "$BATS_FILE_TMPDIR/build.log" >&2; return 1; }
}

static_root_setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$BATS_TEST_TMPDIR/root
  SANDBOX=$BATS_TEST_TMPDIR/sandbox
}

static_root_teardown() {
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

start_nodes() { # ROLE,...
  command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64; hack/setup --lane installs it"
  "$COZY_SOURCE/hack/lane" up --sandbox "$SANDBOX" --roles "$1" >/dev/null
}
