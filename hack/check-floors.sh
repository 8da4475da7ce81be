#!/usr/bin/env bash
# A floor includes only what stands below it, and each outside library is used in one place. Reads the
# #include lines and says what is out of place.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

complain() { echo "check-floors: $*" >&2; failed=1; }

# Files of ours that a file includes, as paths from the top of the tree.
included() {
  local file=$1 name
  while IFS= read -r name; do
    if [[ -e $name ]]; then echo "$name"; else echo "$(dirname "$file")/$name"; fi
  done < <(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file")
}

# check_floor FOLDER ALLOWED-FOLDER...: the files of a folder may include those of the folders named.
check_floor() {
  local folder=$1 file name allowed ok
  shift
  for file in "$folder"/*.cpp "$folder"/*.hpp "$folder"/*.def; do
    [[ -e $file ]] || continue
    while IFS= read -r name; do
      ok=no
      for allowed in "$folder" "$@"; do
        [[ $(dirname "$name") != "$allowed" ]] || ok=yes
      done
      [[ $ok == yes ]] || complain "$file includes $name, which is not below $folder"
    done < <(included "$file")
  done
}

# check_library PATTERN FILE...: only these files may include it.
check_library() {
  local pattern=$1 file
  shift
  while IFS= read -r file; do
    [[ " $* " == *" $file "* ]] || complain "$file uses <$pattern...>, which belongs to $*"
  done < <(grep -rlE "^ *# *include *<$pattern" probes collector || true)
}

check_top_level() {
  local name
  while IFS= read -r name; do
    case $name in
      .* | CMakeLists.txt | README.md | collector | probes | hack | tests | legends) ;;
      *) complain "'$name' has no place at the top level" ;;
    esac
  done < <(git ls-files | sed 's|/.*||' | sort -u)
}

check_floor probes
check_floor collector/policy probes
check_floor collector/report probes
check_floor collector/run probes collector/report
check_floor collector/analyse probes collector/report
check_floor collector/render probes collector/policy collector/report collector/analyse
check_library 'boost/' collector/run/spawn.cpp collector/run/boost_process.cpp
check_library 'archive' collector/report/archive.cpp collector/report/tar_reader.cpp
check_library 'zlib' collector/report/inflate.cpp
check_library 'nlohmann/' collector/report/legend.cpp collector/render/json_object.cpp
check_library 'CLI/' collector/cli.cpp
check_top_level

[[ $failed == 0 ]] && echo "check-floors: every floor stands on those below it"
exit "$failed"
