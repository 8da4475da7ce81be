# shellcheck shell=bash
# shellcheck disable=SC2034 # what the scripts of the three steps use
# Shared by the scripts of the action's steps. To be sourced.

binary=${COZY_ACTION_BINARY-} # empty where none is to be had: then nothing is bracketed, and nothing fails
mode=${COZY_INPUT_MODE-}
report_dir=${COZY_INPUT_REPORT_DIR:-${COZY_REPORT_DIR:-_out/cozyreport}}
snapshot=${COZY_INPUT_SNAPSHOT:-${COZY_SNAPSHOT_NAME:-kubernetes}}
archive=${COZY_INPUT_OUTPUT:-$report_dir.tgz}

# An annotation: LEVEL is notice, warning or error. The runner reads %, CR and LF back from their escapes.
annotate() { # LEVEL WORDS
  local words=$2
  words=${words//'%'/%25}
  words=${words//$'\r'/%0D}
  words=${words//$'\n'/%0A}
  printf '::%s title=cozybracket::%s\n' "$1" "$words"
}

# One output of the step. Whatever the bytes of VALUE, it is one line, and no line of it can end it or begin another.
set_output() { # NAME VALUE
  local LC_ALL=C delimiter value=${2//[[:cntrl:]]/?}
  read -r delimiter </proc/sys/kernel/random/uuid
  printf '%s<<%s\n%s\n%s\n' "$1" "$delimiter" "$value" "$delimiter" >>"${GITHUB_OUTPUT:-/dev/stdout}"
}
