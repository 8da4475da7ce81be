#!/usr/bin/env bats
# The page of --format html: its sources, and how it behaves in a real Chromium (tests/render/page), filled in by the
# tests and by the binary itself. Screenshots are kept in BUILD/artifacts/page.

bats_require_minimum_version 1.5.0
load support

# Puts the sources beside their packages in the build tree; the packages are fetched again when the lockfile changes.
prepare() {
  local sum
  command -v node >/dev/null || { echo "no node; hack/setup --build installs it"; return 1; }
  command -v npm >/dev/null || { echo "no npm; hack/setup --build installs it"; return 1; }
  [[ $(node --version) =~ ^v([0-9]+) && ${BASH_REMATCH[1]} -ge 18 ]] || { echo "node is $(node --version), older than 18"; return 1; }
  mkdir -p "$PAGE_MODULES"
  rm -rf "$PAGE_MODULES/src" # what is no longer a source is not to be checked
  cp -R "$COZY_SOURCE/collector/render/page/." "$PAGE_MODULES/"
  sum=$(sha256sum "$PAGE_MODULES/package-lock.json")
  [[ $(cat "$PAGE_MODULES/.fetched" 2>/dev/null) != "$sum" ]] || return 0
  (cd "$PAGE_MODULES" && timeout 300 npm ci --no-progress) >"$PAGE_MODULES/npm.log" 2>&1 </dev/null ||
    { echo "the npm packages of the page are not to be had: $(tail -n 1 "$PAGE_MODULES/npm.log")"; return 1; }
  echo "$sum" >"$PAGE_MODULES/.fetched"
}

# Names a browser that starts. A snap's cannot read the files of the tests, and its stub is no browser at all.
browser() {
  local name path
  for name in chromium google-chrome google-chrome-stable chromium-browser; do
    path=$(command -v "$name") || continue
    [[ $(readlink -f "$path") != */snap* ]] || continue
    timeout 30 "$path" --version 2>/dev/null </dev/null | grep -qE '^(Chromium|Google Chrome) [0-9]' || continue
    echo "$path"
    return
  done
}

setup_file() {
  : "${COZY_SOURCE:?the source tree}" "${COZY_BUILD:?the build tree}"
  export PAGE_MODULES=$COZY_BUILD/page-tests PAGE_ARTIFACTS=$COZY_BUILD/artifacts/page
  export PAGE_TEMPLATE=$PAGE_MODULES/out/page.html PAGE_LACKS='' PAGE_CHROMIUM=''
  PAGE_LACKS=$(prepare) || return 0
  PAGE_CHROMIUM=$(browser)
  node "$PAGE_MODULES/bundle.mjs" --out "$PAGE_TEMPLATE"
}

setup() {
  cozy_setup
  lane_setup
  STOPPED=
  [[ -z $PAGE_LACKS ]] || skip "$PAGE_LACKS"
}

teardown() {
  [[ -z $STOPPED ]] || kill -CONT "$STOPPED" 2>/dev/null || true
  lane_teardown
  cozy_teardown
}

in_chromium() { # NAME
  [[ -n $PAGE_CHROMIUM ]] || skip "no Chromium that starts (on Ubuntu the package is a snap's stub); hack/setup --test installs Debian's"
  export COZYBRACKET
  run -0 timeout 600 node --test --test-reporter=tap "$COZY_SOURCE/tests/render/page/$1.test.mjs"
  grep -E '^ *# (.* KiB,|pass |fail |skipped )' <<<"$output" >&3 || true
  refute_output --partial '# pass 0'
}

@test "the sources are strictly typed" {
  run -0 node "$PAGE_MODULES/node_modules/typescript/bin/tsc" --noEmit -p "$PAGE_MODULES"
}

@test "the bundle is the same each time, and is asked for by one option" {
  run -0 node "$PAGE_MODULES/bundle.mjs" --out "$BATS_TEST_TMPDIR/a/page.html"
  cmp "$PAGE_TEMPLATE" a/page.html
  run -2 node "$PAGE_MODULES/bundle.mjs"
  assert_output --partial 'Usage: node bundle.mjs --out FILE'
}

@test "the template has its three markers once each, and a policy without exceptions" {
  local marker policy
  for marker in TITLE PLAIN DATA; do
    [[ $(grep -o "@COZYBRACKET_${marker}@" "$PAGE_TEMPLATE" | wc -l) == 1 ]]
  done
  [[ $(grep -o '@[A-Z_]*@' "$PAGE_TEMPLATE" | wc -l) == 3 ]]
  grep -qxF '<script type="application/json" id="cozybracket-data">@COZYBRACKET_DATA@</script>' "$PAGE_TEMPLATE"
  policy=$(grep -o 'Content-Security-Policy" content="[^"]*' "$PAGE_TEMPLATE")
  [[ $policy =~ content=\"default-src\ \'none\'\;\ script-src\ \'sha256-[A-Za-z0-9+/=]+\'\;\ style-src\ \'sha256-[A-Za-z0-9+/=]+\'\;\ img-src\ data:\;\ base-uri\ \'none\'\;\ form-action\ \'none\'$ ]]
}

@test "the lockfile names no registry, and no source parses text as markup" {
  run ! grep -q '"resolved"' "$COZY_SOURCE/collector/render/page/package-lock.json"
  run ! grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function|https?://' "$COZY_SOURCE/collector/render/page/src"
}

@test "a source holds at most 400 lines" {
  local file lines
  while IFS= read -r file; do
    lines=$(wc -l <"$file")
    [[ $lines -le 400 ]] || fail "$file has $lines lines"
  done < <(find "$COZY_SOURCE/collector/render/page/src" "$COZY_SOURCE/tests/render/page" -type f)
}

@test "what is counted from a timeline" {
  run -0 node --test --test-reporter=tap "$COZY_SOURCE/tests/render/page/parts.test.mjs"
  refute_output --partial '# pass 0'
}

@test "in Chromium: verdict, numbers, findings, captures, comparison" { in_chromium content; }

@test "in Chromium: the timeline's range, cursor, keys and gaps" { in_chromium timeline; }

@test "in Chromium: nothing but its own file is asked for, and every name is text" { in_chromium safety; }

@test "in Chromium: the pages that the binary writes" {
  local long=$BATS_TEST_TMPDIR/long status=0
  [[ -n $PAGE_CHROMIUM ]] || skip "no Chromium that starts"
  "$COZYBRACKET" analyze "$COZY_SOURCE/tests/fixtures/reports/waited" --format html >"$BATS_TEST_TMPDIR/waited.html" 2>words || status=$?
  [[ $status == 0 ]] || skip "this build writes no page: $(tail -n 1 words)"
  "$COZY_SOURCE/tests/bench/long-report" --seconds 700 "$long"
  export PAGE_LONG_REPORT=$long
  in_chromium binary
}

@test "in Chromium: colours, print, narrow windows, size" { in_chromium looks; }

@test "in Chromium: a guest that was stopped for 8 s inside 30 s is seen at its moment" {
  local status=0
  [[ -n $PAGE_CHROMIUM ]] || skip "no Chromium that starts"
  "$COZYBRACKET" analyze "$COZY_SOURCE/tests/fixtures/reports/waited" --format html >waited.html 2>words || status=$?
  [[ $status == 0 ]] || skip "this build writes no page: $(tail -n 1 words)"
  nodes --nodes 2 --roles spin,halt
  STOPPED=$(pid_of srv1)
  run -0 "$COZYBRACKET" run --sandbox "$SANDBOX" --report-dir "$REPORT" -- \
    sh -c "sleep 12; date +%s.%N >stopped; kill -STOP $STOPPED; sleep 8; kill -CONT $STOPPED; sleep 10"
  PAGE_STOPPED=$REPORT.tgz PAGE_STOPPED_AT=$(cat stopped) in_chromium stopped
}
