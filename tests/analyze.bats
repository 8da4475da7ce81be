#!/usr/bin/env bats
# `analyze` and `compare`, and the answer that `run` and `sample 2` leave in a report.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  unset NO_COLOR COLUMNS GITHUB_ACTIONS GITHUB_STEP_SUMMARY
  export TERM=xterm
  MADE=$COZY_SOURCE/tests/fixtures/reports
}

teardown() { cozy_teardown; }

log_says() { grep -qE -- "$1" <<<"$stderr" || fail "no line like: $1"$'\n'"$stderr"; }

# Lines that GitHub's runner would obey.
commands_in() { grep -cP '^\s*::[^:]*::|##\[' || true; }

# --- analyze ------------------------------------------------------------------------

@test "the goldens are what the binary says" {
  run -0 "$COZY_SOURCE/hack/refresh-goldens" --check "$COZYBRACKET"
}

@test "the verdict is the first line, in every format in its way" {
  run -0 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited"
  assert_line --index 0 --partial 'verdict: the sandbox nodes waited for CPU'
  assert_equal "$stderr" ""
  run -0 "$COZYBRACKET" analyze "$MADE/waited" --format markdown
  assert_line --index 0 --partial '## cozybracket: the sandbox nodes waited for CPU'
  run -0 "$COZYBRACKET" analyze --format json "$MADE/waited"
  assert_line --index 1 --partial '"schema": "cozybracket.analysis/1"'
}

@test "a directory, an archive and standard input give one answer" {
  cp -r "$MADE/waited" .
  tar czf waited.tgz waited
  "$COZYBRACKET" analyze waited >directory
  "$COZYBRACKET" analyze waited.tgz >archive
  "$COZYBRACKET" analyze - <waited.tgz >input
  tar czf - waited | "$COZYBRACKET" analyze - >pipe
  for answer in archive input pipe; do diff directory "$answer"; done
}

@test "--snapshot takes one of them; without it the worst is first" {
  run -0 "$COZYBRACKET" analyze "$MADE/two-snapshots"
  assert_line --index 0 --partial 'a sandbox node'
  assert_output --regexp 'snapshot  kubernetes-b.*snapshot  kubernetes-a'
  run -0 "$COZYBRACKET" analyze "$MADE/two-snapshots" --snapshot kubernetes-a
  assert_output --partial 'snapshot  kubernetes-a'
  refute_output --partial 'kubernetes-b'
  run -1 --separate-stderr "$COZYBRACKET" analyze "$MADE/two-snapshots" --snapshot nonsuch
  log_says 'analyze: .*two-snapshots: holds no snapshot "nonsuch"; it holds kubernetes-a, kubernetes-b$'
  refute_output
}

@test "variables of the collector mean nothing to analyze" {
  export COZY_SNAPSHOT_NAME=kubernetes-a COZY_DIAG_READ_TIMEOUT=bad
  run -0 --separate-stderr "$COZYBRACKET" analyze "$MADE/two-snapshots"
  assert_output --partial 'kubernetes-b'
  assert_equal "$stderr" ""
}

@test "--explain prints the thresholds and the rules, with a report and without one" {
  run -0 "$COZYBRACKET" analyze --explain
  assert_line --index 0 --partial 'Thresholds'
  assert_line --partial 'node-waited: '
  run -0 "$COZYBRACKET" analyze "$MADE/waited" --explain
  assert_line --index 0 --partial 'verdict: '
  assert_line --partial 'steal.warning = '
  run -0 "$COZYBRACKET" analyze --explain --format json
  assert_line --partial '"name": "steal.warning"'
}

@test "what cannot be read is named, with status 1" {
  mkdir empty
  head -c 4096 /dev/urandom >noise.tgz
  local path
  for path in nonsuch.tgz empty noise.tgz; do
    run -1 --separate-stderr "$COZYBRACKET" analyze "$path"
    refute_output
    log_says "^cozybracket: analyze: (\./)?$path"
    assert_equal "$(wc -l <<<"$stderr")" 1
  done
  run -1 --separate-stderr "$COZYBRACKET" analyze - </dev/null
  log_says '^cozybracket: analyze: '
  without_input() { "$COZYBRACKET" analyze - <&-; }
  run -1 --separate-stderr without_input
  log_says '^cozybracket: analyze: '
}

@test "a cut archive is analysed as far as it goes, and said to be cut" {
  cp -r "$MADE/waited" .
  tar cf - waited | gzip -1 >whole.tgz
  head -c $(($(stat -c %s whole.tgz) - 200)) whole.tgz >cut.tgz
  run -0 "$COZYBRACKET" analyze cut.tgz
  assert_output --partial 'The report is truncated'
  run -0 "$COZYBRACKET" analyze cut.tgz --format json
  assert_line --partial '"truncated": true'
}

@test "a report cut before its first capture says that it is truncated" {
  cp -r "$MADE/waited" .
  tar cf waited.tar waited
  head -c 700 waited.tar | gzip >cut.tgz
  run -1 --separate-stderr "$COZYBRACKET" analyze cut.tgz
  log_says 'cut.tgz: holds no capture: .*; it is truncated'
}

@test "a report that has nothing but refused entries names the first" {
  mkdir -p snapshots/k/runner-kernel-cpu-time/sample-1
  echo x >snapshots/k/runner-kernel-cpu-time/sample-1/proc-stat.txt
  tar czf outside.tgz --absolute-names --transform 's,^,../,' snapshots/k/runner-kernel-cpu-time/sample-1/proc-stat.txt
  run -1 --separate-stderr "$COZYBRACKET" analyze outside.tgz
  log_says 'outside.tgz: holds no capture: .*; 1 entry was refused, the first "\.\./snapshots/.*": '
}

@test "usage errors name what is wrong, with status 2" {
  refuses() { # WORDS ARGUMENT...
    local words=$1
    shift
    run -2 --separate-stderr "$COZYBRACKET" "$@"
    refute_output
    log_says "$words"
  }
  refuses 'analyze is told no report; such as: cozybracket analyze' analyze
  refuses 'analyze: .*not expected: b' analyze a b
  refuses '--format "yaml" is no format of this command; it is text, markdown, json, openmetrics, html or perfetto' analyze a --format yaml
  refuses '--format "" is empty' analyze a --format ''
  refuses '--format "openmetrics" is no format of this command; it is text, markdown, json or html' compare a b --format openmetrics
  refuses 'compare is told no report' compare
  refuses 'compare is told one report alone' compare a
  refuses 'compare: .*not expected: c' compare a b c
  refuses 'compare "-" is told twice' compare - -
  refuses '"--" has no place here' analyze a -- b
  refuses 'analyze: .*--root' analyze a --root /
  refuses '--output "" is empty' analyze a --output ''
  refuses '--format "html" is a page about a report; such as: .*--output report.html' analyze --explain --format html
}

@test "colour on a terminal alone, and never where NO_COLOR is set" {
  command -v script >/dev/null || skip "no script(1) to make a terminal"
  terminal() { script -qec "$*" /dev/null </dev/null | tr -d '\r'; }
  run -0 terminal "stty cols 90; '$COZYBRACKET' analyze '$MADE/waited'"
  assert_output --partial $'\e[1mverdict: '
  run -0 terminal "NO_COLOR=1 '$COZYBRACKET' analyze '$MADE/waited'"
  refute_output --partial $'\e'
  run -0 terminal "TERM=dumb '$COZYBRACKET' analyze '$MADE/waited'"
  refute_output --partial $'\e'
  run -0 terminal "'$COZYBRACKET' analyze '$MADE/waited' --format markdown"
  refute_output --partial $'\e'
  run -0 terminal "'$COZYBRACKET' analyze '$MADE/waited' | cat"
  refute_output --partial $'\e'
}

@test "the width is COLUMNS or the terminal's, else 100" {
  longest() { tail -n +2 | wc -L; }
  [[ $("$COZYBRACKET" analyze "$MADE/waited" | longest) -le 100 ]]
  [[ $(COLUMNS=70 "$COZYBRACKET" analyze "$MADE/waited" | longest) -le 70 ]]
  [[ $(COLUMNS=160 "$COZYBRACKET" analyze "$MADE/waited" | longest) -gt 100 ]]
  diff <(COLUMNS=wide "$COZYBRACKET" analyze "$MADE/waited") <("$COZYBRACKET" analyze "$MADE/waited")
  command -v script >/dev/null || skip "no script(1) to make a terminal"
  local columns
  columns=$(NO_COLOR=1 script -qec "stty cols 70; '$COZYBRACKET' analyze '$MADE/waited'" /dev/null </dev/null | tr -d '\r' | longest)
  [[ $columns -le 70 ]]
}

@test "a trace for perfetto: every second of the timeline, the samples, and what was found" {
  run -0 --separate-stderr "$COZYBRACKET" analyze "$MADE/timeline" --format perfetto
  [[ -z $stderr ]]
  assert_line --index 0 --partial '"origin_boottime_ns":1000000000000'
  assert_line --index -1 ']}'
  assert_line --regexp '"ph":"C".*"name":"vCPU 0","args":\{"ran %":60,"waited %":8,"halted %":30,'
  assert_line --regexp '"ph":"C".*"name":"cpu","args":\{"user %":'
  assert_line --regexp '"ph":"X".*"ts":92000000,"name":"sample 2","dur":3000,'
  assert_line --regexp '"ph":"X".*"name":"stood still"'
  assert_line --regexp '"ph":"i".*"name":"late-start","s":"p",'
  # A report without a timeline has no counters.
  run -0 "$COZYBRACKET" analyze "$MADE/waited" --format perfetto
  refute_line --partial '"ph":"C"'
  assert_line --regexp '"ph":"i".*"name":"nodes-waited"'
}

@test "names of snapshots and threads do no harm in any format" {
  # shellcheck disable=SC2016 # these are the names
  local names=('::error::x' '##[group]y' '<img src=x> @all #1' 'a|b`c*[d](e)' $'caf\xc3' $'two\nlines ::warning::z') name format place
  mkdir -p hostile/snapshots
  for name in "${names[@]}"; do cp -r "$MADE/hostile/snapshots/kubernetes" "hostile/snapshots/$name"; done
  tar czf hostile.tgz hostile
  for format in text markdown json perfetto; do
    for place in hostile hostile.tgz; do
      "$COZYBRACKET" analyze "$place" --format "$format" >answer
      assert_equal "$(commands_in <answer)" 0
      assert_equal "$(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]' answer || true)" 0
      iconv -f UTF-8 -t UTF-8 answer >/dev/null
    done
  done
  "$COZYBRACKET" analyze hostile --format markdown >answer
  assert_equal "$(grep -cF '<img' answer || true)" 0
}

@test "a closed standard output is a failure, a reader that has seen enough is none" {
  without_output() { "$COZYBRACKET" analyze "$MADE/waited" >&-; }
  onto_full_disk() { "$COZYBRACKET" analyze "$MADE/waited" >/dev/full; }
  into_one_line() { "$COZYBRACKET" analyze "$MADE/waited" --format json | head -n 1; }
  run -1 --separate-stderr without_output
  log_says 'analyze: the answer could not be written'
  if [[ -e /dev/full ]]; then
    run -1 --separate-stderr onto_full_disk
    log_says 'analyze: the answer could not be written'
  fi
  set -o pipefail
  run -0 into_one_line
}

# --- compare ------------------------------------------------------------------------

@test "compare: two reports side by side, in every format" {
  run -0 --separate-stderr "$COZYBRACKET" compare "$MADE/two-snapshots" "$MADE/waited"
  assert_line --index 0 "red    $MADE/waited"
  assert_line --regexp '^srv1 +waited .*differs$'
  run -0 "$COZYBRACKET" compare "$MADE/waited" "$MADE/waited"
  refute_output --partial differs
  run -0 "$COZYBRACKET" compare "$MADE/waited" "$MADE/shell" --format json
  assert_line --partial '"schema": "cozybracket.comparison/1"'
  tar czf red.tgz -C "$MADE" waited
  run -0 "$COZYBRACKET" compare "$MADE/two-snapshots" - --format markdown <red.tgz
  assert_line --index 0 --partial '## cozybracket: red -'
}

@test "compare: the report that cannot be read is named" {
  run -1 --separate-stderr "$COZYBRACKET" compare "$MADE/waited" nonsuch
  log_says '^cozybracket: compare: nonsuch'
  run -1 --separate-stderr "$COZYBRACKET" compare nonsuch "$MADE/waited"
  log_says '^cozybracket: compare: nonsuch'
}

# --- after sample 2 -----------------------------------------------------------------

@test "run leaves the answer in the job log, in the report and in the archive" {
  make_tree tree
  run -0 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- true
  log_says '^cozybracket: verdict: '
  log_says '^cozybracket: finding '
  local at=snapshots/kubernetes
  run -0 head -n 1 "$REPORT/$at/SUMMARY.md"
  assert_output --partial '## cozybracket: '
  run -0 sed -n 2p "$REPORT/$at/analysis.json"
  assert_output --partial '"cozybracket.analysis/1"'
  run -0 tar tzf "$REPORT.tgz"
  assert_line --partial "$at/analysis.json"
  assert_line --partial "$at/SUMMARY.md"
  # The one that opens the archive says the same of it.
  run -0 "$COZYBRACKET" analyze "$REPORT.tgz" --format markdown
  assert_line --index 0 "$(head -n 1 "$REPORT/$at/SUMMARY.md")"
}

@test "on GitHub Actions there are annotations and a step summary; elsewhere neither" {
  make_tree tree
  echo 'of another step' >summary.md
  GITHUB_STEP_SUMMARY=$PWD/summary.md run -0 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- true
  assert_equal "$(cat summary.md)" 'of another step'
  run ! grep -q '^::' <<<"$stderr"
  export GITHUB_ACTIONS=true
  GITHUB_STEP_SUMMARY=$PWD/summary.md run -0 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- true
  log_says '^::(notice|warning) title=cozybracket [a-z-]+::'
  assert_equal "$(head -n 1 summary.md)" 'of another step'
  diff <(tail -n +3 summary.md) "$REPORT/snapshots/kubernetes/SUMMARY.md"
  run -0 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- true # no file is named: none is made
}

@test "a step summary without room or place costs nothing but a line" {
  make_tree tree
  export GITHUB_ACTIONS=true
  head -c 1048576 /dev/zero | tr '\0' x >full.md
  GITHUB_STEP_SUMMARY=$PWD/full.md run -0 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- true
  log_says '^cozybracket: shortfall summary: the step summary .*full\.md: has no room'
  log_says '^cozybracket: wrote '
  assert_equal "$(stat -c %s full.md)" 1048576
  mkfifo fifo
  GITHUB_STEP_SUMMARY=$PWD/fifo run -3 --separate-stderr "$COZYBRACKET" run --root tree --report-dir "$REPORT" -- sh -c 'exit 3'
  log_says '^cozybracket: shortfall summary: the step summary .*fifo: '
}

@test "a disk without room for the answer costs neither the job log nor the status" {
  make_tree tree
  small_disk small 96k
  run -4 --separate-stderr "$COZYBRACKET" run --root tree --report-dir small/report --output "$PWD/out.tgz" -- \
    sh -c 'head -c 90000 /dev/zero >small/filler 2>/dev/null; exit 4'
  log_says '^cozybracket: window '
  log_says '^cozybracket: shortfall '
  assert [ ! -e small/report/snapshots/kubernetes/analysis.json ]
}
