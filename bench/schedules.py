#!/usr/bin/env python3
"""What a person's schedules for a product of matrices make of oneDNN's speed (bench/schedules).

The sides run in turn, round by round, on one thread; the figures are medians, and the ratio is of those.
Needs g++ and libdnnl-dev.

    bench/schedules.py [RELAY] [--rounds 10]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
RUNS = 5  # of a round


def seconds_of_relay(relay, call, *options):
    """Seconds of each run of a call."""
    text = (HERE / "schedules" / "matmul.relay").read_text() + f":seconds {RUNS} {call}\n"
    command = [relay, "--threads", "1", "--jit", "always", *options]
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return [float(word) for word in out.strip().splitlines()[-1].split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("relay", nargs="?", default="build/release/relay")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "sgemm")
        source = str(HERE / "schedules" / "sgemm.cpp")
        subprocess.run(["g++", "-O2", "-std=c++20", source, "-o", program, "-ldnnl"], check=True)
        one_thread = dict(os.environ, OMP_NUM_THREADS="1")

        def seconds_of_dnnl():
            command = [program, str(RUNS)]
            out = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
            return [float(word) for word in out.stdout.split()]

        sides = {
            "oneDNN": seconds_of_dnnl,
            "dot, tile of 6 by 16": lambda: seconds_of_relay(options.relay, "narrow(a, b)"),
            "dot, tile of 8 by 32": lambda: seconds_of_relay(options.relay, "wide(a, b)"),
            "sum, tile of 6 by 16": lambda: seconds_of_relay(options.relay, "narrow_sum(a, b)"),
            "sum, tile of 8 by 32": lambda: seconds_of_relay(options.relay, "wide_sum(a, b)"),
            "the nest without one": lambda: seconds_of_relay(options.relay, "plain(a, b)", "--kernels", "off"),
            "Relay's library": lambda: seconds_of_relay(options.relay, "plain(a, b)"),
        }
        times = {name: [] for name in sides}
        for _ in range(options.rounds):
            for name, side in sides.items():
                times[name] += side()
    of_dnnl = statistics.median(times["oneDNN"])
    operations = 2 * 512**3
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        speed = f"{operations / middle / 1e9:7.1f} GFLOP/s {of_dnnl / middle:6.2f} of oneDNN"
        print(f"{name:<22} {middle * 1e3:8.2f} ms {speed}")


if __name__ == "__main__":
    main()
