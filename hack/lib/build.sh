# shellcheck shell=bash
# Set-up, configuring and building, shared by the scripts in hack/. To be
# sourced; the caller has set k_root, the top of the source tree.
: "${k_root:?}"

# Configures and builds _build/NAME; further arguments go to cmake. Where the
# caller has set build_target, only that target is built.
build_tree() { # NAME [CMAKE-ARGUMENT...]
  local name=$1
  shift
  cmake -S "$k_root" -B "$k_root/_build/$name" -G Ninja "$@" >&2 || {
    echo "${0##*/}: cmake could not configure '$k_root/_build/$name'; its words are above" >&2
    return 1
  }
  cmake --build "$k_root/_build/$name" ${build_target:+--target "$build_target"} >&2 || {
    echo "${0##*/}: the build in '$k_root/_build/$name' failed; its words are above" >&2
    return 1
  }
}

# Prints NAME's value, or refuses where the option came without one.
option_value() { # OPTION [VALUE]
  [[ $# -ge 2 ]] || { echo "${0##*/}: '$1' lacks its value; --help explains" >&2; return 2; }
  printf '%s\n' "$2"
}
