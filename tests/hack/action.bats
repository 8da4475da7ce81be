#!/usr/bin/env bats
# hack/action, step by step as the runner does it: the very `run` lines of action.yml, and the signals of a cancel.

bats_require_minimum_version 1.5.0

setup() {
  load ../support
  cozy_setup
  ACTION=$COZY_SOURCE/hack/action
  LINTERS=$COZY_SOURCE/_build/action-lint/bin
  make_tree tree
  REPORT=$PWD/_out/cozyreport
  INPUTS=("binary=$COZYBRACKET" root=tree)
  : >github.output
}

teardown() { cozy_teardown; }

# The script of a step as the runner writes it, and the environment that an input gives it.
write_step() { # ID
  awk -v id="$1" '/^    - id: / { ours = ($3 == id) } ours && sub(/^      run: /, "")' "$ACTION/action.yml" >"$1.sh"
  [[ -s $1.sh ]] || fail "no step $1 with a run line in action.yml"
}

# Sets STEP to the command that runs a step with INPUTS and further ones.
make_step() { # ID [NAME=VALUE...]
  local input name
  write_step "$1"
  STEP=(env "--default-signal=INT,TERM,HUP" GITHUB_ACTIONS=true "GITHUB_ACTION_PATH=$ACTION" "GITHUB_OUTPUT=$PWD/github.output")
  for input in "${INPUTS[@]}" "${@:2}"; do
    name=${input%%=*} name=${name//-/_}
    STEP+=("COZY_INPUT_${name^^}=${input#*=}")
  done
  STEP+=("COZY_ACTION_BINARY=$(output_of binary)" bash --noprofile --norc -e -o pipefail "$1.sh")
}

step() {
  make_step "$@"
  run --separate-stderr "${STEP[@]}"
}

# The last value of an output, read as the runner reads the file.
output_of() { # NAME
  awk -v name="$1" '
    end != "" { if ($0 == end) end = ""; else if (of == name) value = $0; next }
    { at = index($0, "<<"); of = substr($0, 1, at - 1); end = substr($0, at + 2); if (at == 0) exit 1 }
    END { print value }' github.output
}

# All three steps; keeps the status and the texts of the middle one in status, output and stderr.
action() { # [NAME=VALUE...]
  step install "$@"
  assert_equal "$status" 0
  step bracket "$@"
  local kept=$status text=$output words=$stderr
  step outputs "$@"
  assert_equal "$status" 0
  DETAILS=$output status=$kept output=$text stderr=$words
}

# The page lies beside the archive and is an output; where the binary has none, the log says so. One line either way.
has_page() { # ARCHIVE-WITHOUT-SUFFIX
  if [[ $(head -n 1 <<<"$DETAILS") == *"built without the page"* ]]; then
    assert_equal "$(output_of page-path)" ""
  else
    assert_equal "$(output_of page-path)" "$1.html"
    grep -q '<script type="application/json" id="cozybracket-data">{' "$1.html" || fail "no page in $1.html"
  fi
}

is_written() { [[ -s $1 ]]; }

# --- the files --------------------------------------------------------------------

linter() { # NAME
  [[ -x $LINTERS/$1 ]] || timeout 900 "$COZY_SOURCE/hack/setup" --action-lint >setup.log 2>&1 || true
  [[ -x $LINTERS/$1 ]] || skip "$1 is not to be had here: $(grep -m 1 "$1" setup.log)"
}

@test "actionlint finds nothing" {
  linter actionlint
  cd "$COZY_SOURCE"
  run -0 "$LINTERS/actionlint" .github/workflows/*.yml
  assert_output ""
}

@test "zizmor finds nothing, as pedantic as it can be" {
  linter zizmor
  run -0 "$LINTERS/zizmor" --offline --no-progress --persona=auditor "$COZY_SOURCE/.github/workflows" "$ACTION"
}

@test "every action that a workflow uses is pinned to a commit, and says the version" {
  run -0 grep -hE '^ *(- )?uses: ' "$COZY_SOURCE"/.github/workflows/*.yml
  refute_line --regexp 'uses: [^.][^ ]*@([^ ]{1,39}|[^ ]{41,})( |$)'
  refute_line --regexp 'uses: [^.][^ ]*$'
}

@test "every option of run has its input, and every input reaches a step" {
  local name upper
  for name in $("$COZYBRACKET" run --help | sed -n 's/^ *\(-h,\)\{0,1\}--\([a-z-]*\).*/\2/p' | grep -vx help); do
    grep -qx "  $name:" "$ACTION/action.yml" || fail "no input for --$name"
  done
  for name in $(awk '/^inputs:/ { on = 1 } /^outputs:/ { on = 0 } on && /^  [a-z-]+:$/ { sub(/:/, ""); print $1 }' "$ACTION/action.yml"); do
    upper=${name//-/_}
    [[ $name == working-directory ]] || grep -qx " *COZY_INPUT_${upper^^}: \${{ inputs.$name }}" "$ACTION/action.yml" ||
      fail "$name reaches no step"
  done
}

# --- the modes --------------------------------------------------------------------

@test "wrap: the script's status, its environment, and what was found as outputs" {
  action mode=wrap run='env | grep -c "^COZY_\(INPUT\|ACTION\)" || true
exit 7'
  assert_equal "$status" 7
  assert_output 0
  [[ $stderr == *"cozybracket: verdict: "* ]] || fail "$stderr"
  assert_equal "$(output_of verdict)" "$(sed -n 's/^cozybracket: verdict: //p' <<<"$stderr")"
  assert_equal "$(output_of finding-ids)" \
    "$(sed -n 's/^cozybracket: finding \([a-z-]*\): .*/\1/p' <<<"$stderr" | awk '!seen[$0]++' | paste -sd,)"
  assert_equal "$(output_of report-path)" "$REPORT.tgz"
  run -0 tar tzf "$REPORT.tgz"
  has_page "$REPORT"
  assert_equal "$(sed -n 2p <<<"$DETAILS")" "::group::cozybracket: what the report says"
  assert_equal "$(tail -n 1 <<<"$DETAILS")" "::endgroup::"
}

@test "wrap: bash -e -o pipefail, as a run step of the job would be" {
  action mode=wrap run='false | true
echo not reached'
  assert_equal "$status" 1
  assert_output ""
}

@test "wrap without a binary runs the script all the same, with a warning" {
  action mode=wrap binary=/nowhere/cozybracket run='echo ran; exit 3'
  assert_equal "$status" 3
  assert_output ran
  assert_equal "$(output_of report-path)$(output_of verdict)" ""
  step install binary=/nowhere/cozybracket
  assert_output "::warning title=cozybracket::the input binary, '/nowhere/cozybracket', is no executable that runs here: nothing is bracketed"
}

@test "before, after and report make the same report, one step each" {
  action mode=before snapshot=join only=runner-kernel-cpu-time
  assert_equal "$status" 0
  assert_equal "$(output_of verdict)$(output_of report-path)" ""
  action mode=after snapshot=join only=runner-kernel-cpu-time
  assert_equal "$status" 0
  assert [ -n "$(output_of verdict)" ]
  mkdir packed
  action mode=report snapshot=join output=packed/here.tgz
  assert_equal "$status" 0
  assert_equal "$(output_of report-path)" "$PWD/packed/here.tgz"
  has_page "$PWD/packed/here"
  run -0 tar tzf packed/here.tgz
  assert_line --regexp 'snapshots/join/runner-kernel-cpu-time/sample-2/proc-stat.txt$'
  refute_line --regexp sandbox-kvm-exits
}

@test "before begins the timeline and after ends it, but for an interval of 0 and another root" {
  INPUTS=("binary=$COZYBRACKET" only=runner-kernel-cpu-time)
  action mode=before snapshot=join interval=0.5 'node=srv1=none'
  assert_equal "$status" 0
  [[ $stderr == *"cozybracket: watch: process "*" takes a reading every 0.5 s, in _out/cozyreport/snapshots/join/"* ]] || fail "$stderr"
  assert_equal "$(cozy_processes | wc -l)" 1
  action mode=after snapshot=join
  [[ $stderr == *"cozybracket: watch: process "*" has ended; "* ]] || fail "$stderr"
  no_cozy_process
  action mode=before interval=0
  COZY_INTERVAL=0 action mode=before
  action mode=before root=tree
  no_cozy_process
  assert [ ! -e _out/cozyreport/snapshots/kubernetes/timeline ]
}

@test "before, after and report never fail, whatever is wrong" {
  local mode wrong
  for mode in before after report; do
    for wrong in report-dir=/proc/nowhere read-timeout=soon binary=/nowhere; do
      action "mode=$mode" "$wrong"
      assert_equal "$mode $wrong $status" "$mode $wrong 0"
    done
  done
  action mode=before read-timeout=soon
  assert_output --partial '::warning title=cozybracket::cozybracket sample ended with 2'
}

@test "every input is passed on" {
  echo 812 >pid
  action mode=before report-dir=there snapshot=s sandbox=. read-timeout=3 read-grace=2 only=sandbox-qemu-thread-cpu \
    node=$'  one=pid  \n\n two=nothing'
  assert_equal "$status" 0
  run -0 cat there/snapshots/s/sandbox-qemu-thread-cpu/sample-1/qemu-threads.txt
  assert_line "[bound: read timeout 3 s, grace 2 s]"
  assert_output --partial two
}

@test "no mode, another mode, or nothing to run: refused aloud" {
  step bracket mode=during
  assert_equal "$status" 2
  assert_output "::error title=cozybracket::the input mode is 'during'; it is before, after, report or wrap"
  step bracket mode=$'a\n::warning::b%'
  assert_output "::error title=cozybracket::the input mode is 'a%0A::warning::b%25'; it is before, after, report or wrap"
  step bracket mode=wrap run=$' \n'
  assert_equal "$status" 2
  assert_output "::error title=cozybracket::the mode is wrap, and the input run holds no script"
}

@test "hostile bytes in an analysis or a path stay in their output" {
  local there=$'dir\nbinary=evil'
  mkdir -p "$there/snapshots/kubernetes"
  printf '%s\n' '{' '  "snapshots": [' '    {' '      "name": "kubernetes",' \
    $'      "verdict": "srv\\"1\\\\ \\u003cb> :\\u003aerror:: #\\u0023[error] \r\v\xff\xe2\x80\xa8 end",' \
    '      "findings": [' '        {' '          "id": "node-waited",' '        },' '        {' \
    '          "id": "x\\n::set-env::y",' '        },' '        {' '          "id": "node-waited",' '        }' '      ]' \
    '    }' '  ]' '}' >"$there/snapshots/kubernetes/analysis.json"
  echo archive >"$there.tgz"
  step outputs mode=report "report-dir=$there"
  assert_equal "$status" 0
  assert_equal "$(grep -c . github.output)" 10
  assert_equal "$(output_of verdict)" $'srv"1\\ <b> :\\x3aerror:: #\\x23[error] ??\xff\xe2\x80\xa8 end'
  assert_equal "$(output_of finding-ids)" node-waited
  assert_equal "$(output_of report-path)" ""
  assert_equal "$(output_of binary)" ""
}

# --- a cancel ---------------------------------------------------------------------

@test "a cancel, with the signals of the runner, ends with a packed report" {
  local case entries=() entry
  : 'The second has a child in the foreground, which gets no signal of the runner at all.'
  step install
  for case in 'trap "" INT TERM; echo >ready-1; while :; do sleep 0.1; done' 'echo >ready-2; sleep 1000; echo >after'; do
    make_step bracket mode=wrap "report-dir=report-$((${#entries[@]} + 1))" run="$case"
    "${STEP[@]}" >"out-${#entries[@]}" 2>"err-${#entries[@]}" 3>&- &
    entries+=($!)
    eventually is_written "ready-${#entries[@]}"
    assert_equal "$(readlink "/proc/$!/exe")" "$(readlink -f "$COZYBRACKET")"
  done
  kill -INT "${entries[@]}"
  sleep 7.5
  kill -TERM "${entries[@]}" 2>/dev/null || true
  sleep 2.5
  kill -KILL "${entries[@]}" 2>/dev/null || true
  for entry in "${entries[@]}"; do wait "$entry" || true; done
  assert [ ! -e after ]
  for entry in 1 2; do
    step outputs mode=wrap "report-dir=report-$entry"
    assert_equal "$(output_of report-path)" "$PWD/report-$entry.tgz"
    assert [ -n "$(output_of verdict)" ]
    run -0 tar tzf "report-$entry.tgz"
    assert_line --regexp 'sample-1/proc-stat.txt$'
    assert_line --regexp 'sample-2/proc-stat.txt$'
    assert_line --regexp 'kubernetes/analysis.json$'
    assert_all_whole "report-$entry"
  done
}
