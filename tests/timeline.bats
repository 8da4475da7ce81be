#!/usr/bin/env bats
# The timeline between the samples: what it holds, what is found in it, and that its recorder leaves nothing.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  lane_setup
  TIMELINE=$REPORT/snapshots/kubernetes/timeline/timeline.jsonl
  CGROUP=
  STOPPED=
}

teardown() {
  [[ -z $STOPPED ]] || kill -CONT "$STOPPED" 2>/dev/null || true
  lane_teardown
  cozy_teardown
  [[ -z $CGROUP ]] || eventually rmdir "$CGROUP"
}

ticks() { grep -c '^{"t":' "$TIMELINE"; }

bracket() { # OPTION... -- COMMAND
  run -0 --separate-stderr "$COZYBRACKET" run --sandbox "$SANDBOX" --report-dir "$REPORT" "$@"
}

@test "run writes a head and ticks, packs them, and the recorder is gone" {
  mkdir "$SANDBOX"
  bracket --interval 0.2 -- sleep 2
  head -1 "$TIMELINE" | grep -q '"schema":"cozybracket-timeline-1","interval_ns":200000000,.*"legend":{'
  [[ $(ticks) -ge 3 ]] || fail "$(cat "$TIMELINE")"
  tar -tzf "$REPORT.tgz" | grep -q 'snapshots/kubernetes/timeline/timeline.jsonl$'
  no_cozy_process
  run -0 --separate-stderr "$COZYBRACKET" analyze "$REPORT.tgz"
  [[ $output != *timeline.jsonl* ]]
}

@test "--interval 0 and COZY_INTERVAL=0 write none; the option beats the variable" {
  mkdir "$SANDBOX"
  bracket --interval 0 -- true
  [[ ! -e $TIMELINE ]]
  COZY_INTERVAL=0 bracket -- true
  [[ ! -e $TIMELINE ]]
  COZY_INTERVAL=0 bracket --interval 1 -- timeout 60 sh -c 'until [ -e "$1" ]; do sleep 0.05; done' _ "$TIMELINE"
}

@test "a bad interval is refused before anything runs" {
  local bad
  for bad in x -1 0.05 1e3; do
    run -125 --separate-stderr "$COZYBRACKET" run --interval="$bad" -- touch ran
    [[ $stderr == *--interval* ]] || fail "$stderr"
  done
  [[ ! -e ran ]]
}

@test "the recorder ends with its starter, and holds none of its pipes" {
  mkdir "$SANDBOX"
  "$COZYBRACKET" run --sandbox "$SANDBOX" --report-dir "$REPORT" -- sleep 60 2>log >out 3>&- &
  local starter=$!
  eventually test -s "$TIMELINE"
  local recorder
  for recorder in $(cozy_processes); do
    [[ $recorder == "$starter" ]] || ! readlink "/proc/$recorder/fd/"* | grep -E '/(log|out)$' || fail "holds a pipe"
  done
  kill -KILL "$starter"
  eventually no_cozy_process
}

@test "a report directory that cannot be written: the bracket goes on, and the timeline's end is said" {
  mkdir -p "$SANDBOX" "$REPORT/snapshots/kubernetes"
  touch "$REPORT/snapshots/kubernetes/timeline"
  bracket -- sleep 1
  [[ $stderr == *"shortfall timeline: "* ]] || fail "$stderr"
}

@test "a last line that was cut is no fault" {
  mkdir "$SANDBOX"
  bracket --interval 0.2 -- sleep 1
  printf '{"t":[12' >>"$TIMELINE"
  run -0 --separate-stderr "$COZYBRACKET" analyze "$REPORT"
}

# The data of the page, a report's own; nothing where this binary has no page.
page_data() { # REPORT
  "$COZYBRACKET" analyze "$1" --format html 2>page.words | sed -n 's|.*id="cozybracket-data">\(.*\)</script>.*|\1|p'
  ! grep -v 'built without the page' page.words || fail "$(cat page.words)"
}

list_of() { grep -o "\"$1\":\[[^]]*\]" | head -n 1 | sed 's/.*\[//; s/\]//' | tr , '\n'; } # KEY

# In the page the stall is marked from `begin` on, an epoch second, and the first vCPU of srv1 is seen to stand still.
stands_in_page() { # REPORT BEGIN SECONDS
  local data marked from to
  data=$(page_data "$1")
  [[ -n $data ]] || { echo "# this binary has no page: the finding was looked at in the job log alone" >&3; return 0; }
  marked=$(grep -o '"id":"vcpu-stalled","level":"[a-z]*","subject":"srv1".*' <<<"$data" | grep -o '"timeline":{[^}]*}' | head -n 1)
  from=$(sed 's/.*"from_seconds":\([0-9.]*\).*/\1/' <<<"$marked") to=$(sed 's/.*"to_seconds":\([0-9.]*\).*/\1/' <<<"$marked")
  awk -v zero="$(sed 's/.*"epoch_seconds":\([0-9.]*\).*/\1/' <<<"$data")" -v from="$from" -v to="$to" -v begin="$2" -v seconds="$3" \
    'function near(x) { return x >= -1.5 && x <= 1.5 } BEGIN { exit !(near(zero + from - begin) && near(to - from - seconds)) }' ||
    fail "not at its moment: $marked, $2"
  # Away from its two ends, each of its seconds is of no known state but "other".
  paste <(list_of starts <<<"$data") <(grep -o '"nodes":\[{"name":"srv1","vcpus":.*' <<<"${data#*timelines}" | list_of ran) \
    <(grep -o '"nodes":\[{"name":"srv1","vcpus":.*' <<<"${data#*timelines}" | list_of other) |
    awk -v from="$from" -v to="$to" '
      $1 > from + 0.9 && $1 < to - 2 { seen++; if ($2 > 20 || $3 < 950) { print; wrong = 1 } }
      $1 < from - 2 { ran += $2; before++ }
      END { exit wrong || seen < 4 || before < 3 || ran / before < 100 }' || fail "the page shows it otherwise"
}

@test "a guest that is stopped for 8 s: its vCPUs stood still, at the right moment, in the job log and on the page" {
  nodes --nodes 2 --roles spin,halt
  STOPPED=$(pid_of srv1)
  bracket -- sh -c "sleep 12; date +%s >stopped; kill -STOP $STOPPED; sleep 8; kill -CONT $STOPPED; sleep 10"
  local line
  line=$(grep '^cozybracket: finding vcpu-stalled: .* of srv1 neither' <<<"$stderr") || fail "$stderr"
  [[ $line == *" of srv1 neither ran nor halted for "* && $line == *"(state T)"* && $line != *srv2* ]] || fail "$line"
  # Within one tick: of its length, and of its moment.
  local length moment
  length=$(sed 's/.* halted for \([0-9]*\)\.[0-9]* s, from.*/\1/' <<<"$line")
  [[ $length -ge 7 && $length -le 9 ]] || fail "$line"
  moment=$(date -d "$(sed 's/.* of the timeline (\([^)]*\)).*/\1/' <<<"$line")" +%s)
  [[ $((moment - $(cat stopped))) -ge -1 && $((moment - $(cat stopped))) -le 1 ]] || fail "$line: $(cat stopped)"
  stands_in_page "$REPORT.tgz" "$(cat stopped)" 8
}

@test "a quota that binds for some seconds alone: throttled in a burst" {
  need_root "a CPU quota"
  nodes --nodes 2 --roles spin,halt
  local cpu
  cpu=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
  [[ -n $cpu && -w $cpu ]] || skip "no CPU controller of version 1 to set a quota with"
  CGROUP=$cpu/cozy-burst-$$
  mkdir "$CGROUP"
  echo 100000 >"$CGROUP/cpu.cfs_period_us"
  echo 800000 >"$CGROUP/cpu.cfs_quota_us"
  pid_of srv1 >"$CGROUP/cgroup.procs"
  bracket -- sh -c "sleep 10; echo 5000 >$CGROUP/cpu.cfs_quota_us; sleep 3; echo 800000 >$CGROUP/cpu.cfs_quota_us; sleep 7"
  local line
  line=$(grep '^cozybracket: finding burst-throttle: ' <<<"$stderr") || fail "$stderr"
  [[ $line == *srv1* && $line != *srv2* ]] || fail "$line"
}

@test "a recorder that does not get to write, or that is killed, is said in the job log" {
  hang hanging --swallow
  run -3 --separate-stderr "$COZYBRACKET" run --report-dir hanging/report --read-timeout 2 --read-grace 1 -- \
    sh -c 'sleep 6; exit 3'
  grep -q '^cozybracket: shortfall timeline: hanging/report/.*: no answer within ' <<<"$stderr" || fail "$stderr"

  # The recorder is the child of run that is not the command.
  run -0 --separate-stderr "$COZYBRACKET" run --report-dir "$REPORT" -- bash -c '
    until [[ -s $1 ]]; do sleep 0.05; done
    for pid in $(pgrep -P $PPID); do [[ $pid == "$$" ]] || kill -KILL "$pid"; done
    sleep 0.5' _ "$TIMELINE"
  grep -q '^cozybracket: shortfall timeline: its process died over it' <<<"$stderr" || fail "$stderr"
}
