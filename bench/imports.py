#!/usr/bin/env python3
"""Imported ONNX networks against the same networks written by hand, both in Relay; one thread each.

The models are those of the tests, tests/models/onnx/networks; the programs by hand stand in bench/imports/, read the same files of
weights, and have the same `main`. Both sides must give the same, and the same adjoint of the input, to 1e-5. Each is a process
that has compiled all it runs; they take turns, round by round, and the ratio is that of the medians: imported to by hand. Two
processes of one program differ by up to a tenth, as their memory lies elsewhere: there are several pairs, and the figures are the
medians over those. Gradients are those of the sum of what comes out, by the weights and the input.
Usage: ./dev bench imports [NAME]... [--pairs N] [--rounds N] [--jit MODE] [--check]
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "race"))
from prompt import ROOT, Prompt  # noqa: E402
from turns import raced  # noqa: E402

NETWORKS = ROOT / "tests" / "models" / "onnx" / "networks"
AGREEMENT = 1e-5
GOAL = 1.1


class Side:
    """A program with its inputs, at the prompt."""

    def __init__(self, program, inputs, outputs, options):
        self.prompt = Prompt(1, options.jit)
        self.prompt.loaded(program)
        names = [f"in_{k}" for k in range(len(inputs))]
        for name, file in zip(names, inputs):
            self.prompt.enter(f'let {name} = load("{file}")')
        self.has_weights = "let weights" in program.read_text()
        results = ["r"] if outputs == 1 else [f"r.{k}" for k in range(outputs)]
        arguments = ", ".join(names)
        self.forward = f"main({arguments})"
        # Both by the weights and by the first input.
        rest = "".join(f", {name}" for name in names[1:])
        taken, given, callee = ("w, x", "weights, in_0", "model(w, x") if self.has_weights else ("x", "in_0", "main(x")
        total = " + ".join(f"sum({each})" for each in results)
        self.gradient = f"grad(fn ({taken}) {{ let r = {callee}{rest}); {total} }})({given})"
        self.results = results
        self.prompt.settle()

    def arrays(self, folder):
        """What comes out, and the adjoint of the input."""
        adjoint = "g.1" if self.has_weights else "g"
        self.prompt.enter(f"let r = {self.forward}")
        self.prompt.enter(f"let g = {self.gradient}")
        found = []
        for k, each in enumerate([*self.results, adjoint]):
            file = folder / f"{k}.npy"
            file.unlink(missing_ok=True)
            self.prompt.enter(f'save({each}, path="{file}")')
            self.prompt.settle()
            found.append(np.load(file))
        return found

    def close(self):
        self.prompt.close()


class Runner:
    def __init__(self, side, expression):
        self.side, self.expression = side, expression

    def run(self, count):
        return self.side.prompt.seconds(count, self.expression)


def apart(a, b):
    """The largest difference, of numbers that are above 1 in relation to them; without end where the shapes differ."""
    if a.shape != b.shape:
        return np.inf
    return np.max(np.abs(a - b) / np.maximum(1, np.abs(b)), initial=0)


def measured(name, folder, options):
    """Whether both agree; prints the rows of the network."""
    model = NETWORKS / f"{name}.onnx"
    subprocess.run([ROOT / "build" / "release" / "relay", "import", model, "-o", folder / f"imported_{name}.relay"], check=True)
    weights = folder / f"imported_{name}.safetensors"
    if weights.exists():
        shutil.copy(weights, folder / f"{name}.safetensors")
    shutil.copy(HERE / "imports" / f"{name}.relay", folder)
    arrays = np.load(NETWORKS / f"{name}.npz")
    inputs = []
    for key in sorted(key for key in arrays if key.startswith("in_")):
        np.save(folder / f"{key}.npy", arrays[key])
        inputs.append(folder / f"{key}.npy")
    outputs = sum(key.startswith("out_") for key in arrays)
    figures = {"forward": [], "gradient": []}
    for _ in range(options.pairs):
        sides = [Side(folder / f"{prefix}{name}.relay", inputs, outputs, options) for prefix in ("imported_", "")]
        try:
            distances = [apart(a, b) for a, b in zip(*(side.arrays(folder) for side in sides))]
            if max(distances) > AGREEMENT:
                print(f"{name:14} the two differ by {max(distances):.2g}", flush=True)
                return False
            if options.check:
                return True
            for what, pairs in figures.items():
                ours, theirs = raced([Runner(side, getattr(side, what)) for side in sides], options.rounds)
                pairs.append((ours, theirs, ours / theirs))
        finally:
            for side in sides:
                side.close()
    for what, pairs in figures.items():
        ours, theirs, ratio = (median(column) for column in zip(*pairs))
        mark = "" if ratio <= GOAL else f"  above {GOAL}"
        print(f"{name:14} {what:9} {ours * 1e6:9.1f} {theirs * 1e6:9.1f} {ratio:6.2f}{mark}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jit", default="always")
    parser.add_argument("--check", action="store_true", help="only whether both agree")
    options = parser.parse_args()
    known = sorted(path.stem for path in NETWORKS.glob("*.onnx"))
    unknown = set(options.names) - set(known)
    if unknown:
        sys.exit(f"no network is called {', '.join(sorted(unknown))}")
    if not (ROOT / "build" / "release" / "relay-import").exists():
        sys.exit("skipped: there is no relay-import, as ONNX's library is not installed")
    if not options.check:
        print(f"{'us':24} {'imported':>9} {'by hand':>9}  ratio")
    with tempfile.TemporaryDirectory(prefix="imports-") as folder:
        wrong = [name for name in options.names or known if not measured(name, Path(folder), options)]
    print(f"wrong: {', '.join(wrong)}" if wrong else "both sides agree")
    sys.exit(1 if wrong else 0)


main()
