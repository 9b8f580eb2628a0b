#!/usr/bin/env bash
# 100,000 steps of a scalar tail-recursive loop in the interpreter: the median of 21 runs, in milliseconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
printf '%s\n' 'def loop(i: int32, acc: float32) -> float32 { if i == 0 { acc } else { loop(i - 1, acc + 0.5) } }' \
  ':seconds 21 loop(100000, 0.0)' |
  build/release/relay --jit=off | tr ' ' '\n' | sort -g | awk 'NR == 11 { printf "loop of 100,000 steps, interpreter: %.2f ms\n", $1 * 1000 }'
