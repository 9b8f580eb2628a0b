#!/usr/bin/env bash
# The farm: looks for what breaks Relay until its time is over. `./dev fuzz` builds, and calls this.
#
#   farm.sh BUILD SECONDS TARGET...
#
# BUILD is a folder of a build. Each target has so many seconds, and cases from RELAY_SEED on, or from a
# seed that is new each time. What is found is kept in build/fuzz/found, with the line that runs it
# again; what libFuzzer learns in build/fuzz/corpus. Exit code 1: something was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$1 seconds=$2
shift 2
seed=${RELAY_SEED:-$(($(date +%s) * 1000000 + $$ % 1000 * 1000))}
found=build/fuzz/found
mkdir -p "$found"

programs=(
  "gradients agree with central differences"
  "forward and reverse mode agree"
  "second derivatives agree with differences of gradients"
  "second derivatives of what gives functions"
  "both tiers give the same float32 bits"
  "both tiers give the same float64 bits"
  "both tiers give the same float16 bits"
  "both tiers give the same int32 bits"
  "what an \`if\` guards gives the same by kernel and by point"
  "bodies that make tensors give the same by kernel and by point"
  "derivatives of bodies that make tensors agree with tangents"
  "light notation reads back"
  "typed strict text reads back"
  "formatting keeps generated programs, and what is formatted"
  "a rewrite keeps every bit, zeros and infinities included"
  "passes keep what the table says on generated programs"
  "partial evaluation keeps the bits of generated programs"
  "partial evaluation keeps the bits of programs with references"
  "partial evaluation keeps the bits of programs of combinators"
)
data=("damaged .npy files" "damaged .npz files" "damaged .safetensors files" "damaged .csv files" "damaged .png files")

say() { printf 'farm: %s\n' "$*"; }

failures=0
# attempt NAME COMMAND...: what it prints is in $log, which is shown and kept if it fails. A case has
# limits of its own; this one is for those that lack them.
attempt() {
  local status=0
  log=$found/$1.txt
  shift
  timeout --foreground -k 10 1200 "$@" >"$log" 2>&1 || status=$?
  ((status != 0)) || return 0
  failures=$((failures + 1))
  printf 'exit code %s of: %s\n' "$status" "${*@Q}" >>"$log"
  cat "$log"
  say "kept in $log"
  log=$log.kept
  : >"$log"
}

# in_chunks TARGET COMMAND...: runs the command on seeds one after the other, more at a time while that
# is quick, until the time is over or five have failed. Never so many that a property counts what they
# use.
in_chunks() {
  local target=$1 count=8 next=$seed begin=$SECONDS before=$failures started log
  shift
  while ((SECONDS - begin < seconds && failures - before < 5)); do
    started=$SECONDS
    attempt "${target//[^a-z0-9]/_}-$next" env "RELAY_SEED=$next" "RELAY_COUNT=$count" "$@"
    rm "$log"
    next=$((next + count))
    if ((SECONDS - started < 3 && count < 256)); then count=$((count * 2)); fi
  done
  say "$target: $((next - seed)) cases, RELAY_SEED=$seed"
}

# in_turn TARGET TEST...: properties share the time.
in_turn() {
  local target=$1 all=$seconds test
  shift
  seconds=$(((all + $# - 1) / $#))
  # To Catch2 a comma is an `or`.
  for test in "$@"; do in_chunks "$target, $test" "$build/property_tests" -w NoTests "${test//,/\\,}"; done
  seconds=$all
}

# Where clang built it, libFuzzer searches by coverage; elsewhere a main of our own, which has none. A
# file that is found runs again as `BUILD/DRIVER FILE`.
text() {
  local driver folder seeds log
  for driver in fuzz_parse fuzz_check fuzz_repl; do
    mkdir -p "build/fuzz/corpus/$driver"
    seeds=("build/fuzz/corpus/$driver")
    for folder in "tests/fuzz/corpus/$driver" tests/golden examples; do
      [[ ! -d $folder ]] || seeds+=("$folder")
    done
    attempt "$driver-$seed" "$build/$driver" -max_total_time=$(((seconds + 2) / 3)) -timeout=60 \
      -seed=$((seed % 2000000000 + 1)) -artifact_prefix="$found/$driver-$seed-" "${seeds[@]}"
    say "text, $driver: $(grep -oE '[0-9]+ inputs|Done [0-9]+ runs' "$log" || echo stopped), RELAY_SEED=$seed"
    rm "$log"
  done
}

slow() {
  local log
  attempt "slow-$seed" env "RELAY_SEED=$seed" "$build/search_slow" "-max_total_time=$seconds" \
    "-artifact_prefix=$found/" tests/golden examples
  say "slow: $(tail -n 1 "$log")"
  rm "$log"
}

for target in "$@"; do
  case $target in
    text | slow) $target ;;
    calls) in_chunks calls "$build/mutate_calls" ;;
    data) in_turn data "${data[@]}" ;;
    programs) in_turn programs "${programs[@]}" ;;
    sessions) in_chunks sessions "$build/random_sessions" ;;
    keys) in_chunks keys "$build/random_keys" ;;
    editing) in_chunks editing "$build/random_editing" ;;
    *) say "there is no target $target"; exit 2 ;;
  esac
done
((failures == 0)) || { say "$failures found: see $found"; exit 1; }
