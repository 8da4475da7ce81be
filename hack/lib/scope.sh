# shellcheck shell=bash
# shellcheck disable=SC2154 # what hack/lane has set
# One cgroup per node below a parent of the lane's own, with the CPU knobs of a pod. A part of hack/lane, whose
# variables and functions it uses: k_root, binary, policy, nodes, run_uuid, say, state_get and record_scope.

readonly k_scope_parent=cozy-lane # with the run's UUID behind it, as lane.state has it
readonly k_scope_bound=5          # seconds for a scope to be empty and removed

# Prints where a cgroup file system is mounted: `cgroup2`, or `cgroup CONTROLLER` of version 1.
cgroup_mount() { # TYPE [CONTROLLER]
  local point
  point=$(awk -v type="$1" -v controller="${2-}" '{
    for (i = 7; i < NF && $i != "-"; i++);
    if ($(i + 1) != type) next
    found = controller == ""
    count = split($NF, options, ",")
    for (j = 1; j <= count; j++) if (options[j] == controller) found = 1
    if (found) { print $5; exit }
  }' /proc/self/mountinfo)
  [[ -n $point ]] && printf '%b\n' "$point" # blanks and the like stand in it as octal escapes
}

# Gives the children of a cgroup of version 2 the cpu controller. Read first: a write locks the whole hierarchy.
# A cgroup that holds processes itself may do that as well, but then its children can hold no process.
give_cpu_controller() { # DIR
  local ours=no
  grep -qw cpu "$1/cgroup.controllers" 2>/dev/null || return 1
  if ! grep -qw cpu "$1/cgroup.subtree_control"; then
    { echo +cpu >"$1/cgroup.subtree_control"; } 2>/dev/null || return 1
    ours=yes
  fi
  [[ -e $1/cgroup.type && $(cat "$1/cgroup.type") != domain ]] || return 0 # the root has no type
  [[ $ours == no ]] || { echo -cpu >"$1/cgroup.subtree_control"; } 2>/dev/null
  return 1
}

# Sets scope_version and scope_parents: the directories below which scopes go, the one with the knobs first.
choose_scope_parents() { # UUID
  local mount name=$k_scope_parent-${1%%-*}.slice
  scope_parents=()
  if mount=$(cgroup_mount cgroup2) && give_cpu_controller "$mount"; then
    scope_version=2
    scope_parents=("$mount/$name")
  elif mount=$(cgroup_mount cgroup cpu); then
    scope_version=1
    scope_parents=("$mount/$name")
    # Where usage is counted in another hierarchy, the scope is there as well.
    ! mount=$(cgroup_mount cgroup cpuacct) || [[ $mount/$name == "${scope_parents[0]}" ]] || scope_parents+=("$mount/$name")
  else
    say "there is no cgroup hierarchy with a cpu controller to make scopes in. Where /sys/fs/cgroup is of version 2 and" \
      "holds processes itself, as in a container, move them into a child of it first"
    return 1
  fi
}

make_cgroup() { # DIR
  record_scope "$1"
  mkdir "$1" || { say "cannot make the cgroup '$1'"; return 1; }
}

make_scope_parents() {
  local parent
  for parent in "${scope_parents[@]}"; do
    make_cgroup "$parent" || return 1
    [[ $scope_version == 1 ]] || give_cpu_controller "$parent" || { say "'$parent' gets no cpu controller"; return 1; }
  done
}

scope_of() { printf '%s/vm-%s.scope\n' "$1" "$2"; } # PARENT NODE

# Makes the scope of a node and sets its knobs: what weighs before what bounds, all of it before anything runs there.
make_scope() { # NODE POLICY-TEXT
  local parent scope version file content
  for parent in "${scope_parents[@]}"; do make_cgroup "$(scope_of "$parent" "$1")" || return 1; done
  scope=$(scope_of "${scope_parents[0]}" "$1")
  while read -r version file content; do
    [[ $version == "v$scope_version" ]] || continue
    echo "$content" >"$scope/$file" || { say "the kernel refuses '$content' for '$scope/$file'"; return 1; }
  done <<<"$2"
}

# Moves this shell, and with it what it executes, into the scope of a node.
enter_scope() { # NODE
  local parent
  for parent in "${scope_parents[@]}"; do echo 0 >"$(scope_of "$parent" "$1")/cgroup.procs" || return 1; done
}

is_in_scope() { # PID NODE
  grep -q ":/.*vm-$2\.scope\$" "/proc/$1/cgroup" 2>/dev/null
}

# Removes a cgroup of ours: what still runs there is killed, and the kernel takes a moment to let go of it.
remove_scope() { # DIR
  local deadline=$((SECONDS + k_scope_bound)) pid
  [[ $1 == */"$k_scope_parent"-*.slice* && -d $1 ]] || return 0
  until rmdir "$1" 2>/dev/null; do
    [[ -d $1 ]] || return 0
    [[ $SECONDS -lt $deadline ]] || return 1
    { echo 1 >"$1/cgroup.kill"; } 2>/dev/null ||
      while read -r pid; do kill -s KILL "$pid" 2>/dev/null || true; done <"$1/cgroup.procs"
    sleep 0.05
  done
}

# Removes the directories given, children before parents. Prints those that stay.
remove_scopes() { # DIR...
  local i
  for ((i = $#; i > 0; i--)); do remove_scope "${!i}" || printf '%s\n' "${!i}"; done
}

# Sets birth to the command that has another one born inside a cgroup of version 2; empty where the program for it
# is not built beside the binary and cannot be.
find_birth() {
  local tool=${binary%/*}/into_cgroup source=$k_root/tests/tools/into_cgroup.cpp
  birth=()
  [[ $scope_version == 2 ]] || return 0
  if [[ ! -x $tool ]]; then
    tool=$k_root/_build/lane/into_cgroup
    mkdir -p "${tool%/*}"
    [[ -x $tool && $tool -nt $source ]] || ${CXX:-c++} -O1 -std=c++20 -o "$tool" "$source" 2>/dev/null || return 0
  fi
  birth=("$tool")
}

make_scopes() {
  local i how="moved into it before exec"
  [[ -n $policy ]] || return 0
  choose_scope_parents "$run_uuid" && make_scope_parents || exit 1
  for ((i = 1; i <= nodes; i++)); do make_scope "srv$i" "$policy" || exit 1; done
  find_birth
  [[ ${#birth[@]} == 0 ]] || how="born in it"
  say "each node in its own cgroup v$scope_version below ${scope_parents[0]}, $how"
}

# Removes the cgroups that stand in the state file. Says which stay.
end_scopes() {
  local scopes left
  mapfile -t scopes < <(state_get scope)
  left=$(remove_scopes "${scopes[@]}")
  [[ -z $left ]] || { say "could not remove the cgroups ${left//$'\n'/, }: something in them does not end"; return 1; }
}
