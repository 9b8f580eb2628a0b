#!/usr/bin/env python3
"""Programs of functions, as one naturally writes them, beside hand-written C++ at -O2: medians of interleaved runs.

Each program is bench/race/NAME.relay, whose line `// time: E` says what is timed, and NAME.cpp, the same work. Both run
in processes of their own, in turn; each gives several times after a first run that does not count.
Usage: ./dev bench race [--rounds N] [--jit MODE] [NAME...]
"""
import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent / "build" / "release" / "relay"
RUNS = 5  # in one process


def relay_times(source, jit):
    text = source.read_text()
    (timed,) = (line.removeprefix("// time: ") for line in text.splitlines() if line.startswith("// time: "))
    lines = f"{text}\n:seconds 1 {timed}\n:seconds {RUNS} {timed}\n"
    run = subprocess.run([PROGRAM, f"--jit={jit}", "--threads", "1"], input=lines, capture_output=True, text=True, check=True)
    return [float(each) for each in run.stdout.splitlines()[-1].split()]


def cpp_times(program):
    run = subprocess.run([program, str(RUNS)], capture_output=True, text=True, check=True)
    return [float(each) for each in run.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jit", default="always")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    sources = sorted((HERE / "race").glob("*.relay"))
    print(f"{'':12} {'relay':>10} {'C++':>10} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            if arguments.names and source.stem not in arguments.names:
                continue
            program = Path(folder) / source.stem
            compile_it = ["c++", "-O2", "-std=c++20", "-I", HERE.parent, "-o", program, source.with_suffix(".cpp")]
            subprocess.run(compile_it, check=True)
            relay, cpp = [], []
            for _ in range(arguments.rounds):
                relay += relay_times(source, arguments.jit)
                cpp += cpp_times(program)
            ours, theirs = statistics.median(relay), statistics.median(cpp)
            print(f"{source.stem:12} {ours * 1e3:7.2f} ms {theirs * 1e3:7.2f} ms {ours / theirs:7.2f}")


main()
