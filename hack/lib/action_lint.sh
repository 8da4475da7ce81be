# shellcheck shell=bash
# shellcheck disable=SC2154 # what hack/setup has set
# The linters of GitHub Actions files, in _build/action-lint/bin. A part of hack/setup, whose say and k_root it uses.

readonly k_actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
readonly k_zizmor=zizmor==1.32.0
readonly k_action_lint=$k_root/_build/action-lint
readonly k_action_lint_bound=600 # seconds for each of the two

action_lint_missing() {
  local tool
  for tool in actionlint zizmor; do [[ -x $k_action_lint/bin/$tool ]] || echo "$tool"; done
}

action_lint_check() {
  local missing
  missing=$(action_lint_missing)
  [[ -n $missing ]] || return 0
  say "missing; hack/setup --action-lint installs:"
  printf '%s\n' "$missing"
  return 1
}

# Go builds it from source; no package of Debian 12 or Ubuntu 24.04 has it.
install_actionlint() {
  command -v go >/dev/null || { say "actionlint needs Go, and there is no go on PATH"; return 1; }
  GOBIN=$k_action_lint/bin timeout --kill-after=30 "$k_action_lint_bound" go install "$k_actionlint" >&2
}

# One native program in a wheel: a folder of its own, nothing of the system's Python is touched.
install_zizmor() {
  python3 -m pip --version >/dev/null 2>&1 || { say "zizmor needs pip, and python3 -m pip does not run"; return 1; }
  PIP_ROOT_USER_ACTION=ignore timeout --kill-after=30 "$k_action_lint_bound" python3 -m pip --quiet install --no-deps \
    --disable-pip-version-check --only-binary :all: --upgrade --target "$k_action_lint/zizmor" "$k_zizmor" >&2 || return 1
  ln -sfn ../zizmor/bin/zizmor "$k_action_lint/bin/zizmor"
}

# Installs what is missing of the two; fails where one cannot be had, and then does not try again until it is told so.
action_lint_set_up() {
  local tool failed=0
  mkdir -p "$k_action_lint/bin"
  for tool in $(action_lint_missing); do
    if [[ -e $k_action_lint/$tool-refused ]]; then
      say "$tool could not be had before; next try: rm $k_action_lint/$tool-refused"
      failed=1
      continue
    fi
    say "installing $tool"
    "install_$tool" || { say "$tool cannot be had on this machine"; : >"$k_action_lint/$tool-refused"; failed=1; }
  done
  return "$failed"
}
