#!/bin/sh
# The probe sandbox-qemu-thread-cpu for a container that takes no program: a POSIX shell and cat write the
# lines of sandbox_qemu_thread_cpu_probe.cpp, which the same parser reads. It knows no nodes. Built into the
# binary without its comments and indentation: no text of several lines but the one line end.
LC_ALL=C
export LC_ALL
nl='
'

# Sets up_ns, of the boot-time clock in steps of 10 ms, and epoch_s.
clock() {
  up=0.00
  { read -r up _ </proc/uptime; } 2>/dev/null
  up_ns=${up%.*}${up#*.}0000000
  epoch_s=$((btime + ${up%.*}))
}

# Prints "BOOT-TIME EPOCH" in ns.
mark() {
  clock
  echo "[cozybracket $1 $up_ns ${epoch_s}${up#*.}0000000]"
}

add() { lines=$lines$1$nl; }

# Sets escaped: each byte that could break the line as \xNN.
escape() {
  escaped=$1
  case $1 in *[!\ -~]* | *\\*) ;; *) return ;; esac
  escaped='' text=$1
  while [ -n "$text" ]; do
    char=${text%"${text#?}"}
    text=${text#?}
    case $char in
      [!\ -~] | \\) escaped=$escaped$(printf '\\x%02x' $((($(printf %d "'$char") + 256) % 256))) ;;
      *) escaped=$escaped$char ;;
    esac
  done
}

# Sets start of a stat line that is whole: proc_pid_stat(5).
stat_start() {
  # shellcheck disable=SC2086 # words are wanted
  set -- ${1##*)}
  start=unknown
  [ $# -ge 20 ] && start=${20}
}

# Adds " WORD NUMBER" of a line of status to facts.
switches() {
  number=${status#*"$nl$1:"}
  [ "$number" != "$status" ] || return
  number=${number%%"$nl"*}
  number=${number##*[!0-9]}
  [ -z "$number" ] || facts="$facts $2 $number"
}

thread() {
  stat=$(cat "/proc/$1/task/$2/stat" 2>/dev/null)
  stat_start "$stat"
  if [ "$start" = unknown ]; then
    if [ -d "/proc/$1/task/$2" ]; then
      failed=$((failed + 1))
      add "[not read thread $1/$2 stat: not a whole line]"
    else
      add "[ended thread $1/$2]"
    fi
    return
  fi
  threads=$((threads + 1))
  escape "$stat"
  add "$escaped"
  facts='' on='' delay='' turns=''
  { read -r on delay turns _ <"/proc/$1/task/$2/schedstat"; } 2>/dev/null
  case "$on/$delay/$turns" in
    *[!0-9/]* | /* | *// | */) without=$((without + 1)) ;;
    *) facts=" schedstat $on $delay $turns" ;;
  esac
  status=$(cat "/proc/$1/task/$2/status" 2>/dev/null)
  switches voluntary_ctxt_switches voluntary
  switches nonvoluntary_ctxt_switches involuntary
  [ -z "$facts" ] || add "[thread $1/$2$facts]"
}

process() {
  lines=''
  clock
  begin_ns=$up_ns
  stat=$(cat "/proc/$1/stat" 2>/dev/null)
  stat_start "$stat"
  process_start=$start
  escape "$stat"
  totals=$escaped
  for task in "/proc/$1/task"/[0-9]*; do
    [ ! -d "$task" ] || thread "$1" "${task##*/}"
  done
  [ -d "/proc/$1" ] || add "[ended process $1]"
  clock
  escape "$2"
  printf '%s\n' "process $1 comm $escaped"
  echo "[process $1 start $process_start read from $begin_ns to $up_ns boot-time ns]"
  [ "$process_start" = unknown ] || printf '%s\n' "[process $1 totals $totals]"
  printf %s "$lines"
}

stat=$nl$(cat /proc/stat 2>/dev/null)
btime=${stat#*"$nl"btime }
btime=${btime%%"$nl"*}
case $btime in '' | *[!0-9]*) btime=0 ;; esac
mark begin
echo "clock ticks per second: $(getconf CLK_TCK 2>/dev/null || echo unavailable)"
readable=0 unread=0 qemus=0 threads=0 failed=0 without=0
for folder in /proc/[0-9]*; do
  if { IFS= read -r comm <"$folder/comm"; } 2>/dev/null; then
    readable=$((readable + 1))
    case $comm in
      qemu-system* | qemu-kvm)
        qemus=$((qemus + 1))
        process "${folder##*/}" "$comm"
        ;;
    esac
  elif [ -d "$folder" ]; then
    unread=$((unread + 1))
    echo "[not read $folder/comm: it could not be read]"
  fi
done
[ "$without" = 0 ] || echo "[note: schedstat absent for $without of $threads threads: not three numbers]"
if [ "$readable" = 0 ]; then
  echo 'NO-PROC-READ: not one process could be read'
elif [ "$qemus$unread" = 00 ]; then
  echo "NO-QEMU-PROCESS: $readable processes were read and none is a QEMU"
elif [ "$qemus" = 0 ]; then
  echo "[note: $readable processes were read and none is a QEMU; $unread more could not be read]"
elif [ "$threads$failed" = 00 ]; then
  echo "NO-THREAD-LINES: $qemus QEMU processes were named and no thread could be read"
fi
mark end
