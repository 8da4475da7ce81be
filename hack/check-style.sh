#!/usr/bin/env bash
# clang-format and ShellCheck over the tree, and the sizes that a file should hold. `--fix` formats in place.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

list() { git ls-files --cached --others --exclude-standard "$@"; }

scripts() {
  list 'hack/*' '.ci/*' 'tests/*' 'probes/*.sh' 'collector/*.sh' | while IFS= read -r file; do
    [[ -f $file ]] || continue
    head -n 1 "$file" | grep -qaE '^#!.*\b(sh|bash|bats)$|^# shellcheck shell=' && echo "$file"
  done || true
}

# Another version formats another way, so one is the measure: Debian 12's.
mapfile -t sources < <(list 'probes/*.[ch]pp' 'collector/*.[ch]pp' 'tests/*.[ch]pp')
skipped=0
if [[ $(clang-format --version 2>/dev/null) != *"version 14."* ]]; then
  echo "check-style: SKIPPED clang-format: version 14 is the measure, and it is not what is installed" >&2
  skipped=77
elif [[ ${1-} == --fix ]]; then
  clang-format -i "${sources[@]}"
else
  clang-format --dry-run -Werror "${sources[@]}" || failed=1
fi

mapfile -t shell_files < <(scripts | grep -vE '\.(bats|bash)$')
shellcheck --external-sources "${shell_files[@]}" || failed=1
# In bats "$stderr" comes from run, a failing cd ends the case, each case is a subshell, and words in single
# quotes are for the shell that a case starts.
mapfile -t bats_files < <(scripts | grep -E '\.(bats|bash)$')
shellcheck --external-sources --severity=warning --exclude=SC2030,SC2031,SC2154,SC2164 "${bats_files[@]}" || failed=1

while read -r lines file; do
  [[ $file == total || $lines -le 400 ]] || { echo "check-style: $file has $lines lines, more than 400" >&2; failed=1; }
done < <(list '*.cpp' '*.hpp' '*.sh' '*.bats' 'hack/*' | xargs -r wc -l)

[[ $failed == 0 ]] || exit 1
exit "$skipped"
