#!/usr/bin/env bash
# Holds the page of the manual and the completions against the program's own help: each command, and
# each option of each command, with its values.
#
#   tests/install/pages.sh RELAY
set -u
relay=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/relay.1
completions=$root/tools/completions
failures=0
fail() { printf 'FAILED: %s\n' "$*"; failures=$((failures + 1)); }

# The options that `relay COMMAND --help` lists.
options_of() { "$relay" "$@" --help | sed -nE 's/^  (-[^ ]*).*/\1/p' | tr , '\n'; }
values_of() { "$relay" --help | sed -nE "s/^  $1 TEXT:\{([^}]*)\}.*/\1/p" | tr , '\n'; }
mapfile -t commands < <("$relay" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z_]*\) .*/\1/p')
((${#commands[@]} >= 4)) || fail "the help has only the commands ${commands[*]}"

# The words of a part of the page: that of a command, or all that stands before the commands.
page_of() {
  if (($#)); then
    sed -n "/^\.SS relay $1 /,/^\.S[HS] /p" "$page" | sed '1!{/^\.SH/d}'
  else
    sed -n '/^\.SH OPTIONS/,/^\.SH COMMANDS/p' "$page"
  fi | sed 's/\\-/-/g; s/\\f[RBI]/ /g; s/[",|=]/ /g' | tr ' ' '\n'
}

# What bash offers for the last of these words.
source "$completions/relay.bash"
offered() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _relay 2>/dev/null
  printf '%s\n' "${COMPREPLY[@]}"
}

check_options() {
  local option known
  known=$(options_of "$@"; options_of)
  for option in $(options_of "$@"); do
    # Every command has a help; what `relay` has itself stands in front of the commands.
    [[ $option == --help || $option == -h ]] && (($#)) ||
      { page_of "$@"; ! options_of | grep -qxF -- "$option" || page_of; } | grep -qxF -- "$option" ||
      fail "$page lacks $option of relay $*"
    offered relay "$@" - | grep -qxF -- "$option" || fail "bash does not offer $option of relay $*"
    grep -qE -- "(^|[^a-z-])$option([^a-z-]|$)" "$completions/_relay" || fail "zsh: $option of relay $*"
    if [[ $option == --* ]]; then
      grep -q -- " -l ${option#--} " "$completions/relay.fish" || fail "fish: $option of relay $*"
    else
      grep -q -- " -s ${option#-} " "$completions/relay.fish" || fail "fish: $option of relay $*"
    fi
  done
  for option in $(offered relay "$@" -); do
    grep -qxF -- "$option" <<<"$known" || fail "bash offers $option of relay $*, which is none"
  done
}

check_options
for command in "${commands[@]}"; do
  offered relay "" | grep -qx "$command" || fail "bash does not offer relay $command"
  grep -q "^  $command)" "$completions/_relay" || fail "zsh does not know relay $command"
  grep -q -- "-a $command " "$completions/relay.fish" || fail "fish does not know relay $command"
  check_options "$command"
done
for option in --jit --kernels --color --error-format; do
  mapfile -t values < <(values_of "$option")
  ((${#values[@]} > 1)) || fail "the help has no values of $option"
  for value in "${values[@]}"; do
    offered relay "$option" = "" | grep -qx "$value" || fail "bash does not offer $option=$value"
    grep -q -- "$option=.*[( ]$value[) ]" "$completions/_relay" || fail "zsh: $option=$value"
    grep -q -- "-l ${option#--} .*[\" ]$value[\" ]" "$completions/relay.fish" || fail "fish: $option=$value"
    page_of | grep -qxF "$value" || fail "$page lacks $value of $option"
  done
done

# The page is laid out without complaint.
if command -v mandoc >/dev/null; then
  complaints=$(mandoc -T lint -W warning "$page" 2>&1) || fail "$complaints"
elif command -v man >/dev/null && command -v groff >/dev/null; then
  complaints=$(man --warnings -l "$page" 2>&1 >/dev/null)
  [[ -z $complaints ]] || fail "$complaints"
  MANWIDTH=80 man -l "$page" 2>/dev/null | grep -q "relay check FILE" || fail "the page is empty"
else
  echo "not laid out: there is neither mandoc nor man with groff"
fi
((failures == 0))
