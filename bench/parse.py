#!/usr/bin/env python3
"""Reading and checking generated modules on one core: MB/s, expression nodes/s, and how both grow with size.

Best of several rounds in one process for each module. Usage: ./dev bench parse [--seed N] [--rounds N]
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

from generate_module import Generator

ROOT = Path(__file__).resolve().parent.parent
SMALL, LARGE = 1000, 50000


def measure(text, rounds):
    """Numbers that bench_front prints: MB/s, nodes/s, and microseconds per line of both stages."""
    with tempfile.NamedTemporaryFile("w", suffix=".relay") as file:
        file.write(text)
        file.flush()
        program = ROOT / "build" / "release" / "bench_front"
        output = subprocess.run([program, file.name, str(rounds)], check=True, capture_output=True, text=True).stdout
    _, parse, check = (line.split() for line in output.splitlines())
    return float(parse[3]), float(parse[5]), float(check[3]), float(check[5])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    subprocess.run([ROOT / "dev", "build", "release", "bench_front"], check=True)
    for strict in (False, True):
        notation = "strict" if strict else "light"
        figures = {}
        for lines in (SMALL, LARGE):
            text = Generator(options.seed, strict).module(lines)
            # A small module takes about a millisecond: more rounds, for the same steadiness.
            figures[lines] = measure(text, options.rounds * (10 if lines == SMALL else 1))
            rate, _, nodes, _ = figures[lines]
            print(f"{notation:6} {lines:6} lines: parse {rate:6.1f} MB/s, check {nodes:9.0f} nodes/s")
        parse, check = (figures[LARGE][i] / figures[SMALL][i] for i in (1, 3))
        print(f"{notation:6} time per line at {LARGE} lines over {SMALL}: parse {parse:.2f}, check {check:.2f}")


if __name__ == "__main__":
    main()
