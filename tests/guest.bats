#!/usr/bin/env bats
# The binary on a kernel that this machine's is not: a distribution's own, with cgroup v2 alone, in a guest
# under TCG.

bats_require_minimum_version 1.5.0

setup_file() {
  load support
  cozy_setup
  export SERIAL=$BATS_FILE_TMPDIR/serial KERNEL=
  local file
  for file in "$COZY_SOURCE/_build/tools/vmlinuz" /boot/vmlinuz-*; do
    [[ ! -r $file ]] || { KERNEL=$file; break; }
  done
  [[ -n $KERNEL ]] || return 0
  make_root "$BATS_FILE_TMPDIR/root"
  (cd "$BATS_FILE_TMPDIR/root" && find . | cpio --quiet -o -H newc) | gzip -1 >"$BATS_FILE_TMPDIR/initramfs"
  # It ends by itself; a guest that does not is ended.
  timeout --kill-after=10 600 qemu-system-x86_64 -machine pc -accel tcg -cpu max -smp 2 -m 1024 -nodefaults -no-reboot \
    -display none -serial "file:$SERIAL" -kernel "$KERNEL" -initrd "$BATS_FILE_TMPDIR/initramfs" \
    -append 'console=ttyS0 quiet panic=-1 psi=1' </dev/null 3>&- || true
  tr -d '\r' <"$SERIAL" >"$SERIAL.text"
}

setup() {
  load support
  cozy_setup
  [[ -n $KERNEL ]] || skip "no kernel to boot (hack/setup --kernel)"
}

# A program with the libraries that it loads.
add_program() { # ROOT PROGRAM [NAME]
  local library
  cp "$2" "$1/bin/${3:-${2##*/}}"
  while read -r library; do
    mkdir -p "$1/${library%/*}"
    cp -Ln "$library" "$1/$library"
  done < <(ldd "$2" 2>/dev/null | grep -o '/[^ ]*')
}

make_root() { # DIRECTORY
  local tool
  mkdir -p "$1"/{bin,proc,sys,dev,tmp}
  add_program "$1" "$(readlink -f "$(command -v dash)")" sh
  for tool in mount mkdir sleep cp cat; do add_program "$1" "$(readlink -f "$(command -v "$tool")")" "$tool"; done
  strip -o "$BATS_FILE_TMPDIR/stripped" "$COZYBRACKET"
  add_program "$1" "$COZYBRACKET" cozybracket
  cp "$BATS_FILE_TMPDIR/stripped" "$1/bin/cozybracket"
  cp "$COZY_SOURCE/tests/guest/init" "$1/init"
}

said() { grep -qE -- "$1" "$SERIAL.text" || fail "no line like: $1"$'\n'"$(cat "$SERIAL.text")"; }

not_said() { ! grep -E -- "$1" "$SERIAL.text" || fail "$(cat "$SERIAL.text")"; }

@test "pure cgroup v2: the guest comes up and its bracket ends" {
  said '^guest: ended with 0$'
  said '^cozybracket: sample 2: '
}

@test "pure cgroup v2: the node under a quota is found throttled, by name, with its periods" {
  said '^cozybracket: finding node-throttled: srv1 '
  not_said 'finding node-(throttled|waited): srv2'
  said 'cgroup /lane.slice/vm-srv1.scope \(v2\): quota 20000 us per 100000 us \(0.20 CPUs\), throttled in [1-9][0-9]* of [1-9][0-9]* periods'
  said '^cpu.stat nr_throttled [1-9]'
  said '^cgroup v2 /lane.slice$' # an ancestor, read as well
}

@test "pure cgroup v2: the audit reads the knobs that were set" {
  said '^guest: audit$'
  said 'srv1.* quota .*20000'
  said '^guest: audit ended with 1$' # srv2 has no quota
}

@test "a distribution's kernel with PSI: pressure is read" {
  said '^\[cozybracket capture runner-pressure sample 2'
  said '^some avg10=[0-9.]+ avg60=[0-9.]+ avg300=[0-9.]+ total=[1-9]'
}

@test "a guest of TCG has no steal clock, and that is said" {
  said '^hypervisor: TCGTCGTCGTCG$'
  said '^cozybracket: finding steal-not-observable: .*TCGTCGTCGTCG'
  not_said 'steal 0.0% \(none seen\)'
}

@test "a kernel without KVM loaded is told as that, and as no cost of zero" {
  said '^cozybracket: shortfall sandbox-kvm-exits sample 2: '
  not_said 'exits 0.0/s'
}
