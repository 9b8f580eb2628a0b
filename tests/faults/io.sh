#!/bin/sh
# The n-th call that reads or writes a file fails, for every n: there is an error of ours each time,
# and no file is half written.
#
#   tests/faults/io.sh RELAY FAILING_IO.so
set -u
program=$(realpath "$1")
shim=$(realpath "$2")
folder=$(mktemp -d)
count=$(mktemp)
trap 'rm -rf "$folder" "$count"' EXIT
cd "$folder" || exit 2
export NO_COLOR=1 RELAY_CACHE=off
failures=0
fail() { echo "$*"; failures=$((failures + 1)); }

"$program" -e 'save("in.npy", [[1.0, 2.0], [3.0, 4.0]]); save("in.csv", [[1.0, 2.0], [3.0, 4.0]]); save("in.npz", ([1.0, 2.0], [3.0]), names=["x", "y"]); save("in.safetensors", ([1.0, 2.0], [3.0]), names=["x", "y"])' || exit 1
for kind in npy csv; do
  echo "let a = load(\"in.$kind\"); save(\"out.$kind\", a * 2.0); sum(a)" >"$kind.relay"
done
for kind in npz safetensors; do
  echo "let a = load(\"in.$kind\", key=\"x\"); save(\"out.$kind\", (a * 2.0, a), names=[\"x\", \"y\"]); sum(a)" >"$kind.relay"
done
sed -i 's/load("in.csv")/load_csv("in.csv")/' csv.relay
echo 'import "other.relay"; twice(2.0)' >import.relay
echo 'def twice(x) { x + x }' >other.relay
echo 'let   x=1' >layout.relay

# each NAME OUTPUT COMMAND...: OUTPUT is what the command writes: afterwards it is as before, or as after
# a run in which nothing fails.
each() {
  name=$1 output=$2
  shift 2
  cp layout.relay layout.before
  old=$([ -e "$output" ] && cksum <"$output" || echo none)
  "$@" >/dev/null 2>&1 || { fail "$name: fails by itself"; return; }
  new=$([ -e "$output" ] && cksum <"$output" || echo none)
  n=0
  while :; do
    n=$((n + 1))
    cp layout.before layout.relay
    [ "$old" != none ] || rm -f "$output"
    RELAY_FAIL_IN=$folder RELAY_FAIL_IO=$n RELAY_FAIL_COUNT=$count LD_PRELOAD=$shim "$@" >said 2>&1
    code=$?
    now=$([ -e "$output" ] && cksum <"$output" || echo none)
    case $code in
      0) [ "$now" = "$new" ] || fail "$name, call $n: exit 0, and $output is not what it should be" ;;
      1) grep -q 'error\[\|^relay: ' said || fail "$name, call $n: exit 1 without an error: $(head -3 said)"
         [ "$now" = "$old" ] || [ "$now" = "$new" ] || fail "$name, call $n: $output is half written" ;;
      *) fail "$name, call $n: exit $code: $(head -3 said)" ;;
    esac
    ! grep -q 'internal error' said || fail "$name, call $n: $(head -3 said)"
    [ "$(cat "$count")" -ge "$n" ] || break
    rm -f said
    for left in *.part *.new *.tmp* .*.tmp* .*.part; do
      [ ! -e "$left" ] || { fail "$name, call $n leaves $left"; rm -f "$left"; }
    done
  done
  [ $n -gt 1 ] || fail "$name: no call is seen: the library is not loaded"
  echo "$name: $((n - 1)) calls"
}

for kind in npy csv npz safetensors; do each "$kind" "out.$kind" "$program" "$kind.relay"; done
each import nothing "$program" import.relay
each check nothing "$program" check import.relay
each fmt layout.relay "$program" fmt -w layout.relay
[ $failures = 0 ] || exit 1
