#!/usr/bin/env bash
# The second step of the action: what its mode says.
set -euo pipefail

k_action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=common.sh
source "$k_action/common.sh"

add_option() { [[ -z $2 ]] || options+=("$1=$2"); } # NAME VALUE

# Sets options: what the inputs say for a sample. What they leave open, the binary takes from the environment.
read_options() {
  local line
  options=()
  add_option --report-dir "${COZY_INPUT_REPORT_DIR-}"
  add_option --snapshot "${COZY_INPUT_SNAPSHOT-}"
  add_option --sandbox "${COZY_INPUT_SANDBOX-}"
  add_option --root "${COZY_INPUT_ROOT-}"
  add_option --read-timeout "${COZY_INPUT_READ_TIMEOUT-}"
  add_option --read-grace "${COZY_INPUT_READ_GRACE-}"
  add_option --only "${COZY_INPUT_ONLY-}"
  while IFS= read -r line; do
    line=${line#"${line%%[![:space:]]*}"}
    add_option --node "${line%"${line##*[![:space:]]}"}"
  done <<<"${COZY_INPUT_NODE-}"
}

# Runs the binary for a step that never fails. 0 and 1 are answers: with 1 the log names the captures without data.
run_binary() { # ARGUMENT...
  local status=0
  [[ -n $binary ]] || return 0
  "$binary" "$@" || status=$?
  [[ $status -le 1 ]] || annotate warning "cozybracket $1 ended with $status; its words are in the log of this step"
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
    before) run_binary sample "${options[@]}" 1 || true ;;
    after) run_binary sample "${options[@]}" 2 || true ;;
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
