#!/usr/bin/env bats
# `analyze --format openmetrics`, held against Prometheus's own reader.

bats_require_minimum_version 1.5.0

setup() {
  load support
  cozy_setup
  MADE=$COZY_SOURCE/tests/fixtures/reports
}

teardown() { cozy_teardown; }

need_promtool() {
  PROMTOOL=$(command -v promtool || echo "$COZY_SOURCE/_build/tools/promtool")
  [[ -x $PROMTOOL ]] || skip "no promtool (hack/setup --promtool)"
}

@test "counters of both samples stand raw, with the second of each" {
  run -0 --separate-stderr "$COZYBRACKET" analyze "$MADE/waited" --format openmetrics
  assert_line 'cozybracket_vcpu_seconds_total{snapshot="kubernetes",node="srv1",vcpu="0",state="waited"} 0.5 1764581800'
  assert_line 'cozybracket_vcpu_seconds_total{snapshot="kubernetes",node="srv1",vcpu="0",state="waited"} 20.3 1764581860'
  assert_line 'cozybracket_runner_cpu_seconds_total{snapshot="kubernetes",cpu="0",mode="steal"} 4 1764581800'
  assert_line 'cozybracket_finding{snapshot="kubernetes",id="nodes-waited",level="warning",subject="srv1..srv3"} 1 1764581860'
  assert_line --index -1 '# EOF'
  refute_line --regexp 'NaN|Inf|state="other"'
  assert_equal "$stderr" ""
}

@test "promtool finds nothing to say, and loads it" {
  need_promtool
  local name
  for name in "$MADE"/*; do
    "$COZYBRACKET" analyze "$name" --format openmetrics >metrics.txt
    run -0 --separate-stderr "$PROMTOOL" check metrics <metrics.txt
    assert_equal "$output$stderr" ""
    rm -rf data
    run -0 "$PROMTOOL" tsdb create-blocks-from openmetrics metrics.txt data
  done
}

@test "promtool keeps every sample" {
  need_promtool
  "$COZYBRACKET" analyze "$MADE/waited" --format openmetrics >metrics.txt
  run -0 "$PROMTOOL" tsdb create-blocks-from openmetrics metrics.txt data
  # ULID, first and last moment, duration, samples, chunks, series
  run -0 awk '$2 == 1764581800000 { print $5, $7 }' <<<"$output"
  assert_output "$(grep -vc '^#' metrics.txt) $(grep -v '^#' metrics.txt | cut -d'}' -f1 | sort -u | wc -l)"
}
