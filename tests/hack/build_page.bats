#!/usr/bin/env bats
# hack/cmake/embed_page.cmake: how the page comes into the binary, and what happens where npm does not work.

bats_require_minimum_version 1.5.0

setup() {
  export BATS_LIB_PATH=${BATS_LIB_PATH:-/usr/lib/bats}
  bats_load_library bats-support
  bats_load_library bats-assert
  ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
  mkdir -p bin source/src source/node_modules/mine
  echo 'import "./src/main.ts"' >source/bundle.mjs
  echo '{}' >source/package-lock.json
  program npm 'mkdir -p node_modules/esbuild; echo "$PWD $*" >>"$HERE/npm.log"'
  program node 'echo "$PWD $*" >>"$HERE/node.log"; mkdir -p "${3%/*}"; echo "<title>@" >"$3"'
}

# shellcheck disable=SC2016 # for the programs
program() { # NAME SCRIPT
  printf '#!/bin/sh\nset -e\nHERE=%s\n%s\n' "$BATS_TEST_TMPDIR" "$2" >"bin/$1"
  chmod +x "bin/$1"
}

embed() { # MODE [CMAKE-OPTION...]
  cmake -D OUTPUT="$PWD/page.cpp" -D MODE="$1" -D NPM="$PWD/bin/npm" -D NODE="$PWD/bin/node" -D SOURCE="$PWD/source" \
    -D WORK="$PWD/work" "${@:2}" -P "$ROOT/hack/cmake/embed_page.cmake" 2>&1
}

# The bytes that a generated source has built in.
packed() {
  sed -n '/k_packed\[\] = {/,/};/p' page.cpp | grep -o '0x[0-9a-f][0-9a-f]' | sed 's/0x/\\x/' | tr -d '\n' |
    xargs -0 printf '%b'
}

@test "the page is bundled in a copy, compressed and built in; npm runs anew for another lock file alone" {
  run -0 embed AUTO
  assert_output ''
  assert_equal "$(packed | gzip -dc)" '<title>@'
  run -0 cat npm.log
  assert_output --partial "$PWD/work ci --omit=dev "
  assert_output --partial ' --ignore-scripts '
  assert_equal "$(ls source)" $'bundle.mjs\nnode_modules\npackage-lock.json\nsrc'
  assert [ ! -e work/node_modules/mine ]

  echo '// changed' >>source/bundle.mjs
  rm source/src/* -f
  run -0 embed ON
  assert_equal "$(wc -l <npm.log)" 1
  assert_equal "$(wc -l <node.log)" 2
  grep -q changed work/bundle.mjs
  echo '{"changed": 1}' >source/package-lock.json
  run -0 embed AUTO
  assert_equal "$(wc -l <npm.log)" 2
}

@test "without npm everything else is built, with a warning that names the way out; ON fails" {
  local lacking
  for lacking in NPM NODE; do
    run -0 embed AUTO -D "$lacking=$lacking-NOTFOUND"
    assert_output --partial "The page is not built: there is no ${lacking,,}. Everything else is"
    assert_output --partial -DCOZYBRACKET_PAGE=OFF
    grep -q '^// The page could not be built.$' page.cpp
    grep -qF "\"there is no ${lacking,,}\"" page.cpp
    assert_equal "$(packed)" ''
    run ! embed ON -D "$lacking=$lacking-NOTFOUND"
    assert_output --partial "The page cannot be built: there is no ${lacking,,}"
  done
}

@test "an npm that gets nothing is shown with its words, and is bounded" {
  program npm 'echo "npm ERR! network"; exit 7'
  run -0 embed AUTO
  assert_output --partial 'npm ERR! network'
  assert_output --partial 'The page is not built: npm ci ended with 7'
  grep -qF '"npm ci ended with 7"' page.cpp
  program npm 'exec sleep 60'
  run -0 embed AUTO -D NPM_BOUND=1
  assert_output --partial 'timeout'
  program node 'echo "a fault in the page" >&2; exit 1'
  program npm 'mkdir -p node_modules'
  run -0 embed AUTO
  assert_output --partial 'a fault in the page'
  assert_output --partial 'bundle.mjs ended with 1'
}

@test "OFF asks for no npm, and the source says so" {
  run -0 embed OFF -D NPM=NPM-NOTFOUND
  assert_output ''
  grep -qF '"COZYBRACKET_PAGE was OFF"' page.cpp
}

@test "where npm works, this tree's binary has its page: only a network that is away is an excuse" {
  : "${COZY_BUILD:?the build tree}"
  local source=$COZY_BUILD/generated/embedded_page.cpp
  run -0 cat "$source"
  refute_output --partial 'bundle.mjs ended with'
  refute_output --partial 'gzip ended with'
  grep -q '"";*}' "$source" || skip "this build has no page: $(sed -n 's/.*- 1}, "\(.*\)"};/\1/p' "$source")"
}

@test "a build in which nothing of the page has changed does not run npm" {
  : "${COZY_BUILD:?the build tree}"
  [[ -e $COZY_BUILD/build.ninja ]] || skip "no build.ninja"
  run ninja -C "$COZY_BUILD" -n generated/embedded_page.cpp
  refute_output --partial 'Building the page'
}
