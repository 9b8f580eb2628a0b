#!/bin/sh
# Gives tests/repl/CASE.in to relay as piped input and compares what it prints, output and errors
# together, and its exit status with tests/repl/CASE.out.
#
#   tests/repl/check.sh RELAY tests/repl/CASE.in             compare
#   tests/repl/check.sh RELAY tests/repl/CASE.in --update    write the .out file
set -u
relay=$1
input=$2
expected=${input%.in}.out
actual=$(mktemp)
trap 'rm -f "$actual"' EXIT
NO_COLOR=1 "$relay" <"$input" >"$actual" 2>&1
echo "exit $?" >>"$actual"
if [ "${3-}" = --update ]; then
  cp "$actual" "$expected"
  exit 0
fi
if diff -u "$expected" "$actual"; then exit 0; fi
echo "rerun:  $0 $relay $input"
echo "update: $0 $relay $input --update"
exit 1
