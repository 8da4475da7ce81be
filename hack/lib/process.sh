# shellcheck shell=bash
# Processes by identity: a pid alone may come to name another process, a pid
# with its start time does not. To be sourced.

# Prints the start time of PID in clock ticks since boot (field 22 of its stat
# line); fails where there is no such process or it is dead (zombie).
process_start() {
  local line='' fields
  IFS= read -r -d '' line 2>/dev/null <"/proc/$1/stat" || [[ -n $line ]] || return 1
  read -ra fields <<<"${line##*)}" # the name may hold spaces and parentheses
  [[ ${fields[0]} != [ZX] ]] || return 1
  echo "${fields[19]}"
}

# Prints alive, gone, or "another process" for PID that started at START.
process_state() {
  local start
  if ! start=$(process_start "$1"); then
    echo gone
  elif [[ $start == "$2" ]]; then
    echo alive
  else
    echo "another process"
  fi
}

# Sends SIGNAL to PID if it still is the process that started at START.
process_signal() {
  [[ $(process_state "$1" "$2") != alive ]] || kill -s "$3" "$1" 2>/dev/null || true
}

# Waits at most SECONDS until none of the "PID START" lines given is alive.
# Prints the lines that are.
processes_wait_gone() {
  local seconds=$1 deadline line left=()
  shift
  deadline=$((SECONDS + seconds))
  while :; do
    left=()
    for line in "$@"; do
      [[ $(process_state "${line% *}" "${line#* }") != alive ]] || left+=("$line")
    done
    [[ ${#left[@]} != 0 && $SECONDS -lt $deadline ]] || break
    sleep 0.05
  done
  [[ ${#left[@]} == 0 ]] || printf '%s\n' "${left[@]}"
}

# Ends the processes of the "PID START" lines given: SIGTERM, at most 5 s, then
# SIGKILL, at most 5 s. Prints the lines of those that live on.
processes_end() {
  local line left
  for line in "$@"; do process_signal "${line% *}" "${line#* }" TERM; done
  mapfile -t left < <(processes_wait_gone 5 "$@")
  for line in "${left[@]}"; do process_signal "${line% *}" "${line#* }" KILL; done
  processes_wait_gone 5 "${left[@]}"
}
