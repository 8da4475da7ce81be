#!/usr/bin/env bash
# The second step of the action: what its mode says.
set -euo pipefail

k_action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
source "$k_action/common.sh"

add_option() { [[ -z $2 ]] || options+=("$1=$2"); } # NAME VALUE

add_nodes() {
  local line
  while IFS= read -r line; do
    line=${line#"${line%%[![:space:]]*}"}
    add_option --node "${line%"${line##*[![:space:]]}"}"
  done <<<"${COZY_INPUT_NODE-}"
}

# Sets options: what the inputs say for a sample. What they leave open, the binary takes from the environment.
read_options() {
  options=()
  add_option --report-dir "${COZY_INPUT_REPORT_DIR-}"
  add_option --snapshot "${COZY_INPUT_SNAPSHOT-}"
  add_option --sandbox "${COZY_INPUT_SANDBOX-}"
  add_option --root "${COZY_INPUT_ROOT-}"
  add_option --read-timeout "${COZY_INPUT_READ_TIMEOUT-}"
  add_option --read-grace "${COZY_INPUT_READ_GRACE-}"
  add_option --only "${COZY_INPUT_ONLY-}"
  add_nodes
}

# Runs the binary for a step that never fails. 0 and 1 are answers: with 1 the log names the captures without data.
run_binary() { # ARGUMENT...
  local status=0
  [[ -n $binary ]] || return 0
  "$binary" "$@" || status=$?
  [[ $status -le 1 ]] || annotate warning "cozybracket $1 ended with $status; its words are in the log of this step"
}

# The recorder of the timeline goes on between two steps: the runner ends what a job has left when the job is at its
# end, not before. Another root is no machine, and its files do not change.
watch() { # start|stop
  local options=()
  [[ ${COZY_INPUT_ROOT:-/} == / ]] || return 0
  [[ ${COZY_INPUT_INTERVAL:-${COZY_INTERVAL:-1}} != 0 ]] || return 0
  add_option --report-dir "${COZY_INPUT_REPORT_DIR-}"
  add_option --snapshot "${COZY_INPUT_SNAPSHOT-}"
  if [[ $1 == start ]]; then
    add_option --sandbox "${COZY_INPUT_SANDBOX-}"
    add_option --interval "${COZY_INPUT_INTERVAL-}"
    add_nodes
  fi
  run_binary watch "$1" "${options[@]}" || true
}

# Never returns. The script's environment is what any other step of the job has.
wrap() {
  local bracket=() script=${COZY_INPUT_RUN-}
  if [[ -z ${script//[[:space:]]/} ]]; then
    annotate error "the mode is wrap, and the input run holds no script"
    exit 2
  fi
  add_option --output "${COZY_INPUT_OUTPUT-}"
  add_option --interval "${COZY_INPUT_INTERVAL-}"
  [[ -z $binary ]] || bracket=("$binary" run "${options[@]}" --)
  unset "${!COZY_INPUT_@}" COZY_ACTION_BINARY
  exec "${bracket[@]}" bash --noprofile --norc -e -o pipefail -c "$script"
}

main() {
  read_options
  case $mode in
    before)
      run_binary sample "${options[@]}" 1 || true
      watch start
      ;;
    after)
      watch stop
      run_binary sample "${options[@]}" 2 || true
      ;;
    report)
      options=()
      add_option --report-dir "${COZY_INPUT_REPORT_DIR-}"
      add_option --output "${COZY_INPUT_OUTPUT-}"
      run_binary pack "${options[@]}" || true
      ;;
    wrap) wrap ;;
    *)
      annotate error "the input mode is '$mode'; it is before, after, report or wrap"
      exit 2
      ;;
  esac
}

main "$@"
