#!/usr/bin/env python3
"""tanh(x*y+z)*sigmoid(x)-y over 16 Mi float32: Relay's compiled kernel against PyTorch eager.

Both sides run in turn, round by round, in one go; the figure is the ratio of the medians. Usage:
./dev bench chain [--threads N] [--rounds N]
"""
import argparse
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = 16 * 1024 * 1024
PROGRAM = """
let x = for i < {size} {{ cast(mod(i, 2003), dtype="float32") / 1001.0 - 1.0 }};
let y = for i < {size} {{ cast(mod(i, 1009), dtype="float32") / 504.0 - 1.0 }};
let z = for i < {size} {{ cast(mod(i, 4001), dtype="float32") / 2000.0 - 1.0 }};
def chain(x, y, z) {{ tanh(x * y + z) * sigmoid(x) - y }}
mean(abs(chain(x, y, z)))
"""


class Relay:
    """The prompt as a child process: `:seconds` lines in, seconds out."""

    def __init__(self, threads):
        program = ROOT / "build" / "release" / "relay"
        self.process = subprocess.Popen([str(program), "--jit=always", f"--threads={threads}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        for line in PROGRAM.format(size=SIZE).strip().splitlines():
            self.send(line)
        self.check = float(self.answer().split()[0])

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        if not select.select([self.process.stdout], [], [], 60)[0]:
            sys.exit("relay does not answer")
        line = self.process.stdout.readline()
        if not line:
            sys.exit("relay ended early")
        return line

    def run(self, reps):
        self.send(f":seconds {reps} chain(x, y, z)")
        return [float(word) for word in self.answer().split()]


class Torch:
    def __init__(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch = torch
        i = torch.arange(SIZE)
        self.x = (i % 2003).float() / 1001.0 - 1.0
        self.y = (i % 1009).float() / 504.0 - 1.0
        self.z = (i % 4001).float() / 2000.0 - 1.0
        with torch.no_grad():
            self.check = float(self.chain().abs().double().mean())

    def chain(self):
        return self.torch.tanh(self.x * self.y + self.z) * self.torch.sigmoid(self.x) - self.y

    def run(self, reps):
        times = []
        with self.torch.no_grad():
            for _ in range(reps):
                start = time.perf_counter()
                self.chain()
                times.append(time.perf_counter() - start)
        return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--reps", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = Relay(options.threads), Torch(options.threads)
    if abs(ours.check - theirs.check) > 1e-4:
        sys.exit(f"the two sides disagree: mean |result| is {ours.check} and {theirs.check}")
    a, b = [], []
    ours.run(1), theirs.run(1)
    for _ in range(options.rounds):
        a += ours.run(options.reps)
        b += theirs.run(options.reps)
    relay, torch = statistics.median(a), statistics.median(b)
    print(f"chain, {SIZE} float32, {options.threads} thread(s), medians of {len(a)} interleaved runs")
    print(f"relay  {relay * 1e3:8.2f} ms")
    print(f"torch  {torch * 1e3:8.2f} ms")
    print(f"torch / relay  {torch / relay:.2f}")


if __name__ == "__main__":
    main()
