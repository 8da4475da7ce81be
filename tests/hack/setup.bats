#!/usr/bin/env bats
# hack/setup, as far as it can be tried without installing anything.

bats_require_minimum_version 1.5.0

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
}

candidates() { awk -v suite=bookworm -f "$ROOT/hack/backports-sources.awk" "$@"; }

@test "the backports source keeps mirror and key of a deb822 source" {
  cat >debian.sources <<'END'
# a comment
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/some.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
END
  run -0 candidates debian.sources
  assert_output "Types: deb
URIs: http://mirror.example/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/some.gpg"
}

@test "a key inline in the source is carried over whole" {
  printf '%s\n' 'Types: deb' 'URIs: http://mirror.example/debian' 'Suites: bookworm' 'Components: main' \
    'Signed-By:' ' -----BEGIN PGP PUBLIC KEY BLOCK-----' ' .' ' abc' >debian.sources
  run -0 candidates debian.sources
  assert_line ' -----BEGIN PGP PUBLIC KEY BLOCK-----'
  assert_line ' abc'
}

@test "one-line sources are read, with their options" {
  cat >sources.list <<'END'
# deb http://off.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [signed-by=/k.gpg arch=amd64] http://mirror.example/debian bookworm main # here
deb http://mirror.example/debian bookworm-updates main
END
  run -0 candidates sources.list
  assert_output "Types: deb
URIs: http://mirror.example/debian
Suites: bookworm-backports
Components: main
Signed-By: /k.gpg
Architectures: amd64"
}

@test "the distribution's mirror is tried before a third party's" {
  cat >many.list <<'END'
deb http://third.example/apt bookworm main
deb http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-updates main
END
  run -0 bash -c "awk -v suite=bookworm -f '$ROOT/hack/backports-sources.awk' many.list | grep URIs"
  assert_line --index 0 'URIs: http://mirror.example/debian'
  assert_line --index 1 'URIs: http://third.example/apt'
}

@test "a source that is switched off, or has no main, proposes nothing" {
  printf '%s\n' 'Enabled: no' 'Types: deb' 'URIs: http://off.example/debian' 'Suites: bookworm' 'Components: main' '' \
    'Types: deb' 'URIs: http://other.example/debian' 'Suites: bookworm' 'Components: stable' >debian.sources
  run -0 candidates debian.sources
  assert_output ''
}

@test "--check names what is missing, and installs nothing" {
  printf 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n' >os-release
  if dpkg-query -W -f='${db:Status-Status}' libboost1.83-dev 2>/dev/null | grep -q installed; then
    skip "the package that should be missing is installed here"
  fi
  command -v dpkg-query >/dev/null || skip "no dpkg here"
  run -1 env COZYBRACKET_SETUP_OS_RELEASE=os-release "$ROOT/hack/setup" --check --build
  assert_line libboost1.83-dev
  assert_line libboost-filesystem1.83-dev
  refute_line libboost1.81-dev
}

@test "clang is wanted for the fuzz targets alone, in the version of the distribution" {
  command -v dpkg-query >/dev/null || skip "no dpkg here"
  printf 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n' >os-release
  # Says of every package that it is not installed.
  mkdir bin
  printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query
  chmod +x bin/dpkg-query
  run -1 env PATH="$PWD/bin:$PATH" COZYBRACKET_SETUP_OS_RELEASE=os-release "$ROOT/hack/setup" --check --fuzz
  assert_line clang
  assert_line libclang-rt-18-dev
  refute_line cmake
  printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >os-release
  run -1 env PATH="$PWD/bin:$PATH" COZYBRACKET_SETUP_OS_RELEASE=os-release "$ROOT/hack/setup" --check --fuzz
  assert_line libclang-rt-14-dev
  run -1 env PATH="$PWD/bin:$PATH" COZYBRACKET_SETUP_OS_RELEASE=os-release "$ROOT/hack/setup" --check
  assert_line cmake
  refute_line clang
  refute_line libclang-rt-14-dev
}

@test "npm is wanted for a build, is there where it is on PATH, and its lack stops nothing" {
  printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >os-release
  mkdir bin
  local tool
  for tool in bash dirname cat tr grep sed env; do ln -s "$(command -v "$tool")" bin/; done
  # Says of every package that it is installed; there is no root and no sudo to install more.
  printf '#!/bin/sh\nshift 2\nfor name; do echo "$name installed"; done\n' >bin/dpkg-query
  printf '#!/bin/sh\necho 1000\n' >bin/id
  chmod +x bin/dpkg-query bin/id
  run -1 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --check --build
  assert_line npm
  run -0 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --build
  assert_output --partial 'WARNING: there is no npm: what is built now has no page'
  ln -s "$(type -P true)" bin/npm
  ln -s "$(type -P true)" bin/nodejs
  run -0 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --check --build
  run -0 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --build
  assert_output ''
}

@test "another distribution is told what is needed, and fails only for a missing tool" {
  printf 'ID=elsewhere\nVERSION_ID=1\n' >os-release
  mkdir empty
  ln -s "$(command -v bash)" "$(command -v dirname)" "$(command -v cat)" "$(command -v tr)" empty/
  run -1 env PATH="$PWD/empty" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --lane
  assert_output --partial "this is elsewhere-1"
  assert_output --partial "missing tools: qemu-system-x86_64 as ld"
}

@test "chainsaw is wanted where it is asked for, and without go it is said what lacks" {
  command -v dpkg-query >/dev/null || skip "no dpkg here"
  mkdir -p tree/hack empty
  cp -r "$ROOT/hack/setup" "$ROOT/hack/lib" tree/hack
  printf 'ID=elsewhere\nVERSION_ID=1\n' >os-release
  ln -s "$(command -v bash)" "$(command -v dirname)" "$(command -v cat)" "$(command -v tr)" empty/
  run -1 env PATH="$PWD/empty" COZYBRACKET_SETUP_OS_RELEASE=os-release bash tree/hack/setup --chainsaw
  assert_output --partial "there is no go on PATH"
  printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >os-release
  run -1 env COZYBRACKET_SETUP_OS_RELEASE=os-release tree/hack/setup --check --chainsaw
  assert_line chainsaw
  mkdir -p tree/_build/tools/chainsaw-v0.2.12
  cp "$(type -P true)" tree/_build/tools/chainsaw-v0.2.12/chainsaw
  run -0 env COZYBRACKET_SETUP_OS_RELEASE=os-release tree/hack/setup --check --chainsaw
  run -0 env COZYBRACKET_SETUP_OS_RELEASE=os-release tree/hack/setup --chainsaw
}

@test "Chromium is wanted for the tests on Debian, where there is none; Ubuntu's package is a stub" {
  mkdir bin
  local tool
  for tool in bash dirname cat tr grep sed env; do ln -s "$(command -v "$tool")" bin/; done
  printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query # says of every package that it is not installed
  chmod +x bin/dpkg-query
  printf 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n' >os-release
  run -1 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --check --test
  assert_line catch2
  refute_line chromium
  printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >os-release
  run -1 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --check --test
  assert_line chromium
  ln -s "$(type -P true)" bin/chromium
  run -1 env PATH="$PWD/bin" COZYBRACKET_SETUP_OS_RELEASE=os-release bash "$ROOT/hack/setup" --check --test
  refute_line chromium
}

@test "an unknown argument is refused by name" {
  run -2 "$ROOT/hack/setup" --frob
  assert_output --partial "unknown argument '--frob'"
}
