#!/bin/sh
# Runs each line of tests/cli/CASE.in as a shell command, in which `relay` is the program, and
# compares what all of them print, output and errors together, and their exit codes with
# tests/cli/CASE.out. The commands run in an empty folder; $root is that of the repository.
#
#   tests/cli/check.sh RELAY tests/cli/CASE.in             compare
#   tests/cli/check.sh RELAY tests/cli/CASE.in --update    write the .out file
set -u
program=$(realpath "$1")
input=$(realpath "$2")
expected=${input%.in}.out
root=$(cd "$(dirname "$0")/../.." && pwd)
actual=$(mktemp)
folder=$(mktemp -d)
trap 'rm -rf "$actual" "$folder"' EXIT
export NO_COLOR=1 RELAY_CACHE=off root
relay() { "$program" "$@"; }
cd "$folder" || exit 2
while IFS= read -r line; do
  case $line in
    "" | "#"*) printf '%s\n' "$line" ;;
    *)
      printf '$ %s\n' "$line"
      eval "$line" </dev/null 2>&1
      code=$?
      [ $code = 0 ] || echo "exit $code"
      ;;
  esac
done <"$input" | sed "s|$root/||g" >"$actual"
if [ "${3-}" = --update ]; then
  cp "$actual" "$expected"
  exit 0
fi
if diff -u "$expected" "$actual"; then exit 0; fi
echo "rerun:  $0 $program $input"
echo "update: $0 $program $input --update"
exit 1
