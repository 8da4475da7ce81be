#!/usr/bin/env bats
# Where the answer of `analyze` and `compare` goes, and the page: --output, --format html.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
  MADE=$COZY_SOURCE/tests/fixtures/reports
}

teardown() { cozy_teardown; }

log_says() { grep -qE -- "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; }

# Lines that GitHub's runner would obey.
commands_in() { grep -cP '^\s*::[^:]*::|##\[' || true; }

# --- the file of the answer ---------------------------------------------------------

@test "--output takes the answer of every format, - is standard output" {
  local format
  for format in text markdown json openmetrics; do
    "$COZYBRACKET" analyze "$MADE/waited" --format "$format" >expected
    run -0 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited" --format "$format" --output answer
    refute_output
    log_says '^cozybracket: wrote answer, [0-9.]+ KiB$'
    diff expected answer
    "$COZYBRACKET" analyze "$MADE/waited" --format "$format" --output - >dash
    diff expected dash
  done
  "$COZYBRACKET" compare "$MADE/two-snapshots" "$MADE/waited" >expected
  run -0 "$COZYBRACKET" compare "$MADE/two-snapshots" "$MADE/waited" --output answer
  diff expected answer
  assert_equal "$(find . -name '.answer*')" ""
}

@test "--output: what stands there stays where the answer cannot be had or written" {
  echo before >answer
  run -1 --separate-stderr "$COZYBRACKET" analyze nonsuch --output answer
  assert_equal "$(cat answer)" before
  run -1 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited" --output nowhere/answer
  log_says '^cozybracket: analyze: the answer could not be written: nowhere/answer: its directory nowhere cannot be opened: ENOENT'
  mkdir folder
  mkfifo fifo
  local place
  for place in folder fifo /dev/null; do
    run -1 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited" --output "$place"
    log_says "the answer could not be written: $place: is there and is no plain file"
  done
  assert [ -c /dev/null ]
  tar czf report.tgz -C "$MADE" waited
  cp report.tgz copy.tgz
  run -1 --separate-stderr "$COZYBRACKET" analyze report.tgz --output ./report.tgz
  log_says 'the answer could not be written: ./report.tgz: is the report that was read'
  cmp report.tgz copy.tgz
}

@test "--output on a full disk leaves what was there, and no half file" {
  small_disk small 64k
  head -c 60000 /dev/zero >small/filler
  echo before >small/answer
  run -1 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited" --format json --output small/answer
  log_says 'analyze: the answer could not be written: small/answer: ENOSPC'
  assert_equal "$(cat small/answer)" before
  assert_equal "$(find small -name '.answer*')" ""
}

# --- the page -----------------------------------------------------------------------

has_page() { ! "$COZYBRACKET" analyze --format html "$MADE/waited" 2>&1 >/dev/null | grep -q 'built without the page'; }

# What the page holds as data, "<" read back.
page_data() { # PAGE
  sed -n 's|.*<script type="application/json" id="cozybracket-data">\(.*\)</script>.*|\1|p' "$1"
}

@test "html: one page from a directory, an archive and standard input" {
  has_page || skip "this binary was built without the page"
  cp -r "$MADE/waited" .
  tar czf waited.tgz waited
  run -0 --separate-stderr "$COZYBRACKET" analyze waited --format html --output report.html
  refute_output
  log_says '^cozybracket: wrote report.html, [0-9]+ KiB$'
  "$COZYBRACKET" analyze waited.tgz --format html >archive.html
  "$COZYBRACKET" analyze - --format html <waited.tgz >input.html
  cmp <(sed 's/waited\.tgz/waited/g' archive.html) report.html
  cmp <(sed 's/"path":"-"/"path":"waited"/' input.html) report.html
  page_data report.html >data
  grep -q '^{"schema":"cozybracket.page/1","program":"cozybracket ' data
  grep -q '"capture":"runner-kernel-cpu-time","sample":1,.*"text":"cpu  40000 0 8000' data
  grep -q '<title>cozybracket: the sandbox nodes waited for CPU' report.html
  [[ $(head -n 1 report.html) == '<!doctype html>' ]]
}

@test "html: compare is one page with both reports" {
  has_page || skip "this binary was built without the page"
  run -0 --separate-stderr "$COZYBRACKET" compare "$MADE/two-snapshots" "$MADE/waited" --format html --output both.html
  page_data both.html >data
  grep -q '"label":"green","analysis":.*"label":"red","analysis":.*"comparison":{"schema":"cozybracket.comparison/1"' data
}

@test "html: nothing from outside is markup" {
  has_page || skip "this binary was built without the page"
  # shellcheck disable=SC2016 # these are the names
  local names=('</script><script>alert(1)</script>' '<!--' '<img src=x onerror=alert(1)>' '::error::x' '@COZYBRACKET_DATA@' $'a\xe2\x80\xa8b' $'caf\xc3') name
  "$COZYBRACKET" analyze "$MADE/waited" --format html >plain.html
  mkdir -p hostile/snapshots
  for name in "${names[@]}"; do
    name=${name//'/'/'\'}
    cp -r "$MADE/hostile/snapshots/kubernetes" "hostile/snapshots/$name"
    printf '%s\n\0\xff\n' "$name" >>"hostile/snapshots/$name/runner-kernel-cpu-time/sample-1/proc-stat.txt"
  done
  "$COZYBRACKET" analyze hostile --format html >page.html
  assert_equal "$(tr -cd '<' <page.html | wc -c)" "$(tr -cd '<' <plain.html | wc -c)"
  assert_equal "$(commands_in <page.html)" 0
  assert_equal "$(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]' page.html || true)" "$(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]' plain.html || true)"
  iconv -f UTF-8 -t UTF-8 page.html >/dev/null
}

@test "html to a terminal is refused, with the way out" {
  has_page || skip "this binary was built without the page"
  command -v script >/dev/null || skip "no script(1) to make a terminal"
  run -2 script -qec "'$COZYBRACKET' analyze '$MADE/waited' --format html" /dev/null </dev/null
  assert_output --partial 'analyze: --format html is a page for a browser, and stdout is a terminal; add --output report.html'
  refute_output --partial '<'
  run -0 script -qec "'$COZYBRACKET' analyze '$MADE/waited' --format html --output report.html" /dev/null </dev/null
  assert [ -s report.html ]
}

@test "a binary without the page says what is missing, and does all the rest" {
  local binary=$COZY_BUILD/cozybracket_without_page
  run -1 --separate-stderr "$binary" analyze "$MADE/waited" --format html --output report.html
  refute_output
  log_says '^cozybracket: analyze: --format html: this cozybracket was built without the page: there is no npm; build it where npm works \(hack/setup --build, then hack/build-static\), or take --format markdown'
  assert [ ! -e report.html ]
  run -1 --separate-stderr "$binary" compare "$MADE/waited" "$MADE/waited" --format html
  log_says '^cozybracket: compare: --format html: this cozybracket was built without the page'
  diff <("$binary" analyze "$MADE/waited") <("$COZYBRACKET" analyze "$MADE/waited")
}

@test "the page of a report of 29 minutes and 24 vCPUs stays below 3 MiB" {
  has_page || skip "this binary was built without the page"
  "$COZY_SOURCE/tests/bench/long-report" long
  run -0 "$COZYBRACKET" analyze long --format html --output long.html
  page_data long.html >data
  # Every second and every thread is in it.
  assert_equal "$(grep -o '"interval_seconds":1.0,"merged":1,"nodes_left_out":0,"starts":\[[^]]*\]' data | tr -cd , | wc -c)" $((3 + 1739 - 1))
  assert_equal "$(grep -o '"exits_per_second":\[' data | wc -l)" 24
  assert_equal "$(grep -o '"cut_bytes":[0-9]*' data | sort -u)" '"cut_bytes":0'
  assert [ "$(stat -c %s long.html)" -lt $((3 << 20)) ]
}
