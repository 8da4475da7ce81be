# shellcheck shell=bash
# Programs that single tests use, taken from a package or built from a module into _build/tools. To be sourced by
# hack/setup, which has set `here` and says, dies and reads the distribution.
: "${here:?}" "${distribution:=unknown}"

readonly k_chainsaw_version=v0.2.12
readonly k_chainsaw=${here%/*}/_build/tools/chainsaw-$k_chainsaw_version/chainsaw
readonly k_chainsaw_go=go1.23.12 # it reaches into Go's testing package, which a later Go has changed: 1.26 refuses it
readonly k_go_bound=900     # seconds; what a build that takes longer has downloaded is there for the next

# --- promtool -------------------------------------------------------------------

# Prints one file of a package that is not installed.
print_from_package() { # PACKAGE PATTERN
  local place status=0
  place=$(mktemp -d)
  (cd "$place" && timeout --kill-after=10 300 apt-get -qq download "$1" >&2) &&
    dpkg-deb --fsys-tarfile "$place"/*.deb | tar -xO --wildcards "$2" || status=1
  rm -rf "$place"
  return "$status"
}

# Takes one file out of its package into _build/tools/NAME.
take_out() { # NAME PACKAGE PATTERN
  local file=${here%/*}/_build/tools/$1
  mkdir -p "${file%/*}"
  say "taking $1 out of the package $2"
  if [[ -n $2 ]] && print_from_package "$2" "$3" >"$file.partial" && [[ -s $file.partial ]]; then
    chmod +x "$file.partial"
    mv "$file.partial" "$file"
  else
    rm -f "$file.partial"
    say "WARNING: $1 cannot be had here: the tests that need it skip"
  fi
}

have_promtool() { command -v promtool >/dev/null || [[ -x ${here%/*}/_build/tools/promtool ]]; }

# The package itself would start a server.
get_promtool() { have_promtool || take_out promtool prometheus ./usr/bin/promtool; }

# The metapackage of a distribution's kernel for virtual machines depends on the newest one.
get_kernel() {
  local meta=linux-image-virtual package
  [[ ! -e ${here%/*}/_build/tools/vmlinuz ]] || return 0
  [[ $distribution != debian-12 ]] || meta=linux-image-cloud-$(dpkg --print-architecture)
  package=$(apt-cache depends --no-recommends --no-suggests "$meta" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
  take_out vmlinuz "$package" './boot/vmlinuz-*'
}

# --- chainsaw -----------------------------------------------------------------

# Builds chainsaw from its module, through whatever module proxy Go is set to. Nothing of it goes anywhere but into
# Go's own caches and _build/tools.
install_chainsaw() {
  local status=0 toolchain
  command -v go >/dev/null || die "there is no go on PATH to build chainsaw with; Go 1.21 or newer fetches $k_chainsaw_go"
  toolchain=$(go env GOVERSION) || toolchain=unknown
  [[ $toolchain == go1.2[34]* ]] || toolchain=$k_chainsaw_go
  say "building chainsaw $k_chainsaw_version with $toolchain; this takes some minutes"
  mkdir -p "${k_chainsaw%/*}"
  GOBIN=${k_chainsaw%/*} GOTOOLCHAIN=$toolchain CGO_ENABLED=0 GOWORK=off timeout --kill-after=30 "$k_go_bound" \
    go install "github.com/kyverno/chainsaw@$k_chainsaw_version" >&2 </dev/null || status=$?
  [[ $status == 0 && -x $k_chainsaw ]] ||
    die "chainsaw could not be built: go install ended with $status (124 is the bound of $k_go_bound s)"
}
