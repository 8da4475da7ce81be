# shellcheck shell=dash
# cozybracket in the shell of a suite (Chainsaw or any other). To be sourced, behind the lane's own library, by dash
# under `set -eu`, by bash or by busybox; it needs `local` and nothing else beyond POSIX.
#
#   cozybracket_before [OPTION...]                 sample 1, before the wait, and the begin of the timeline
#   cozybracket_after [OPTION...]                  the end of the timeline and sample 2, behind it, on the passing and
#                                                  the failing path; one that this bracket has already is kept
#   cozybracket_report [OPTION...]                 the report directory as <report-dir>.tgz
#       These always return 0. The options are those of `cozybracket sample` and `cozybracket pack`.
#   cozybracket_run [OPTION...] -- COMMAND [ARG...]   all of that around a command, by construction
#   cozybracket_wait COMMAND [ARG...]              COMMAND alone, ended when this shell is killed
#       These return as COMMAND does, and run it without cozybracket, too.
#   cozy_capture_runner_kernel_cpu_time N, cozy_capture_sandbox_kvm_exits N, cozy_capture_sandbox_qemu_thread_cpu N
#       in the place of the lane's functions of these names: 0 the capture holds data, 1 it holds none.
#
# cozybracket is $COZYBRACKET, else `cozybracket` on PATH, else the one beside this file. Without it a line on stderr
# says so, and the suite goes on. The lane's variables, exported or not, and their defaults:
#   COZY_REPORT_DIR /workspace/_out/cozyreport     COZY_SNAPSHOT_NAME kubernetes
#   COZY_DIAG_SANDBOX_VM_ROOT /workspace           COZY_DIAG_READ_TIMEOUT 20     COZY_DIAG_READ_GRACE 5
#   COZY_INTERVAL 1: seconds between the readings of the timeline, 0 for none. Its recorder is the one process that goes
#   on between two calls; it ends with the program that runs the suite, if not before. See `cozybracket watch start --help`.
# Of the lane's test seams COZY_DIAG_RUNNER_PROC_STAT, COZY_DIAG_KVM_DEBUGFS and COZY_DIAG_SANDBOX_PROC become --root.
# What a suite of the shell collectors replaces by shell functions (timeout, unshare, mount, date) is not seen here:
# cozybracket starts none of them. COZY_CANARY_* and the captures of the failure block stay with the lane's library.

# --- what is said -------------------------------------------------------------

_cozybracket_say() { printf 'cozybracket.sh: %s\n' "$*" >&2 || :; }

# A value from outside as part of a line: what could break the line, or be taken for a command of CI, is not shown.
_cozybracket_shown() {
  case $1 in
    *[!A-Za-z0-9_./+,=\ -]*) printf '(not shown)' ;;
    *) printf "'%s'" "$1" ;;
  esac
}

# --- the program --------------------------------------------------------------

# Where this file lies: bash says so; elsewhere it is open in the shell that reads it.
# shellcheck disable=SC3028
_cozybracket_here=${BASH_SOURCE-}
[ -n "$_cozybracket_here" ] ||
  _cozybracket_here=$(find "/proc/$$/fd" -lname '*/cozybracket.sh' -exec readlink {} + 2>/dev/null | head -n 1) || :
case $_cozybracket_here in
  */*) _cozybracket_here=${_cozybracket_here%/*} ;;
  *) _cozybracket_here=. ;;
esac
case $_cozybracket_here in /*) ;; *) _cozybracket_here=$PWD/$_cozybracket_here ;; esac

# Sets _cozybracket_program, or says why there is none.
_cozybracket_find() {
  local found=''
  _cozybracket_program=''
  if [ -n "${COZYBRACKET:-}" ]; then
    found=$(command -v "$COZYBRACKET") || found=''
    case $found in */*) ;; *) found='' ;; esac
    [ -n "$found" ] ||
      { _cozybracket_say "COZYBRACKET names $(_cozybracket_shown "$COZYBRACKET"), which is no program"; return 1; }
  else
    found=$(command -v cozybracket) || found=''
    case $found in */*) ;; *) found=$_cozybracket_here/cozybracket ;; esac
    if ! [ -f "$found" ] || ! [ -x "$found" ]; then
      _cozybracket_say "there is no cozybracket: not on PATH, not beside this file, and COZYBRACKET names none"
      return 1
    fi
  fi
  _cozybracket_program=$found
}

# Runs cozybracket with the lane's variables, which may not be exported, on no input. The end of it is told where it
# could not tell itself. It is not the last command of its shell: a shell would give it its own process for that, and
# then whoever kills the shell kills it.
_cozybracket() { # ARGUMENT...
  local status=0
  _cozybracket_settings
  env COZY_REPORT_DIR="$_cozybracket_report_dir" COZY_SNAPSHOT_NAME="${COZY_SNAPSHOT_NAME:-kubernetes}" \
    COZY_DIAG_SANDBOX_VM_ROOT="${COZY_DIAG_SANDBOX_VM_ROOT:-/workspace}" \
    COZY_DIAG_READ_TIMEOUT="$_cozybracket_timeout" COZY_DIAG_READ_GRACE="$_cozybracket_grace" \
    COZY_INTERVAL="${COZY_INTERVAL:-1}" \
    "$_cozybracket_program" "$@" || status=$?
  return "$status"
}

_cozybracket_tell_end() { # STATUS COMMAND
  case $1 in
    0 | 1 | 2 | 3) ;; # it has said itself what there is to say
    *) _cozybracket_say "$2 ended with $1: $_cozybracket_program is no cozybracket, or was killed" ;;
  esac
}

# --- the variables of the lane ---------------------------------------------------

# Sets _cozybracket_value to what a knob comes to, by the rules of the lane's library, and the variable to that where
# it holds something else. A read-only one stays: an assignment would end the shell.
_cozybracket_knob() { # NAME DEFAULT ALLOWED-ZERO
  local why=''
  eval "_cozybracket_value=\${$1-}"
  case $_cozybracket_value in
    0) [ "$3" = 0 ] || why='0 is no bound' ;;
    '' | *[!0-9]*) why='not a whole number of seconds' ;;
    0*) why='a leading zero' ;;
  esac
  [ -n "$why" ] || return 0
  printf '» WARNING: ignoring %s=%s: %s; the default %s is used\n' \
    "$1" "$(_cozybracket_shown "$_cozybracket_value")" "$why" "$2" >&2 || :
  _cozybracket_value=$2
  ! (eval "$1=") 2>/dev/null || eval "$1=\$2"
}

# A day is the most that cozybracket takes; the lane's library has no upper limit.
_cozybracket_cap() {
  [ "${#_cozybracket_value}" -le 5 ] && [ "$_cozybracket_value" -le 86400 ] || _cozybracket_value=86400
}

_cozybracket_settings() {
  _cozybracket_report_dir=${COZY_REPORT_DIR:-/workspace/_out/cozyreport}
  _cozybracket_knob COZY_DIAG_READ_TIMEOUT 20 -
  _cozybracket_cap
  _cozybracket_timeout=$_cozybracket_value
  _cozybracket_knob COZY_DIAG_READ_GRACE 5 0
  _cozybracket_cap
  _cozybracket_grace=$_cozybracket_value
}

# Once when this is sourced, silently where nothing is set, and again at each use.
[ -n "${COZY_DIAG_READ_TIMEOUT:-}" ] || COZY_DIAG_READ_TIMEOUT=20
[ -n "${COZY_DIAG_READ_GRACE:-}" ] || COZY_DIAG_READ_GRACE=5
_cozybracket_settings

# --- brackets ---------------------------------------------------------------------

_cozybracket_step() { # COMMAND-OF-COZYBRACKET ARGUMENT...
  local status=0
  _cozybracket "$@" </dev/null || status=$?
  _cozybracket_tell_end "$status" "$1"
}

# Begins or ends the timeline of a sample with these options, of which it knows some. Another root is no machine: its
# files do not change.
_cozybracket_watch() { # start|stop OPTION-OF-SAMPLE...
  local action="$1" left="$(($# - 1))" name='' keep='' root=''
  [ "${COZY_INTERVAL:-1}" != 0 ] || return 0
  shift
  while [ "$left" -gt 0 ]; do
    case $1 in
      --*=*) name=${1%%=*} ;;
      --*) name=$1 ;;
      *) ;; # the value of the option before it
    esac
    keep=''
    case $action$name in
      start--report-dir | start--snapshot | start--sandbox | start--node | stop--report-dir | stop--snapshot) keep=1 ;;
      start--root | stop--root) [ "$1" = "$name" ] || root=${1#--root=} ;;
    esac
    [ -z "$keep" ] || set -- "$@" "$1"
    shift
    left=$((left - 1))
  done
  # A program that is none is told of by the sample beside it.
  case $root in '' | /) _cozybracket watch "$action" "$@" </dev/null || : ;; esac
}

cozybracket_before() {
  _cozybracket_find || return 0
  _cozybracket_step sample 1 "$@" || :
  _cozybracket_watch start "$@" || :
}

cozybracket_after() {
  _cozybracket_find || return 0
  _cozybracket_watch stop "$@" || :
  _cozybracket_step sample 2 --once "$@" || :
}

cozybracket_report() {
  _cozybracket_find || return 0
  _cozybracket_step pack "$@" || :
}

cozybracket_run() { # [OPTION...] -- COMMAND [ARG...]
  local status=0
  if _cozybracket_find && "$_cozybracket_program" --version </dev/null >/dev/null 2>&1; then
    _cozybracket run "$@" || status=$?
    return "$status"
  fi
  [ -z "$_cozybracket_program" ] || _cozybracket_say "$(_cozybracket_shown "$_cozybracket_program") cannot be run"
  while [ $# != 0 ] && [ "$1" != -- ]; do shift; done
  [ $# = 0 ] || shift
  cozybracket_wait "$@"
}

# Chainsaw kills the shell of a step that is out of time, and nothing else; then it waits until nobody holds the
# step's output. A wait that goes on alone would hold it.
cozybracket_wait() { # COMMAND [ARG...]
  local status=0 found=''
  found=$(command -v "${1:-}") || found=''
  case $found in
    */*) # no function and no builtin, which only this shell can run
      if setpriv --pdeathsig TERM true </dev/null >/dev/null 2>&1; then
        setpriv --pdeathsig TERM -- "$@" || status=$?
        return "$status"
      fi
      ;;
  esac
  "$@" || status=$?
  return "$status"
}

# --- in the place of the lane's functions -------------------------------------------

# Sets _cozybracket_root to the directory below which RELATIVE is what SEAM names. Where there is none one is made,
# which _cozybracket_made names.
_cozybracket_stage() { # SEAM RELATIVE
  local seam="$1" relative="$2"
  _cozybracket_root=/ _cozybracket_made=''
  while [ "$seam" != "${seam%/}" ] && [ "$seam" != / ]; do seam=${seam%/}; done
  [ "$seam" != "/$relative" ] || return 0
  case $seam in */"$relative") _cozybracket_root=${seam%/"$relative"}; return 0 ;; esac
  case $seam in /*) ;; *) seam=$PWD/$seam ;; esac
  _cozybracket_made=$(mktemp -d "${TMPDIR:-/tmp}/cozybracket.XXXXXX" 2>/dev/null) || _cozybracket_made=''
  _cozybracket_root=$_cozybracket_made
  if [ -n "$_cozybracket_made" ] && mkdir -p "$_cozybracket_made/$relative" && rmdir "$_cozybracket_made/$relative"; then
    ln -s "$seam" "$_cozybracket_made/$relative"
  else
    return 1
  fi
}

# Where a capture was not even tried the lane's readers look for this file.
_cozybracket_mark() { # WORDS
  { mkdir -p "$_cozybracket_directory" &&
    printf 'never collected: %s\n' "$1" >"$_cozybracket_directory/COLLECTION-FAILED.txt"; } 2>/dev/null || :
}

# The summary of a sample 2 that is taken by three calls comes with the third.
_cozybracket_whole() { # SAMPLE CAPTURE
  [ "$1" = 2 ] || { _cozybracket_taken=''; return 1; }
  _cozybracket_taken="${_cozybracket_taken:-} $2"
  case $_cozybracket_taken in *runner-kernel-cpu-time*) ;; *) return 1 ;; esac
  case $_cozybracket_taken in *sandbox-kvm-exits*) ;; *) return 1 ;; esac
  case $_cozybracket_taken in *sandbox-qemu-thread-cpu*) ;; *) return 1 ;; esac
  _cozybracket_taken=''
}

# Sets _cozybracket_directory to where a capture goes.
_cozybracket_place() { # SAMPLE CAPTURE
  _cozybracket_directory=${COZY_REPORT_DIR:-/workspace/_out/cozyreport}/snapshots
  _cozybracket_directory=$_cozybracket_directory/${COZY_SNAPSHOT_NAME:-kubernetes}/$2/sample-$1
}

_cozybracket_capture() { # SAMPLE CAPTURE SEAM RELATIVE
  local sample="$1" capture="$2" status=0
  _cozybracket_place "$sample" "$capture"
  _cozybracket_find || { _cozybracket_mark "there is no cozybracket to collect it"; return 1; }
  printf -- '--- reading %s (sample %s) ---\n' "$capture" "$sample" || :
  if _cozybracket_stage "$3" "$4"; then
    set -- --only "$capture" --root "$_cozybracket_root"
    _cozybracket_whole "$sample" "$capture" || set -- "$@" --no-summary
    _cozybracket sample "$sample" "$@" </dev/null || status=$?
    _cozybracket_tell_end "$status" "$capture sample $sample"
    [ "$status" -le 3 ] || _cozybracket_mark "cozybracket ended with $status"
  else
    status=1
    _cozybracket_say "$capture sample $sample: no directory for the test seam's root can be made in ${TMPDIR:-/tmp}"
    _cozybracket_mark "no directory for the test seam's root could be made"
  fi
  [ -z "$_cozybracket_made" ] || rm -rf -- "$_cozybracket_made" || :
  [ "$status" = 0 ]
}

cozy_capture_runner_kernel_cpu_time() {
  _cozybracket_capture "${1-}" runner-kernel-cpu-time "${COZY_DIAG_RUNNER_PROC_STAT:-/proc/stat}" proc/stat || return 1
}

cozy_capture_sandbox_qemu_thread_cpu() {
  _cozybracket_capture "${1-}" sandbox-qemu-thread-cpu "${COZY_DIAG_SANDBOX_PROC:-/proc}" proc || return 1
}

# The messages of a read that left no counter stand in read-error.log, too, where the lane's readers look for them.
cozy_capture_sandbox_kvm_exits() {
  local messages
  ! _cozybracket_capture "${1-}" sandbox-kvm-exits "${COZY_DIAG_KVM_DEBUGFS:-/sys/kernel/debug}" sys/kernel/debug ||
    return 0
  messages=$(sed '1,/^$/d' "$_cozybracket_directory/COLLECTION-FAILED.txt" 2>/dev/null) || messages=''
  [ -z "$messages" ] || { printf '%s\n' "$messages" >"$_cozybracket_directory/read-error.log"; } 2>/dev/null || :
  return 1
}
