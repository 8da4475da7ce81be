#!/bin/sh
# What runs in a tenant worker's container, as `sh -c`: brings the binary from standard input into a file, runs
# its probe and takes the file away; where no file can be written and run, the probe's shell form. Nothing
# but sh, cat and chmod has to be there. Its first line says which way was taken. Built into the binary
# without its comments and indentation.
#   $1 the probe's read timeout, in seconds   $2 "stream", or why nothing is streamed   $3 the shell form
file='' reason=$2

# Without rm, nothing of the program is left but an empty file.
remove() { [ -z "$file" ] || rm -f "$file" 2>/dev/null || (: >"$file") 2>/dev/null; }
trap remove EXIT
trap 'exit 143' HUP PIPE TERM

# Sets file to an empty one of ours that can be run.
find_place() {
  for folder in "${TMPDIR:-/tmp}" /dev/shm /var/tmp /var/run/kubevirt /run; do
    file=$folder/cozybracket-probe-$$
    if (umask 077 && set -C && : >"$file") 2>/dev/null; then
      chmod 700 "$file" 2>/dev/null && "$file" 2>/dev/null && return
      remove
    fi
    file=''
  done
  return 1
}

if [ "$reason" = stream ]; then
  reason='no folder there takes a program'
  if find_place; then
    cat >"$file" && "$file" --version >/dev/null 2>&1
    status=$?
    if [ "$status" = 0 ]; then
      echo '[cozybracket way: the streamed binary]'
      "$file" probe sandbox-qemu-thread-cpu --sandbox=/ "--read-timeout=$1"
      exit
    fi
    reason="the streamed binary does not run there, status $status"
  fi
fi
echo "[cozybracket way: the shell, since $reason]"
eval "$3"
