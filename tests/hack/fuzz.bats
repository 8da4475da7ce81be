#!/usr/bin/env bats
# hack/fuzz, as far as it can be tried without clang; the targets themselves run over their seeds in ctest.

bats_require_minimum_version 1.5.0

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
}

@test "every probe of the table is a target, and so is every line of the targets' own" {
  run -0 "$ROOT/hack/fuzz" --list
  local name
  for name in $(sed -n 's/^PROBE(\(.*\))$/\1/p' "$ROOT/probes/registry.def"); do assert_line "$name"; done
  for name in "$ROOT"/tests/fuzz/*.cpp; do
    name=$(basename "$name" .cpp)
    ! grep -q "^void $name(std::string_view " "$ROOT/tests/fuzz/$name.cpp" || assert_line "$name"
  done
}

@test "a target that is none, and a time that is none, are refused before anything is built" {
  run -2 "$ROOT/hack/fuzz" frob
  assert_output --partial "no target 'frob'"
  run -2 "$ROOT/hack/fuzz" --seconds soon capture
  assert_output --partial "'soon' is no number of seconds"
  run -2 "$ROOT/hack/fuzz" --seconds
  assert_output --partial "'--seconds' lacks its value"
  run -2 "$ROOT/hack/fuzz" --frob
  assert_output --partial "unknown argument '--frob'"
}

@test "every kind has seeds, and the tree is left as it was" {
  command -v cmake >/dev/null || skip "no cmake, which packs the archives"
  local kind before
  before=$(git -C "$ROOT" status --porcelain --untracked-files=all || true)
  run -0 "$ROOT/tests/fuzz/seeds" "$PWD/seeds" ls
  for kind in $(sed -n 's/^FUZZ(.*, \(.*\))$/\1/p' "$ROOT/tests/fuzz/targets.def" | sort -u); do
    assert_line "$kind"
    [[ -n $(ls "seeds/$kind") ]]
  done
  grep -q '^"steal"$' seeds/words
  run -0 bash -c "git -C '$ROOT' status --porcelain --untracked-files=all || true"
  assert_output "$before"
}

@test "without clang the configuration stops and names the way out" {
  command -v g++ >/dev/null && command -v cmake >/dev/null || skip "no g++ or no cmake"
  run ! cmake -S "$ROOT" -B build -DCOZYBRACKET_FUZZ=ON -DCMAKE_CXX_COMPILER=g++
  assert_output --partial "COZYBRACKET_FUZZ needs clang"
  assert_output --partial "hack/setup --fuzz"
}
