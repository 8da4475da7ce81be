#!/usr/bin/env bats
# The live line of `run`: on a terminal alone, never wider than it, and gone before any other line of ours.

bats_require_minimum_version 1.5.0

ESC=$'\e'
ERASE=$ESC'[J'
DRAWN=$ERASE$ESC'D'$ESC'M'$ESC'7'$ESC'[B'$'\r'

setup() {
  load support
  cozy_setup
  command -v script >/dev/null || skip "no script(1) to make a terminal"
  export TERM=xterm
  unset NO_COLOR
  OPTIONS="--report-dir '$REPORT' --sandbox ."
}

teardown() { cozy_teardown; }

# What a terminal of that width gets, in the file `screen`: one line for each piece behind an erasing.
terminal() { # COLUMNS SCRIPT
  timeout 120 script -qec "stty cols $1 rows 24; $2" typescript </dev/null >/dev/null || fail "script ended with $?"
  sed -e 1d -e '$d' typescript | tr -d '\n' >screen
}

# The words of every live line that was drawn.
lines_shown() { grep -oE "${ESC}\[B"$'\r'"(${ESC}\[[0-9]+C)?(${ESC}\[2m)?[^$ESC]*" screen | sed "s/.*[mC]//; s/.*\r//"; }

@test "a terminal has elapsed time and runner, once a second, and it is erased before our lines and at the end" {
  terminal 100 "exec '$COZYBRACKET' run $OPTIONS -- sh -c 'echo begun; sleep 3.5; echo ended'"
  run -0 lines_shown
  assert_line --index 0 --regexp '^cozybracket 1 s'
  assert_line --regexp '^cozybracket 3 s \| runner busy [0-9]+%( steal [0-9]+%)?$'
  grep -qF "$DRAWN" screen
  grep -qE 'begun.*cozybracket 1 s.*ended' screen
  # Behind the last of them there is an erasing, then our lines, and no control byte but the ends of lines.
  local rest
  rest=$(sed "s/.*${ESC}8//" screen)
  [[ $rest == *"$ERASE"*"cozybracket: sample 2: "* ]] || fail "$rest"
  rest=${rest##*"$ERASE"}
  [[ $rest != *"$ESC"* && $rest == *"cozybracket: wrote "* ]] || fail "$rest"
}

@test "it fits: nodes that have no room are counted, and nothing is drawn on what is too narrow" {
  nodes_by_name
  terminal 200 "exec '$COZYBRACKET' run $OPTIONS -- sleep 3.5"
  run -0 lines_shown
  assert_line --regexp ' \| [^|]* ran [0-9]+% waited [0-9]+%'
  terminal 64 "exec '$COZYBRACKET' run $OPTIONS -- sleep 3.5"
  run -0 lines_shown
  assert_line --regexp '^cozybracket 3 s \| runner busy .*\+[0-9]+$'
  for line in "${lines[@]}"; do [[ ${#line} -le 63 ]] || fail "$line"; done
  terminal 15 "exec '$COZYBRACKET' run $OPTIONS -- sleep 1.5"
  ! grep -q "$ESC" screen || fail "$(cat -v screen)"
}

nodes_by_name() {
  lane_setup
  nodes --nodes 3 --roles halt
  OPTIONS="--report-dir '$REPORT' --sandbox '$SANDBOX'"
}

@test "without a timeline there is the elapsed time alone; NO_COLOR has no colour" {
  NO_COLOR=1 terminal 80 "exec '$COZYBRACKET' run $OPTIONS --interval 0 -- sleep 2.5"
  run -0 lines_shown
  assert_output $'cozybracket 1 s\ncozybracket 2 s'
  ! grep -qE "$ESC\[[0-9;]*m" screen || fail "$(cat -v screen)"
}

@test "not a byte of it where stderr is no terminal, on a dumb one, or in the background" {
  run -0 --separate-stderr "$COZYBRACKET" run --report-dir "$REPORT" -- sleep 1.5
  [[ $stderr != *"$ESC"* && $stderr != *$'\r'* && -n $stderr ]] || fail "$stderr"
  terminal 80 "'$COZYBRACKET' run $OPTIONS -- sleep 1.5 2>err"
  ! grep -q "$ESC" screen err || fail "$(cat -v screen)"
  TERM=dumb terminal 80 "exec '$COZYBRACKET' run $OPTIONS -- sleep 1.5"
  ! grep -q "$ESC" screen || fail "$(cat -v screen)"
  TERM='' terminal 80 "exec '$COZYBRACKET' run $OPTIONS -- sleep 1.5"
  ! grep -q "$ESC" screen || fail "$(cat -v screen)"
  terminal 80 "exec bash -mc '\"\$0\" run $OPTIONS -- sleep 1.5 & wait \$!; echo status \$?' '$COZYBRACKET'"
  ! grep -q "$ESC" screen || fail "$(cat -v screen)"
  grep -q 'cozybracket: wrote .*status 0' screen || fail "$(cat -v screen)"
}

@test "what the command writes is there, and comes to stand where nothing of ours is left" {
  terminal 80 "exec '$COZYBRACKET' run $OPTIONS -- sh -c 'sleep 1.5; echo first; sleep 1; echo second; sleep 1.2; echo third'"
  # Each is behind the last place of the cursor, with nothing of ours between; the line goes as soon as one is written.
  local word
  for word in first second third; do
    grep -qE "${ESC}8$word"$'\r'"${ESC}\[J" screen || fail "$word: $(cat -v screen)"
  done
}
