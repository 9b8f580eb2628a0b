#!/usr/bin/env python3
"""GradBench, the field's benchmark of differentiation: its twelve evaluations in Relay, C++ by hand and PyTorch.

Programs, inputs and sizes stand in bench/gradbench/, whose README tells what each evaluation is. All sides run on one thread and take
turns, round by round, and a figure is the median of its side's runs. Before that, all must give the same numbers, to 1e-6 of them, and
at the small size the derivatives must be the closed forms, or close to central differences. What it prints: milliseconds; `ratio`,
ours to C++; `better`, ours to the better of the others; and of derivatives, behind `cost`, how often the function would run in their time.
Usage: ./dev bench gradbench [NAME]... [--size small|default|large] [--rounds N] [--jit MODE] [--check] [--no-torch]
"""
import argparse
import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "gradbench"), str(HERE / "race")]
from evaluations import EVALUATIONS  # noqa: E402
from racers import Cpp, Relay, Torch, write_inputs  # noqa: E402
from sides import environment, skipped  # noqa: E402
from truths import truth  # noqa: E402
from turns import raced  # noqa: E402

AGREEMENT = 1e-6
NEAR = 1e-5  # of central differences
COLUMNS = ("relay", "C++", "torch")


class Runner:
    """A side with one function, as turns need it."""

    def __init__(self, side, function):
        self.side, self.function = side, function

    def run(self, count):
        return self.side.run(self.function, count)


def distance(a, b):
    """The largest |a - b| / max(1, |a| + |b|), as GradBench compares."""
    if a.shape != b.shape:
        return np.inf
    apart = np.abs(a - b) / np.maximum(1, np.abs(a) + np.abs(b))
    return np.inf if np.isnan(apart).any() else apart.max(initial=0)


def check(evaluation, function, inputs, sides, size, folder):
    """Whether all sides agree; a line for each that does not."""
    found = {side.name: side.results(function) for side in sides}
    reference = found.pop("C++")
    wrong = [f"{evaluation.name} {function}: {name} is off by {distance(each, reference):.2g} from C++"
             for name, each in found.items() if not distance(each, reference) <= AGREEMENT]
    if size == "small":
        cpp = next(side for side in sides if side.name == "C++")
        truly = truth(evaluation, function, inputs, reference, cpp, folder / "moved")
        if truly and not distance(*truly) <= NEAR:
            wrong.append(f"{evaluation.name} {function}: C++ is off by {distance(*truly):.2g} from the truth")
    for line in wrong:
        print(line, flush=True)
    return not wrong


def milliseconds(seconds):
    return f"{'':>10}" if seconds is None else f"{seconds * 1e3:10.4f}"


def row(name, found, value):
    text = f"{name:22}" + "".join(milliseconds(found.get(column)) for column in COLUMNS)
    others = [seconds for column, seconds in found.items() if column != "relay"]
    text += f" {found['relay'] / found['C++']:7.2f} {found['relay'] / min(others):7.2f}"
    if value:
        text += f" {found['relay'] / value['relay']:7.2f} {found['C++'] / value['C++']:7.2f}"
    return text


def race(evaluation, options, folder):
    """Whether it was right; prints a row for each function."""
    inputs = evaluation.inputs(options.size)
    files = folder / evaluation.name
    write_inputs(inputs, files / "inputs")
    sides = [Relay(files, options.jit), Cpp(files)]
    if options.torch and evaluation.torch:
        sides.append(Torch(files))
    for side in sides:
        side.prepare(evaluation, files / "inputs")
    is_right, found = True, {}
    for name, function in evaluation.functions.items():
        is_right &= check(evaluation, name, inputs, sides, options.size, files)
        sides[1].load(files / "inputs")
        if not options.check:
            times = raced([Runner(side, name) for side in sides], options.rounds)
            found[name] = dict(zip((side.name for side in sides), times))
            print(row(f"{evaluation.name} {name}", found[name], found.get(function.of)), flush=True)
    for side in sides:
        side.close()
    return is_right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", default="default", choices=["small", "default", "large"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jit", default="always")
    parser.add_argument("--check", action="store_true", help="only whether all agree")
    parser.add_argument("--no-torch", dest="torch", action="store_false")
    options = parser.parse_args()
    unknown = set(options.names) - {each.name for each in EVALUATIONS}
    if unknown:
        sys.exit(f"no evaluation is called {', '.join(sorted(unknown))}")
    if options.torch and importlib.util.find_spec("torch") is None:
        skipped("PyTorch, as python3-torch is not installed")
        options.torch = False
    folder = environment("gradbench-")
    try:
        if not options.check:
            print(f"{'ms':22}" + "".join(f"{column:>10}" for column in COLUMNS) + "   ratio  better    cost: relay, C++")
        chosen = [each for each in EVALUATIONS if not options.names or each.name in options.names]
        wrong = [each.name for each in chosen if not race(each, options, folder)]
        print(f"wrong: {', '.join(wrong)}" if wrong else "all sides agree")
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if wrong else 0)


main()
