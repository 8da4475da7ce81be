#!/usr/bin/env bash
# The first step of the action: the binary from the input, from PATH, or built. Sets the output `binary`; without one
# the job goes on, with a warning.
set -euo pipefail

k_action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
k_root=$(cd "$k_action/../.." && pwd)
# shellcheck source=common.sh
source "$k_action/common.sh"

readonly k_start_bound=20   # seconds for the binary to print its version
readonly k_build_bound=1800 # seconds

runs_here() { [[ -f $1 && -x $1 ]] && timeout --kill-after=5 "$k_start_bound" "$1" --version >/dev/null 2>&1; }

# Prints the path of the binary.
find_binary() {
  local wanted=${COZY_INPUT_BINARY-} candidate
  if [[ -n $wanted ]]; then
    runs_here "$wanted" || return 1
    realpath -- "$wanted"
    return
  fi
  for candidate in "$k_root/_out/cozybracket" "$(command -v cozybracket || true)"; do
    ! runs_here "$candidate" || { realpath -- "$candidate"; return; }
  done
  return 1
}

build() {
  local status=0
  echo "::group::cozybracket: building the static binary"
  timeout --kill-after=30 "$k_build_bound" "$k_root/hack/build-static" || status=$?
  echo "::endgroup::"
  return "$status"
}

main() {
  local found
  if found=$(find_binary) || { [[ -z ${COZY_INPUT_BINARY-} ]] && build && found=$(find_binary); }; then
    set_output binary "$found"
  elif [[ -n ${COZY_INPUT_BINARY-} ]]; then
    annotate warning "the input binary, '$COZY_INPUT_BINARY', is no executable that runs here: nothing is bracketed"
  else
    annotate warning "there is no cozybracket on PATH and none could be built: nothing is bracketed"
  fi
}

main "$@"
