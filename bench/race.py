#!/usr/bin/env python3
"""The race: everything that Relay is fast at, beside PyTorch, ONNX Runtime, C++ and the machine's limit, in one table.

Tensors (bench/race/cases.py) run in Relay, PyTorch and ONNX Runtime, on one thread and on two; programs of functions,
bench/race/NAME.relay, whose line `// time: E` says what is timed, beside NAME.cpp, the same work at -O2 on one thread.
All sides take turns, round by round, and a figure is the median of its side's runs. Before that, all must give the same
numbers. What it prints, column by column: milliseconds; `ratio`, ours to the best of the others; `limit`, what share of
the least possible time ours is, by the operations and bytes of the case and what this machine was measured to do just
before; `gain`, what a second thread makes of ours.
Usage: ./dev bench race [--only PART]... [--rounds N] [--threads 1,2] [--jit MODE] [--loops] [--all]
"""
import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "race"))
from cases import CASES  # noqa: E402
from sides import Cpp, Limits, Onnx, Relay, Torch, environment, onnx_modules, openblas_core  # noqa: E402
from turns import raced  # noqa: E402

AGREEMENT = 1e-5


def checked(case, sides):
    """Prepares the case on all sides, which must agree."""
    sums = [side.prepare(case) for side in sides]
    for side, theirs in zip(sides, sums):
        if abs(theirs - sums[0]) > AGREEMENT * abs(sums[0]):
            sys.exit(f"{case.name}: {side.name} gives {theirs} and relay {sums[0]}, as sum of the means of magnitudes")


def milliseconds(seconds):
    return f"{'':>9}" if seconds is None else f"{seconds * 1e3:9.3f}"


def row(name, threads, found, limits):
    """`found`: for each number of threads the seconds by side; `limits`: the least seconds, likewise, or none."""
    text = f"{name:34}"
    for count in threads:
        own = found[count]["relay"]
        others = [each for side, each in found[count].items() if side != "relay"]
        text += " |" + "".join(milliseconds(found[count].get(side)) for side in ("relay", "torch", "onnx", "C++"))
        text += f" {own / min(others):6.2f}" if others else f"{'':7}"
        text += f" {100 * limits[count] / own:4.0f} %" if limits else f"{'':7}"
    if len(threads) > 1:
        text += f" | {found[threads[0]]['relay'] / found[threads[-1]]['relay']:5.2f}"
    return text


def head(threads):
    first, second = f"{'':34}", f"{'':34}"
    for count in threads:
        first += f" | {'one thread' if count == 1 else f'{count} threads':49}"
        second += " |" + "".join(f"{side:>9}" for side in ("relay", "torch", "onnx", "C++")) + "  ratio  limit"
    return first + "\n" + second + (" |  gain" if len(threads) > 1 else "")


def race_cases(options, chosen, folder, limits):
    modules = onnx_modules()
    extra = ["--kernels=off"] if options.loops else []
    sides = {count: [Relay(count, options.jit, extra), Torch(count)] + ([Onnx(count, modules, folder)] if modules else [])
             for count in options.threads}
    for case in chosen:
        able = [(count, side) for count in options.threads for side in sides[count] if side.is_able(case)]
        checked(case, [side for _, side in able])
        found = {count: {} for count in options.threads}
        for (count, side), seconds in zip(able, raced([side for _, side in able], options.rounds)):
            found[count][side.name] = seconds
            side.end()
        least = {count: limits[count].seconds(case) for count in options.threads}
        print(row(case.name, options.threads, found, least), flush=True)


def race_programs(options, chosen, folder):
    for source in chosen:
        able = [(count, Relay(count, options.jit)) for count in options.threads] + [(1, Cpp(folder))]
        for _, side in able:
            side.prepare_program(source)
        found = {count: {} for count in options.threads}
        for (count, side), seconds in zip(able, raced([side for _, side in able], options.rounds)):
            for each in options.threads if side.name == "C++" else [count]:
                found[each][side.name] = seconds
            side.end()
        print(row(source.stem, options.threads, found, None), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="what has this in its name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=lambda text: [int(each) for each in text.split(",")], default=[1, 2])
    parser.add_argument("--jit", default="always")
    parser.add_argument("--loops", action="store_true", help="our side without library kernels")
    parser.add_argument("--all", action="store_true", help="other sizes of products and convolutions, too")
    options = parser.parse_args()
    for index, case in enumerate(CASES):
        case.index = index

    def is_chosen(name):
        return not options.only or any(part in name for part in options.only)
    cases = [case for case in CASES if is_chosen(case.name) and (options.all or options.only or not case.is_extra)]
    programs = [source for source in sorted((HERE / "race").glob("*.relay")) if is_chosen(source.stem)]
    folder = environment()
    try:
        limits = {count: Limits(folder, count) for count in options.threads} if cases else {}
        print(f"OpenBLAS took the core {openblas_core()}")
        for count, each in limits.items():
            rates = ", ".join(f"{rate / 1e9:.0f} within {size / 2**20:.3g} MiB" for size, rate in each.bytes)
            print(f"{count} thread(s): {each.operations / 1e9:.0f} GFLOP/s of float32; GB/s: {rates}")
        print(head(options.threads), flush=True)
        if cases:
            race_cases(options, cases, folder, limits)
        race_programs(options, programs, folder)
    finally:
        shutil.rmtree(folder)


main()
