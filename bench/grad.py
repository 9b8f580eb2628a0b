#!/usr/bin/env python3
"""What gradients cost: value and gradient together against the value alone, in one tier, and long loops per step.

Times are of the processor, one thread, in one process for each tier, so that other programs on the machine count
little; value and gradient take turns, round by round, and the figure is the ratio of the medians. Usage:
./dev bench grad [--jit off|always|both] [--rounds N] [--only PART-OF-A-NAME]
"""
import argparse
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Name, the value, value and gradient.
MODELS = [
    ("MLP 256-128-10, 64 rows", "mlp_value()", "mlp_both()"),
    ("LSTM, 100 steps, tail loop", "lstm_value()", "lstm_both()"),
    ("LSTM, 100 steps, over a list", "lstm_list_value()", "lstm_list_both()"),
    ("TreeLSTM, 127 inner nodes", "treelstm_value()", "treelstm_both()"),
    ("Runge and Kutta, 100 steps of 64 numbers", "rk4_value()", "rk4_both()"),
    ("conv2d, bias, relu, max_pool2d", "conv_value()", "conv_both()"),
    ("  and the adjoint of its input", "conv_value()", "conv_all()"),
    ("conv2d, batch_norm, relu", "norm_value()", "norm_both()"),
    ("  and the adjoint of its input", "norm_value()", "norm_all()"),
    ("index notation, matmul 128", "product_value()", "product_both()"),
    ("index notation, a chain of 8 reads", "chain_value()", "chain_both()"),
    ("index notation, 24 reads of neighbours", "far_value()", "far_both()"),
    ("index notation, a stencil with borders", "blur_value()", "blur_both()"),
    ("index notation, sums over windows", "windows_value()", "windows_both()"),
    ("index notation, sums over padded windows", "padded_value()", "padded_both()"),
    ("index notation, maxima over 2 by 2", "pool_value()", "pool_both()"),
    ("index notation, a branch at each end", "rough_value()", "rough_both()"),
    ("index notation, LU of 200", "lu_value()", "lu_both()"),
    ("index notation, Cholesky of 200", "cholesky_value()", "cholesky_both()"),
    ("index notation, 300 bodies", "bodies_value()", "bodies_both()"),
    ("index notation, 10 Gaussians", "mixture_value()", "mixture_both()"),
]
# Name, what is run for n steps.
LOOPS = [
    ("scalar loop", "scalar_both({n})"),
    ("loop with xs[i]", "gather_both({n}, numbers({n}i64))"),
    ("loop with take(xs, i)", "take_both({n}, numbers({n}i64))"),
    ("recursion with xs[i]", "recursion_both({n}, numbers({n}i64))"),
    ("fold over a list", "fold_both(counting({n}, Nil))"),
    ("fold with xs[i] in a closure", "closure_both(numbers({n}i64), positions({n}i64, Nil))"),
    ("closure from a list with xs[i]", "stored_both({n}i64, numbers({n}i64))"),
]


class Relay:
    """The prompt as a child process, asked how much processor time a command has taken."""

    def __init__(self, jit):
        command = [str(ROOT / "build" / "release" / "relay"), f"--jit={jit}", "--threads=1"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.command(f":load {ROOT / 'bench' / 'grad.relay'}")

    def command(self, line):
        """Runs a command to its end; the processor time since the last one, in seconds."""
        self.process.stdin.write(line + "\n1\n")
        self.process.stdin.flush()
        while not (answer := self.process.stdout.readline()).startswith("1 :"):
            if not answer:
                sys.exit("relay ended early")
        nanoseconds = int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0])
        since = nanoseconds - getattr(self, "before", 0)
        self.before = nanoseconds
        return since / 1e9

    def seconds(self, text, runs):
        """Of one run: what `runs` more of them add."""
        one = self.command(f":seconds 1 {text}")
        return (self.command(f":seconds {runs + 1} {text}") - one) / runs


def ratio(relay, first, second, rounds):
    """The times of both, medians of runs in turn."""
    for text in (first, second):
        relay.command(f":seconds 1 {text}")  # derives and compiles, which is no cost of a run
    runs = [max(1, round(0.02 / max(relay.seconds(text, 3), 1e-5))) for text in (first, second)]
    times = ([], [])
    for _ in range(rounds):
        for i, text in enumerate((first, second)):
            times[i].append(relay.seconds(text, runs[i]))
    return statistics.median(times[0]), statistics.median(times[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jit", default="both", choices=["off", "always", "both"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="cases with this in their name or expression")
    options = parser.parse_args()
    for jit in ["off", "always"] if options.jit == "both" else [options.jit]:
        relay = Relay(jit)
        print(f"--jit={jit}: value, value and gradient, ms of the processor")
        for name, value, both in MODELS:
            if options.only in name + value:
                a, b = ratio(relay, value, both, options.rounds)
                print(f"  {name:32} {a * 1e3:9.3f} {b * 1e3:9.3f}  {b / a:6.2f} times", flush=True)
        print("  value and gradient of a loop, ns per step at 1,000 and 100,000 steps")
        for name, text in LOOPS:
            if options.only in name:
                a, b = ratio(relay, text.format(n=1000), text.format(n=100000), options.rounds)
                a, b = a * 1e9 / 1000, b * 1e9 / 100000
                print(f"  {name:32} {a:9.0f} {b:9.0f}  {b / a:6.2f} times", flush=True)


if __name__ == "__main__":
    main()
