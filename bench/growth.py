#!/usr/bin/env python3
"""What the stages cost as programs grow: processor time per line at N lines and at 10 N, and the ratio.

A ratio of 1 is linear. The stages: `check` reads and types; `run` also optimises and prepares (the program computes
next to nothing); `grad` differentiates too. `tower` is `def f1(x) { f0(f0(x)) }` and so on: its ratio is of the times at
20 and at 10 levels, which is 1000 where each level is inlined whole. Usage: ./dev bench growth [--lines N] [--rounds N]
"""
import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build" / "release" / "relay"
STEPS = ["sin({0})", "{0} * 0.5", "{0} + x", "tanh({0}) * x"]


def chain(lines, of):
    """A `let` chain as the body of a function of x, of the type `of`."""
    names = ["x"] + [f"a{i}" for i in range(lines)]
    lets = [f"  let {names[i + 1]} = {STEPS[i % len(STEPS)].format(names[i])};" for i in range(lines)]
    return f"def f(x: {of}) {{\n" + "\n".join(lets) + f"\n  {names[-1]}\n}}\n"


def scalars(lines):
    return chain(lines, "float32") + "f(1.5)\n"


def tensors(lines):
    return chain(lines, "Tensor[(4), float32]") + "sum(f([1.0, 2.0, 3.0, 4.0]))\n"


def grad_of_scalars(lines):
    return chain(lines, "float32") + "grad(f)(1.5)\n"


def grad_of_tensors(lines):
    return chain(lines, "Tensor[(4), float32]") + "grad(fn (x) { sum(f(x)) })([1.0, 2.0, 3.0, 4.0])\n"


def grad_of_branches(lines):
    lets = "".join(f"  let a{i + 1} = if (a{i} > {i}.0) {{ sin(a{i}) }} else {{ a{i} * 0.5 }};\n" for i in range(lines))
    return f"def f(a0: float32) {{\n{lets}  a{lines}\n}}\ngrad(f)(1.5)\n"


def definitions(lines):
    return "def f0(x) { x * 0.5 }\n" + "".join(
        f"def f{i}(x) {{ f{i - 1}(x) + {i}.0 }}\n" for i in range(1, lines)) + f"f{lines - 1}(1.0)\n"


def tower(levels):
    return "def f0(x) { x * 0.5 + 1.0 }\n" + "".join(
        f"def f{i}(x) {{ f{i - 1}(f{i - 1}(x)) }}\n" for i in range(1, levels)) + f"f{levels - 1}(1.0)\n"


def seconds(text, arguments, rounds):
    """Processor time of the whole process, the least of `rounds`."""
    with tempfile.NamedTemporaryFile("w", suffix=".relay") as file:
        file.write(text)
        file.flush()
        times = []
        for _ in range(rounds):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([str(PROGRAM), *arguments, file.name], stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="the stages whose name contains this")
    options = parser.parse_args()
    few, many = options.lines, 10 * options.lines
    table = [("check a chain", tensors, ["check"], few, many), ("run a chain of scalars", scalars, [], few, many),
             ("run a chain of tensors", tensors, [], few, many), ("grad of scalars", grad_of_scalars, [], few, many),
             ("grad of tensors", grad_of_tensors, [], few, many),
             ("grad of branches", grad_of_branches, [], few // 4, many // 4),
             ("check calls in a row", definitions, ["check"], few, many), ("tower", tower, [], 10, 20)]
    for name, make, arguments, small, large in table:
        if options.only not in name:
            continue
        start = seconds("1\n", arguments, options.rounds)
        one = max(seconds(make(small), arguments, options.rounds) - start, 1e-4)
        ten = max(seconds(make(large), arguments, options.rounds) - start, 1e-4)
        if name == "tower":
            print(f"{name:24} {one * 1e3:8.1f} ms at {small} levels, {ten * 1e3:8.1f} ms at {large}: {ten / one:.1f}")
        else:
            print(f"{name:24} {one / small * 1e6:8.1f} us a line at {small}, {ten / large * 1e6:8.1f} at {large}: "
                  f"{ten / large / (one / small):.2f}")


main()
