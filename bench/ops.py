#!/usr/bin/env python3
"""Operators on 1,000,000 float32 through their definitions, without LLVM, against NumPy; one thread each.

What is measured comes from the table of cases: an operator, its attributes and the NumPy expression of a row. Both sides
run in turn, round by round, in one go; the figure is the ratio of the medians. Times are of the processor, so that other
programs on the machine count little. Usage: ./dev bench ops [--rounds N] [--reps N] [--only OPERATOR]... [--jit MODE]
"""
import argparse
import math
import os
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402: after the number of threads

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from record import REFERENCE  # noqa: E402

SIDE = 1000  # operands are SIDE by SIDE
GOAL = 2.5
# Operator and attributes of a row with float32 operands.
MEASURED = [(name, "") for name in (
    "add subtract multiply divide maximum minimum power mod floor_mod floor_divide equal less "
    "negative abs sign floor ceil trunc round sqrt rsqrt exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh "
    "asinh atanh sigmoid isnan nn.relu nn.leaky_relu").split()]
MEASURED += [("clip", "a_min=-0.5, a_max=0.5"), ("cast", 'dtype="int32"'), ("cast", 'dtype="float64"')]
MEASURED += [(name, attrs) for name in "sum mean max min argmax argmin logsumexp".split()
             for attrs in ("", "axis=0", "axis=1")]


def rows():
    """The NumPy expression for each operator and attributes, and how many operands it has."""
    found = {}
    for path in sorted((ROOT / "tests/oracle/cases").glob("*.tsv")):
        for line in path.read_text().splitlines():
            cells = line.split("\t")
            if line.startswith("#") or len(cells) < 4:
                continue
            inputs = cells[1].split()
            if all(text.startswith("float32[") for text in inputs) and "{" not in cells[1]:
                attrs = "" if cells[2] == "-" else cells[2]
                found.setdefault((cells[0], attrs), (cells[3], len(inputs)))
    return found


class Relay:
    """The prompt as a child process. Its time on the processor stands in /proc; what reading and checking the line costs,
    and the run that `:seconds` does not count, cancel out between a long line and a short one."""

    def __init__(self, mode):
        program = ROOT / "build" / "release" / "relay"
        self.process = subprocess.Popen([str(program), f"--jit={mode}", "--threads=1"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.schedstat = Path(f"/proc/{self.process.pid}/schedstat")
        self.send(f'let a = for i < {SIDE}, j < {SIDE} {{ cast(mod(i * {SIDE} + j, 2003), dtype="float32") / 2003.0 }};')
        self.send(f'let b = for i < {SIDE}, j < {SIDE} {{ cast(mod(i * {SIDE} + j, 1009), dtype="float32") / 1009.0 + 0.5 }};')

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def busy(self, reps, call):
        """Nanoseconds on the processor for that many runs, and the rest."""
        before = int(self.schedstat.read_text().split()[0])
        self.send(f":seconds {reps} {call}")
        if not select.select([self.process.stdout], [], [], 60)[0]:
            sys.exit(f"relay does not answer to {call}")
        if not self.process.stdout.readline():
            sys.exit(f"relay ended at {call}")
        return int(self.schedstat.read_text().split()[0]) - before

    def run(self, reps, call):
        return max(self.busy(reps + 1, call) - self.busy(1, call), 1) / reps * 1e-9


class NumPy:
    def __init__(self):
        i = np.arange(SIDE * SIDE, dtype=np.int64).reshape(SIDE, SIDE)
        self.names = dict(REFERENCE, np=np, math=math)
        self.names.update(a=(i % 2003).astype(np.float32) / np.float32(2003),
                          b=(i % 1009).astype(np.float32) / np.float32(1009) + np.float32(0.5))

    def run(self, reps, code):
        start = time.thread_time()
        for _ in range(reps):
            eval(code, self.names)
        return (time.thread_time() - start) / reps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--reps", type=int, default=8)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jit", default="off")
    options = parser.parse_args()
    table = rows()
    ours, theirs = Relay(options.jit), NumPy()
    print(f"{SIDE * SIDE} float32, --jit={options.jit}, one thread, medians of {options.rounds} interleaved rounds")
    print(f"{'':<32} {'relay':>9} {'numpy':>9}  relay / numpy")
    above = 0
    for op, attrs in MEASURED:
        if options.only and op not in options.only:
            continue
        expression, operands = table[op, attrs]
        call = f"{op}({', '.join(['a', 'b'][:operands] + ([attrs] if attrs else []))})"
        code = compile(expression, call, "eval")
        a, b = [], []
        ours.run(1, call), theirs.run(1, code)
        for _ in range(options.rounds):
            a.append(ours.run(options.reps, call))
            b.append(theirs.run(options.reps, code))
        relay, numpy = statistics.median(a), statistics.median(b)
        ratio = relay / numpy
        above += ratio > GOAL
        print(f"{call:<32} {relay * 1e3:6.2f} ms {numpy * 1e3:6.2f} ms  {ratio:6.2f}{' above' if ratio > GOAL else ''}", flush=True)
    print(f"{above} above {GOAL}")


if __name__ == "__main__":
    main()
