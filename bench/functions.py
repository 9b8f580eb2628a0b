#!/usr/bin/env python3
"""The math functions on 1,000,000 elements: Relay's compiled kernels against PyTorch.

Both sides run each function in turn, round by round, in one go; the figures are medians and their ratio, and the ratio of
the fastest runs, which other programs on the machine disturb less. Usage:
./dev bench functions [--dtype float64] [--threads N] [--rounds N] [--only FUNCTION]...
"""
import argparse
import statistics
import sys

from kernels import Relay, Torch

COUNT = 1_000_000
# The argument of each: numbers between two bounds.
FUNCTIONS = {name: (-10.0, 10.0) for name in "sin cos tan exp expm1 tanh sigmoid atan sinh cosh asinh erf".split()}
FUNCTIONS |= {name: (0.1, 10.1) for name in "log log2 log10 log1p rsqrt".split()}
FUNCTIONS |= {name: (-0.99, 0.99) for name in "asin acos atanh".split()}
FUNCTIONS |= {"acosh": (1.0, 10.0), "power": (0.1, 10.1), "sin of large angles": (-1e9, 1e9)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", action="append", help="a function; may be given again")
    options = parser.parse_args()
    ours, theirs = Relay(options.threads, False), Torch(options.threads)
    torch = theirs.torch
    print(f"{options.dtype}, {COUNT} elements, {options.threads} thread(s), medians of interleaved runs, ms")
    print(f"{'':20} {'relay':>8} {'torch':>8} {'relay / torch':>14} {'of the fastest':>15}")
    for number, (name, (low, high)) in enumerate(FUNCTIONS.items()):
        if options.only and name not in options.only:
            continue
        function = name.split()[0]
        x = f"x{number}"
        ours.send(f"let {x} = for i < {COUNT} {{ cast(cast(mod(i * 7919, 1000003), dtype=\"float64\") / 1000003.0f64 * "
                  f"{high - low}f64 + {low}f64, dtype=\"{options.dtype}\") }}")
        given = torch.arange(COUNT, dtype=torch.int64) * 7919 % 1000003
        given = (given.double() / 1000003.0 * (high - low) + low).to(getattr(torch, options.dtype))
        if function == "power":
            ours.text, theirs.args = f"power({x}, {x})", [given, given]
            theirs.function = lambda torch, a, b: torch.pow(a, b)
        else:
            ours.text, theirs.args = f"{function}({x})", [given]
            theirs.function = lambda torch, a, function=function: getattr(torch, function)(a)
        ours.send(f"mean(abs({ours.text}))")
        mine, other = float(ours.answer().split()[0].removesuffix("f64")), float(theirs.function(torch, *theirs.args).abs().mean())
        if abs(mine - other) > 1e-5 * abs(other):
            sys.exit(f"{name}: the two sides disagree: mean |result| is {mine} and {other}")
        a, b = [], []
        ours.run(1), theirs.run(2)
        for _ in range(options.rounds):
            a += ours.run(3)
            b += theirs.run(3)
        relay, pytorch = statistics.median(a), statistics.median(b)
        print(f"{name:20} {relay * 1e3:8.2f} {pytorch * 1e3:8.2f} {relay / pytorch:14.2f} {min(a) / min(b):15.2f}", flush=True)


if __name__ == "__main__":
    main()
