#!/usr/bin/env bash
# The last step of the action: its outputs, from the analysis that lies beside the captures, and the details in a
# group of the log. It never fails.
set -uo pipefail

k_action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
source "$k_action/common.sh"

readonly k_analyze_bound=60    # seconds
readonly k_longest_verdict=1000

# Prints a member of the one snapshot in an analysis.json, as the binary writes it: a line for each member, two
# blanks for each level. The strings hold no control bytes; what GitHub would take for a command stays escaped.
strings_of() { # KEY FILE
  awk -v key="$1" '
    function plain(text,   out, escape) {
      out = ""
      while (match(text, /\\(u[0-9a-f][0-9a-f][0-9a-f][0-9a-f]|.)/)) {
        escape = substr(text, RSTART + 1, RLENGTH - 1)
        if (escape == "u003c") escape = "<"
        else if (escape ~ /^u00/) escape = "\\x" substr(escape, 4)
        else if (escape ~ /^u/) escape = "\\" escape
        out = out substr(text, 1, RSTART - 1) escape
        text = substr(text, RSTART + RLENGTH)
      }
      return out text
    }
    /^      "findings": \[/ { in_findings = 1 }
    /^      \]/ { in_findings = 0 }
    { begin = (key == "verdict" ? "      \"" : "          \"") key "\": \"" }
    index($0, begin) == 1 && (key == "verdict" || in_findings) {
      text = substr($0, length(begin) + 1)
      sub(/",?$/, "", text)
      print plain(text)
    }' "$2"
}

answer_outputs() {
  local LC_ALL=C analysis=$report_dir/snapshots/$snapshot/analysis.json verdict='' ids=''
  if [[ $mode != before && -f $analysis ]]; then
    verdict=$(strings_of verdict "$analysis" | head -n 1)
    ids=$(strings_of id "$analysis" | awk '/^[a-z0-9-]+$/ && !seen[$0]++' | paste -sd, -)
  fi
  set_output verdict "${verdict:0:k_longest_verdict}"
  set_output finding-ids "$ids"
}

report_output() {
  local path=''
  [[ ! $mode =~ ^(wrap|report)$ || ! -f $archive ]] || path=$(realpath -- "$archive")
  [[ $path != *[[:cntrl:]]* ]] || path=
  set_output report-path "$path"
}

# The report as a page for a browser, beside the archive. A binary without the page says so in the log.
page_output() {
  local page=${archive%.tgz}.html path=''
  if [[ $mode =~ ^(wrap|report)$ && -n $binary && -f $archive ]] &&
    timeout --kill-after=5 "$k_analyze_bound" "$binary" analyze "$archive" --format html --output "$page" 2>&1; then
    path=$(realpath -- "$page")
  fi
  [[ $path != *[[:cntrl:]]* ]] || path=
  set_output page-path "$path"
}

details() {
  [[ $mode =~ ^(wrap|report)$ && -n $binary && -f $archive ]] || return 0
  echo "::group::cozybracket: what the report says"
  timeout --kill-after=5 "$k_analyze_bound" "$binary" analyze "$archive" 2>&1
  echo "::endgroup::"
}

answer_outputs
report_output
page_output
details
exit 0
